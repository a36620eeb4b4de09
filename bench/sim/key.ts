// Where providers want their key: most as a bearer token, some in a header of their own.
import type { HttpRequest } from 'uWebSockets.js';

/** The token of an `authorization: Bearer` header; empty without one. */
export function bearerOf(req: HttpRequest): string {
  const value = req.getHeader('authorization');
  return value.startsWith('Bearer ') ? value.slice(7) : '';
}
