// A reply that a client may have already (RFC 9110, section 13.1.2).
import type { Exchange, Reply } from '../../runtime/http/route.ts';

export const etagHeader = {
  'if-none-match': { description: 'The ETag that the caller has: 304 if it is current.' },
};

export interface Tagged {
  /** JSON. */
  text: string;
  /** Without quotes. */
  etag: string;
}

export function etagReply(
  exchange: Pick<Exchange, 'header'>,
  { text, etag }: Tagged,
  cacheControl: string,
): Reply {
  const headers = { 'cache-control': cacheControl, etag: `"${etag}"` };
  const mediaType = 'application/json';
  const known = exchange.header('if-none-match');
  const isKnown = known?.trim() === '*' || known?.includes(headers.etag) === true;
  return isKnown
    ? { status: 304, text: '', mediaType, headers }
    : { status: 200, text, mediaType, headers };
}
