// Who is calling, and may they: keys with scopes and limits, users by session. Cached credentials
// are answered without a promise: most requests never wait here.
import { keyLimits } from '../actors/credentials/limits.ts';
import type { Scope } from '../actors/credentials/scope.ts';
import { isKeyToken } from '../actors/credentials/token.ts';
import { networkOf } from '../runtime/http/address.ts';
import type { Exchange } from '../runtime/http/route.ts';
import type { RateState } from '../runtime/limiter.ts';
import { Problem } from '../runtime/problem.ts';
import type { KeyCredential, SessionCredential } from './credentials.ts';
import type {
  Access,
  AccountCaller,
  Caller,
  CallerOf,
  KeyCaller,
  Permit,
  Services,
  UserCaller,
} from './services.ts';
import { credentialOf, userOf, useTicket } from './socket-access.ts';

/** What telling who is calling needs. */
type Needed = Pick<Services, 'access' | 'config' | 'sql' | 'voice'>;

/** What an access is answered with: checked below against the table of who is admitted. */
type Admission<A extends Access> = CallerOf<A> | Promise<CallerOf<A>>;

/**
 * The caller that a route's access admits.
 * @throws Problem unauthenticated, invalid_api_key, session_expired, insufficient_scope, forbidden,
 * rate_limited, concurrency_limited
 */
export function authorize(
  access: Access,
  exchange: Exchange,
  services: Needed,
): Caller | Promise<Caller> {
  switch (access.kind) {
    case 'none':
      return { kind: 'anonymous' } satisfies Admission<typeof access>;
    case 'key':
      return keyCaller(access, exchange, services) satisfies Admission<typeof access>;
    case 'user':
      return userCaller(exchange, services, false) satisfies Admission<typeof access>;
    case 'admin':
      return userCaller(exchange, services, true) satisfies Admission<typeof access>;
    case 'socket':
      return socketCaller(access, exchange, services) satisfies Admission<typeof access>;
    case 'key-or-user':
      return keyOrUser(access, exchange, services) satisfies Admission<typeof access>;
  }
}

function keyOrUser(
  access: KeyAccess,
  exchange: Exchange,
  services: Needed,
): AccountCaller | Promise<AccountCaller> {
  if (isUserMeant(exchange)) return userCaller(exchange, services, false);
  return keyCaller(access, exchange, services);
}

function keyCaller(
  access: KeyAccess,
  exchange: Exchange,
  services: Needed,
): KeyCaller | Promise<KeyCaller> {
  const token = keyToken(exchange);
  // What was sent may be a credential, but of another kind.
  if (token === null) throw new Problem('unauthenticated', { message: 'An API key is needed.' });
  return tokenCaller(token, access, exchange, services);
}

function keyToken(exchange: Exchange): string | null {
  const token = headerToken(exchange);
  return token === undefined || token === '' ? null : token;
}

function socketCaller(
  access: KeyAccess,
  exchange: Exchange,
  services: Needed,
): AccountCaller | Promise<AccountCaller> {
  const credential = credentialOf(exchange, keyToken(exchange));
  if (credential.kind === 'session') {
    const found = userCaller(exchange, services, false);
    if (!(found instanceof Promise)) return permittedUser(found, exchange, services);
    return found.then((user) => permittedUser(user, exchange, services));
  }
  if (credential.kind === 'key') return tokenCaller(credential.token, access, exchange, services);
  const { clientAddress } = exchange;
  return useTicket(credential.token, exchange, services, (admitted) => {
    const { ticket, limits } = admitted;
    if (limits === null || ticket.keyId === null) {
      return permittedUser(userOf(admitted), exchange, services);
    }
    const { accountId, walletId, keyId } = ticket;
    const slot = services.access.limiter.slotOf(keyId, Date.now());
    const scopes = new Set([access.scope]);
    const credential = { keyId, accountId, walletId, scopes, slot, ...limits };
    return admitKey(credential, access, exchange, services);
  }).then((caller) => {
    if (caller !== null) return caller;
    const message = 'The ticket is unknown, was used before, or has expired.';
    throw nobody('unauthenticated', clientAddress, exchange, services, message);
  });
}

/**
 * The key in the headers. Clients send a key of somebody else beside ours: the one with the form of
 * ours is taken. Where both have it, that of `Authorization` is.
 */
function headerToken(exchange: Exchange): string | undefined {
  const apiKey = exchange.header('x-api-key');
  const authorization = exchange.header('authorization');
  if (apiKey === undefined) return bearer(authorization);
  const token = bearerPattern.exec(authorization ?? '')?.[1]?.trim();
  return token !== undefined && isKeyToken(token) ? token : apiKey;
}

const bearerPattern = /^bearer +(.+)$/i;

/** RFC 6750, section 2.1; the scheme is case-insensitive (RFC 9110, section 11.1). */
function bearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const match = bearerPattern.exec(authorization);
  if (match === null)
    throw new Problem('unauthenticated', { message: 'A bearer token is needed.' });
  return match[1]?.trim();
}

/** What is asked of a key. */
interface KeyAccess {
  scope: Scope;
  isUncounted?: true;
}

function tokenCaller(
  token: string,
  access: KeyAccess,
  exchange: Exchange,
  services: Needed,
): KeyCaller | Promise<KeyCaller> {
  const found = services.access.credentials.key(token, Date.now());
  if (found !== null && !(found instanceof Promise)) {
    return admitKey(found, access, exchange, services);
  }
  // Of a client that does not wait for its answer nothing is known later.
  const { clientAddress } = exchange;
  const settle = (credential: KeyCredential | null) => {
    if (credential === null) throw nobody('invalid_api_key', clientAddress, exchange, services);
    return admitKey(credential, access, exchange, services);
  };
  return found === null ? settle(null) : found.then(settle);
}

/** The refusal of a credential that is nobody's; one that is known is never asked for this. */
function nobody(
  code: 'invalid_api_key' | 'session_expired' | 'unauthenticated',
  clientAddress: string,
  exchange: Exchange,
  services: Needed,
  message?: string,
): Problem {
  const refusal = services.access.failures.take(networkOf(clientAddress), Date.now());
  if (refusal === null) return new Problem(code, message === undefined ? {} : { message });
  setRateHeaders(exchange, refusal.state);
  return new Problem('rate_limited', {
    message: 'Too many unknown credentials from this address.',
    headers: { 'retry-after': `${refusal.retryAfterSeconds}` },
  });
}

function admitKey(
  credential: KeyCredential,
  { scope, isUncounted }: KeyAccess,
  exchange: Exchange,
  services: Needed,
): KeyCaller {
  if (!credential.scopes.has(scope)) {
    throw new Problem('insufficient_scope', { message: `The key lacks the scope ${scope}.` });
  }
  const nowMs = Date.now();
  services.access.credentials.used(credential.keyId, nowMs);
  const { limiter } = services.access;
  const { slot, concurrencyMax } = credential;
  const rate = limiter.takeRequest(slot, credential.requestsPerMinute, nowMs);
  setRateHeaders(exchange, rate.state);
  if (!rate.allowed) {
    setConcurrencyHeaders(exchange, concurrencyMax, limiter.openCount(slot));
    throw new Problem('rate_limited', { headers: { 'retry-after': `${rate.retryAfterSeconds}` } });
  }
  const { keyId, accountId, walletId, scopes } = credential;
  if (isUncounted === true) {
    setConcurrencyHeaders(exchange, concurrencyMax, limiter.openCount(slot));
    return { kind: 'key', keyId, accountId, walletId, scopes, permit: noPermit };
  }
  const permit = takePermit(slot, concurrencyMax, exchange, services);
  return { kind: 'key', keyId, accountId, walletId, scopes, permit };
}

/** A user without a key has as many permits as a key by default, over all sessions and tickets. */
function permittedUser(
  user: Omit<UserCaller, 'permit'>,
  exchange: Exchange,
  services: Needed,
): UserCaller {
  const slot = services.access.limiter.slotOf(user.accountId, Date.now());
  const { concurrencyMax } = keyLimits;
  return { ...user, permit: takePermit(slot, concurrencyMax, exchange, services) };
}

/** @throws Problem concurrency_limited */
function takePermit(
  slot: number,
  concurrencyMax: number,
  exchange: Exchange,
  { access: { limiter } }: Needed,
): Permit {
  const open = limiter.open(slot, concurrencyMax);
  setConcurrencyHeaders(exchange, concurrencyMax, open ?? concurrencyMax);
  if (open === null) {
    throw new Problem('concurrency_limited', { headers: { 'retry-after': '1' } });
  }
  return newPermit(exchange, () => limiter.close(slot));
}

const noPermit: Permit = { take: () => () => {} };

/**
 * Held by the exchange and by every generation that took it: free when the last of them is over,
 * and never taken again then, as another request may have it.
 */
function newPermit(exchange: Exchange, close: () => void): Permit {
  let holders = 1;
  const leave = () => {
    holders -= 1;
    if (holders === 0) close();
  };
  exchange.onFinish(leave);
  return {
    take() {
      if (holders === 0) return null;
      holders += 1;
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        leave();
      };
    },
  };
}

function setRateHeaders(exchange: Exchange, state: RateState): void {
  exchange.setHeader('x-ratelimit-limit-requests', `${state.limit}`);
  exchange.setHeader('x-ratelimit-remaining-requests', `${state.remaining}`);
  exchange.setHeader('x-ratelimit-reset-requests', `${state.resetSeconds}`);
}

function setConcurrencyHeaders(exchange: Exchange, limit: number, open: number): void {
  exchange.setHeader('x-ratelimit-limit-concurrency', `${limit}`);
  exchange.setHeader('x-ratelimit-remaining-concurrency', `${Math.max(0, limit - open)}`);
  // A permit is free again when a request ends: nobody knows when, a second is the polite guess.
  exchange.setHeader('x-ratelimit-reset-concurrency', open >= limit ? '1' : '0');
}

function sessionToken(exchange: Exchange): string | null {
  const header = exchange.header('x-svc-session');
  if (header !== undefined && header !== '') return header;
  const cookie = exchange.header('cookie');
  if (cookie === undefined) return null;
  const match = /(?:^|;\s*)svc_session=([^;]*)/.exec(cookie);
  return match?.[1] ?? null;
}

/** A header is meant; a cookie travels by itself, and may be of a session that is long over. */
function isUserMeant(exchange: Exchange): boolean {
  if (exchange.header('x-svc-session') !== undefined) return true;
  const isKeySent =
    exchange.header('x-api-key') !== undefined ||
    /^bearer +./i.test(exchange.header('authorization') ?? '');
  return !isKeySent && sessionToken(exchange) !== null;
}

function userCaller(
  exchange: Exchange,
  services: Needed,
  adminOnly: boolean,
): UserCaller | Promise<UserCaller> {
  const token = sessionToken(exchange);
  if (token === null) {
    throw new Problem('unauthenticated', {
      message: 'A signed-in user is needed, not an API key.',
    });
  }
  if (exchange.header('x-svc-session') === undefined) requireSameOrigin(exchange, services);
  const found = services.access.credentials.session(token, Date.now());
  if (found !== null && !(found instanceof Promise)) return admitUser(found, adminOnly);
  const { clientAddress } = exchange;
  const settle = (session: SessionCredential | null) => {
    if (session === null) throw nobody('session_expired', clientAddress, exchange, services);
    return admitUser(session, adminOnly);
  };
  return found === null ? settle(null) : found.then(settle);
}

/** A cookie travels by itself: a request that changes something must come from our own pages. */
function requireSameOrigin(exchange: Exchange, services: Needed): void {
  if (exchange.method === 'GET' || exchange.method === 'HEAD') return;
  if (exchange.header('origin') === new URL(services.config.webUrl).origin) return;
  throw new Problem('forbidden', { message: 'The request does not come from the web origin.' });
}

function admitUser(session: SessionCredential, adminOnly: boolean): UserCaller {
  if (session.expiresAtMs <= Date.now()) throw new Problem('session_expired');
  if (adminOnly && !session.admin) throw new Problem('forbidden');
  const { accountId, walletId, admin } = session;
  return { kind: 'user', accountId, walletId, admin, permit: noPermit };
}
