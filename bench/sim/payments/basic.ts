// Who calls: both providers take Basic (RFC 7617), and one of them a bearer token as well.
import type { HttpRequest } from 'uWebSockets.js';
import { bearerOf } from '../key.ts';

/** Empty without one. */
export function basicOf(req: HttpRequest): { user: string; password: string } {
  const value = req.getHeader('authorization');
  if (!value.startsWith('Basic ')) return { user: '', password: '' };
  const text = Buffer.from(value.slice(6), 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 0) return { user: text, password: '' };
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Two paths are of both providers: key ids tell whose a request is. */
export function isRazorpay(req: HttpRequest): boolean {
  return basicOf(req).user.startsWith('rzp_');
}

export function bearerOrUser(req: HttpRequest): string {
  return bearerOf(req) || basicOf(req).user;
}
