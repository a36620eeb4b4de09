// A slug is one organization's: the unique index decides between two at once.
import { Problem } from '../../runtime/problem.ts';

/** Whoever was quicker has the slug. */
export function refusedSlug(error: unknown): never {
  const { constraint_name: constraint } = (error ?? {}) as { constraint_name?: string };
  if (constraint !== 'organizations_slug_key') throw error;
  throw new Problem('conflict', {
    message: 'Another organization has this slug.',
    details: { reason: 'slug' },
    param: 'slug',
    cause: error,
  });
}
