// Whether a request was sent by one of our own pages. Browsers say where a request comes from.
// Other clients say nothing, and send no cookie by themselves either.
import type { Exchange } from '../runtime/http/route.ts';

type Headers = Pick<Exchange, 'header'>;

/** For writes with a cookie: the browser must say that the page is ours. */
export function isFromOwnPage(exchange: Headers, webUrl: string): boolean {
  const origin = exchange.header('origin');
  if (origin !== undefined && origin !== 'null') return origin === new URL(webUrl).origin;
  // Fetch metadata (W3C): pages cannot set it.
  return exchange.header('sec-fetch-site') === 'same-origin';
}

/**
 * For requests without a credential that make one: whether a browser says that the page is somebody
 * else's. A body without a type counts as JSON, so no preflight asks before it.
 */
export function isFromForeignPage(exchange: Headers, webUrl: string): boolean {
  const isSilent =
    exchange.header('origin') === undefined && exchange.header('sec-fetch-site') === undefined;
  return !isSilent && !isFromOwnPage(exchange, webUrl);
}
