// What stands before every request that costs something and may outlive its client.
import type { Exchange } from '../../runtime/http/route.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';

interface Asked {
  exchange: Exchange;
  caller: { accountId: string };
  services: Services;
  route: string;
}

/** Clients retry by themselves, without an idempotency key: that must be seen somewhere. */
export function logRetry({ exchange, caller, services, route }: Asked): void {
  const retries = exchange.header('x-stainless-retry-count');
  if (retries === undefined || retries === '0') return;
  const { requestId } = exchange;
  const { accountId } = caller;
  services.log.info({ requestId, accountId, route, retries }, 'a client tries again');
}

/** @throws Problem overloaded while too many run on without their client */
export function requireDetachedCapacity({ limiter, limits }: Services): void {
  if (limiter.detachedCount() < limits.generation.detachedMax) return;
  throw new Problem('overloaded', { headers: { 'retry-after': '5' } });
}
