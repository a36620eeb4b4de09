// Retries that clients make by themselves, without an idempotency key: that must be seen somewhere.
import type { Exchange } from '../../runtime/http/route.ts';
import type { Services } from '../services.ts';

interface Asked {
  exchange: Exchange;
  caller: { accountId: string };
  services: Pick<Services, 'log'>;
  route: string;
}

/** Logs that a client tries again. */
export function logRetry({ exchange, caller, services, route }: Asked): void {
  const retries = exchange.header('x-stainless-retry-count');
  if (retries === undefined || retries === '0') return;
  const { requestId } = exchange;
  const { accountId } = caller;
  services.log.info({ requestId, accountId, route, retries }, 'a client tries again');
}
