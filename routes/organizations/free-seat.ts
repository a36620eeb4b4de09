// What an act is answered with that needs a seat where none is free.
import { Problem } from '../../runtime/problem.ts';

/** The constraint counts seats, exactly, whoever else takes one meanwhile. */
export function refusedSeat(error: unknown): never {
  const { constraint_name: constraint } = (error ?? {}) as { constraint_name?: string };
  if (constraint !== 'organization_seats') throw error;
  throw new Problem('conflict', {
    message: 'The organization has no free seat.',
    details: { reason: 'no_seat' },
    cause: error,
  });
}
