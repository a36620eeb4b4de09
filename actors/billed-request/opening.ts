// What may keep a billed request from being opened, whatever it asks for.
import type { Generation } from '../../db/generations.ts';
import type { Limiter } from '../../runtime/limiter.ts';
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

/** @throws Problem overloaded while too many run on without their client */
export function requireDetachedCapacity({
  limiter,
  limits,
}: {
  limiter: Pick<Limiter, 'detachedCount'>;
  limits: { generation: { detachedMax: number } };
}): void {
  if (limiter.detachedCount() < limits.generation.detachedMax) return;
  throw new Problem('overloaded', { headers: { 'retry-after': '5' } });
}
