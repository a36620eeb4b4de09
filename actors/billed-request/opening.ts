// What may keep a billed request from being opened, whatever it asks for.
import type { Generation } from '../../db/generations.ts';
import type { DetachedRoom, Limiter } from '../../runtime/limiter.ts';
import { Problem } from '../../runtime/problem.ts';

/** The client left while its request was prepared: nothing is begun, and nobody reads this. */
export function leftBefore(): Problem {
  return new Problem('conflict', { message: 'The client has left.' });
}

/** @throws Problem idempotency_key_reused */
export function requireSameRequest(
  row: Generation,
  { fingerprint }: { fingerprint: string },
): void {
  if (row.fingerprint === fingerprint) return;
  throw new Problem('idempotency_key_reused', { param: 'idempotency-key' });
}

/**
 * Any request may be left by its client later, and runs on then.
 * @throws Problem concurrency_limited while too many of the account run on without their client,
 * overloaded while too many of the process do
 */
export function requireDetachedCapacity(
  { limiter }: { limiter: Pick<Limiter, 'detachedRoom'> },
  accountId: string,
): void {
  const room = limiter.detachedRoom(accountId);
  if (room !== 'free') throw noDetachedRoom(room);
}

/** The refusal where there is no room for one more that runs on without its client. */
export function noDetachedRoom(room: Exclude<DetachedRoom, 'free'>): Problem {
  const headers = { 'retry-after': '5' };
  if (room === 'process') return new Problem('overloaded', { headers });
  const message = 'Too many requests of this account run on without their client.';
  return new Problem('concurrency_limited', { message, headers });
}
