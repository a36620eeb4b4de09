// Headers of a Messages request that an upstream of the same format is to see. Routes declare them:
// a header that is not declared is gone after the first turn.
import { forwardedHeaders } from '../../media/providers/generation/forwarded-headers.ts';
import type { Exchange } from '../../runtime/http/route.ts';

const lengthMax = 1_024;

export const messagesHeaders = { ...forwardedHeaders.messages };

export function readHeaders(exchange: Exchange): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of Object.keys(messagesHeaders)) {
    const value = exchange.header(name);
    // Printable ASCII alone: it goes into a request of our own.
    if (value !== undefined && value.length <= lengthMax && /^[\x20-\x7e]+$/.test(value)) {
      headers[name] = value;
    }
  }
  return headers;
}
