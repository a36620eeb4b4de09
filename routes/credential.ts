// What a request shows of who sends it, read in one way for every route (identity.md, section 1).
// Headers come before the cookie, and a bearer token's prefix tells its kind.
import { hasPrefixOf, isKeyToken } from '../actors/credentials/token.ts';
import { readCookie } from '../runtime/http/cookie.ts';
import type { Exchange } from '../runtime/http/route.ts';

/** A credential by where it stood. A key and an access token are told apart by their prefix. */
export interface Shown {
  kind: 'header' | 'bearer' | 'key' | 'cookie';
  token: string;
}
export type ShownKind = Shown['kind'];

/** What pages are signed in with. */
export const sessionCookie = 'svc_session';

const bearerPattern = /^bearer +(.+)$/i;
const keyPrefix = /^svc_(live|test)_/;

/**
 * The credential that decides: the first that is shown of the kinds that the route takes. Null:
 * there is none. What has no form of ours counts only where keys are taken and nothing else is
 * shown: whoever mistypes a key is told so.
 */
export function shownCredential(
  exchange: Pick<Exchange, 'header'>,
  takes: readonly ShownKind[],
): Shown | null {
  if (takes.includes('header')) {
    const token = exchange.header('x-svc-session');
    if (token !== undefined && token !== '') return { kind: 'header', token };
  }
  const bearer = bearerToken(exchange.header('authorization'));
  const isOpen = takes.includes('bearer');
  if (isOpen && bearer !== null && hasPrefixOf('access', bearer)) {
    return { kind: 'bearer', token: bearer };
  }
  const apiKey = takes.includes('key') ? exchange.header('x-api-key') : undefined;
  const key = takes.includes('key') ? keyOf(bearer, apiKey ?? null) : null;
  if (key !== null && keyPrefix.test(key)) return { kind: 'key', token: key };
  if (takes.includes('cookie')) {
    const token = readCookie(exchange.header('cookie'), sessionCookie);
    if (token !== null) return { kind: 'cookie', token };
  }
  return key === null ? null : { kind: 'key', token: key };
}

/** RFC 6750, section 2.1; the scheme is case-insensitive (RFC 9110, section 11.1). */
function bearerToken(authorization: string | undefined): string | null {
  const token = bearerPattern.exec(authorization ?? '')?.[1]?.trim();
  return token === undefined || token === '' ? null : token;
}

/**
 * Clients send a key of somebody else beside ours: the one with the form of ours is taken. Where
 * both have it, that of `Authorization` is.
 */
function keyOf(bearer: string | null, apiKey: string | null): string | null {
  const candidates = [bearer, apiKey].filter((token) => token !== null && token !== '');
  const isForeign = (token: string | null) => token !== null && hasPrefixOf('access', token);
  const keys = candidates.filter((token) => !isForeign(token));
  const find = (test: (token: string) => boolean) =>
    keys.find((token) => token !== null && test(token));
  return find(isKeyToken) ?? find((token) => keyPrefix.test(token)) ?? keys.at(-1) ?? null;
}
