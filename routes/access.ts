// Who is calling, and may they: keys with scopes and limits, people by session, apps by what they
// were let do. Cached credentials are answered without a promise: most requests never wait here.
import { unknownCredentialRule } from '../actors/credentials/limits.ts';
import type { Scope } from '../actors/credentials/scope.ts';
import { appAdministersMs } from '../actors/identity/lifetime.ts';
import { admitsClient } from '../actors/oauth/admitted.ts';
import type { FailureRule } from '../runtime/failure-limiter.ts';
import { networkOf } from '../runtime/http/address.ts';
import type { Exchange } from '../runtime/http/route.ts';
import type { RateState } from '../runtime/limiter.ts';
import { Problem, type ProblemOptions } from '../runtime/problem.ts';
import { inContext, namedOrganization, requireKeyUse, requireStatus } from './context.ts';
import { type Shown, type ShownKind, shownCredential } from './credential.ts';
import type { AccessCredential, KeyCredential, SessionCredential } from './credentials.ts';
import { isFromOwnPage } from './own-origin.ts';
import type {
  Access,
  Caller,
  CallerOf,
  KeyCaller,
  Permit,
  Services,
  SignedIn,
  SocketCaller,
  SocketUser,
  UserCaller,
} from './services.ts';
import { credentialOf, useTicket } from './socket-access.ts';

/** What telling who is calling needs. */
type Needed = Pick<Services, 'access' | 'audit' | 'catalog' | 'config' | 'sql' | 'voice'>;

/** What an access is answered with: checked below against the table of who is admitted. */
type Admission<A extends Access> = CallerOf<A> | Promise<CallerOf<A>>;

/** What people may show, and what of it makes them a user, by the kind of access. */
const userShows: Readonly<Record<string, readonly ShownKind[]>> = {
  user: ['header', 'bearer', 'cookie'],
  'optional-user': ['header', 'bearer', 'cookie'],
  self: ['header', 'bearer', 'cookie'],
  app: ['header', 'bearer'],
  cookie: ['cookie'],
  'optional-cookie': ['cookie'],
  bearer: ['bearer'],
  admin: ['header', 'bearer', 'cookie'],
};
const keyOrUserShows: readonly ShownKind[] = ['header', 'bearer', 'key', 'cookie'];
const keyShows: readonly ShownKind[] = ['key'];
const socketShows: readonly ShownKind[] = ['header', 'bearer', 'key'];

const anonymous = { kind: 'anonymous' } as const;

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
      return anonymous satisfies Admission<typeof access>;
    case 'key':
      return keyCaller(access, exchange, services) satisfies Admission<typeof access>;
    case 'socket':
      return socketCaller(access, exchange, services) satisfies Admission<typeof access>;
    case 'key-or-user': {
      const shown = shownCredential(exchange, keyOrUserShows);
      if (shown?.kind === 'key') {
        return tokenCaller(shown.token, access, exchange, services) satisfies Admission<
          typeof access
        >;
      }
      return userCaller(access, shown, exchange, services) satisfies Admission<typeof access>;
    }
    case 'optional-user':
      if (access.networkRule !== undefined) {
        countNetwork(access.networkRule, exchange, services);
      }
      return optionalUser(access, exchange, services) satisfies Admission<typeof access>;
    case 'optional-cookie': {
      const shown = shownCredential(exchange, userShows[access.kind] ?? []);
      if (shown === null) return anonymous satisfies Admission<typeof access>;
      return optionalCaller(access, shown, exchange, services) satisfies Admission<typeof access>;
    }
    default: {
      const shown = shownCredential(exchange, userShows[access.kind] ?? []);
      return userCaller(access, shown, exchange, services) satisfies Admission<typeof access>;
    }
  }
}

/** Whoever shows a credential that is wrong is told so, also where nobody has to show one. */
function optionalUser(
  access: Access,
  exchange: Exchange,
  services: Needed,
): UserCaller | typeof anonymous | Promise<UserCaller | typeof anonymous> {
  const shown = shownCredential(exchange, userShows[access.kind] ?? []);
  return shown === null ? anonymous : userCaller(access, shown, exchange, services);
}

/** @throws Problem rate_limited */
function countNetwork(rule: FailureRule, exchange: Exchange, { access }: Needed): void {
  const network = networkOf(exchange.clientAddress);
  const refusal = access.failures.take(rule, network, Date.now());
  if (refusal === null) return;
  throw new Problem('rate_limited', {
    message: 'Too many requests from this network.',
    headers: { 'retry-after': `${refusal.retryAfterSeconds}` },
  });
}

/** A cookie travels by itself: on a page that is open to all, one that is over is nobody's. */
function optionalCaller(
  access: Access,
  shown: Shown,
  exchange: Exchange,
  services: Needed,
): UserCaller | typeof anonymous | Promise<UserCaller | typeof anonymous> {
  const orNobody = (error: unknown) => {
    const isOver = error instanceof Problem && error.code === 'session_expired';
    if (isOver && shown.kind === 'cookie') return anonymous;
    throw error;
  };
  try {
    const caller = userCaller(access, shown, exchange, services);
    return caller instanceof Promise ? caller.catch(orNobody) : caller;
  } catch (error) {
    return orNobody(error);
  }
}

function keyCaller(
  access: KeyAccess,
  exchange: Exchange,
  services: Needed,
): KeyCaller | Promise<KeyCaller> {
  const shown = shownCredential(exchange, keyShows);
  // What was sent may be a credential, but of another kind.
  if (shown === null) throw new Problem('unauthenticated', { message: 'An API key is needed.' });
  return tokenCaller(shown.token, access, exchange, services);
}

function socketCaller(
  access: Extract<Access, { kind: 'socket' }>,
  exchange: Exchange,
  services: Needed,
): SocketCaller | Promise<SocketCaller> {
  const credential = credentialOf(exchange, shownCredential(exchange, socketShows));
  if (credential.kind === 'key') return tokenCaller(credential.token, access, exchange, services);
  if (credential.kind !== 'ticket') return userCaller(access, credential, exchange, services);
  const { clientAddress } = exchange;
  return useTicket(credential.token, exchange, services, (admitted) => {
    const { ticket, limits, allowedModels, acting } = admitted;
    const { keyId, signedInId } = ticket;
    const { ids, ...who } = acting;
    const id = keyId ?? signedInId ?? who.accountId;
    const slot = services.access.limiter.slotOf(id, Date.now());
    const dependsOn = [...new Set([id, ...ids])];
    if (keyId === null) {
      if (who.organization !== null) requireStatus(access, who.organization, exchange);
      const permit = takePermit(slot, limits.concurrencyMax, exchange, services);
      return { kind: 'user', ...who, admin: false, permit, dependsOn } satisfies SocketUser;
    }
    const scopes = new Set([access.scope]);
    const key = { keyId, ...who, scopes, slot, allowedModels, ...limits };
    const credential = { ...key, expiresAtMs: null, ids: dependsOn };
    return admitKey(credential, access, exchange, services);
  }).then((caller) => {
    if (caller !== null) return caller;
    const message = 'The ticket is unknown, was used before, or has expired.';
    throw nobody('unauthenticated', clientAddress, exchange, services, { message });
  });
}

/** What is asked of a key. */
type KeyAccess = Extract<Access, { scope: Scope }> & { isUncounted?: true };

function tokenCaller(
  token: string,
  access: KeyAccess,
  exchange: Exchange,
  services: Needed,
): KeyCaller | Promise<KeyCaller> {
  const found = services.access.credentials.key(token, Date.now());
  if (found !== null && !(found instanceof Promise) && !isOver(found)) {
    return admitKey(found, access, exchange, services);
  }
  // Of a client that does not wait for its answer nothing is known later.
  const { clientAddress } = exchange;
  const settle = (credential: KeyCredential | null) => {
    if (credential === null || isOver(credential)) {
      throw nobody('invalid_api_key', clientAddress, exchange, services);
    }
    return admitKey(credential, access, exchange, services);
  };
  return found instanceof Promise ? found.then(settle) : settle(found);
}

/** Its time, or that of a token which was replaced, has come since it was read. */
function isOver({ expiresAtMs }: KeyCredential): boolean {
  return expiresAtMs !== null && expiresAtMs <= Date.now();
}

/** The refusal of a credential that is nobody's; one that is known is never asked for this. */
function nobody(
  code: 'invalid_api_key' | 'session_expired' | 'unauthenticated',
  clientAddress: string,
  exchange: Exchange,
  services: Needed,
  options: ProblemOptions = {},
): Problem {
  const { failures } = services.access;
  const refusal = failures.take(unknownCredentialRule, networkOf(clientAddress), Date.now());
  if (refusal === null) return new Problem(code, options);
  setRateHeaders(exchange, refusal.state);
  return new Problem('rate_limited', {
    message: 'Too many unknown credentials from this address.',
    headers: { 'retry-after': `${refusal.retryAfterSeconds}` },
  });
}

function admitKey(
  credential: KeyCredential,
  access: KeyAccess,
  exchange: Exchange,
  services: Needed,
): KeyCaller {
  const { scope, isUncounted } = access;
  if (!credential.scopes.has(scope)) {
    throw new Problem('insufficient_scope', { message: `The key lacks the scope ${scope}.` });
  }
  if (credential.organization !== null) requireKeyUse(access, credential, exchange, services);
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
  if (isUncounted !== true) {
    return callerOf(credential, takePermit(slot, concurrencyMax, exchange, services));
  }
  setConcurrencyHeaders(exchange, concurrencyMax, limiter.openCount(slot));
  return callerOf(credential, noPermit);
}

function callerOf(credential: KeyCredential, permit: Permit): KeyCaller {
  return {
    kind: 'key',
    keyId: credential.keyId,
    accountId: credential.accountId,
    personId: credential.personId,
    organization: credential.organization,
    walletId: credential.walletId,
    fallbackWalletId: credential.fallbackWalletId,
    scopes: credential.scopes,
    allowedModels: credential.allowedModels,
    permit,
    dependsOn: credential.ids,
  };
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

/** @throws Problem unauthenticated, session_expired, forbidden, insufficient_scope, and limits */
function userCaller(
  access: Access,
  shown: Shown | null,
  exchange: Exchange,
  services: Needed,
): UserCaller | Promise<UserCaller> {
  if (shown === null || shown.kind === 'key') throw signInNeeded(access, exchange, services);
  if (shown.kind === 'bearer') return appCaller(access, shown.token, exchange, services);
  const by = shown.kind;
  if (by === 'cookie') requireOwnPage(exchange, services);
  const { clientAddress } = exchange;
  const named = namedOrganization(access, exchange);
  const found = services.access.credentials.session(shown.token, Date.now());
  const settle = (session: SessionCredential | null) => {
    if (session === null || !isInPlace(session, by) || session.expiresAtMs <= Date.now()) {
      const headers = challenge(access, services, null);
      throw nobody('session_expired', clientAddress, exchange, services, { headers });
    }
    const caller = admitSession(access, session, by, exchange, services);
    const { defaultOrganizationId } = session;
    return inContext(access, caller, defaultOrganizationId, named, exchange, services);
  };
  return found instanceof Promise ? found.then(settle) : settle(found);
}

/** A browser's session is good as a cookie alone, and an app's as a header alone. */
function isInPlace({ kind }: SessionCredential, by: 'cookie' | 'header'): boolean {
  return kind === null || (kind === 'browser') === (by === 'cookie');
}

function signInNeeded(access: Access, exchange: Exchange, services: Needed): Problem {
  const isKey = shownCredential(exchange, keyShows) !== null;
  const message = isKey
    ? 'A signed-in user is needed, not an API key.'
    : 'A signed-in user is needed.';
  return new Problem('unauthenticated', { message, headers: challenge(access, services, null) });
}

/** RFC 6750, section 3, and RFC 9728, section 5.1: where apps learn how to be let in. */
function challenge(
  access: Access,
  { config }: Needed,
  refusal: string | null,
): Record<string, string> {
  const takesBearer = access.kind === 'key-or-user' || access.kind === 'socket';
  if (!takesBearer && userShows[access.kind]?.includes('bearer') !== true) return {};
  const resource = `${config.baseUrl}/.well-known/oauth-protected-resource`;
  const told = refusal === null ? '' : `, ${refusal}`;
  return { 'www-authenticate': `Bearer resource_metadata="${resource}"${told}` };
}

/** A cookie travels by itself: a request that changes something must come from our own pages. */
function requireOwnPage(exchange: Exchange, services: Needed): void {
  if (exchange.method === 'GET' || exchange.method === 'HEAD') return;
  if (isFromOwnPage(exchange, services.config.webUrl)) return;
  throw new Problem('forbidden', { message: 'The request does not come from the web origin.' });
}

function admitSession(
  access: Access,
  session: SessionCredential,
  by: 'cookie' | 'header',
  exchange: Exchange,
  services: Needed,
): UserCaller {
  if (access.kind === 'admin') requireAdministrator(session);
  const kind = session.kind ?? 'app';
  return admitPerson(session, { by, kind, client: null }, exchange, services);
}

/** @throws Problem forbidden */
function requireAdministrator({ admin, kind, authenticatedAtMs }: SessionCredential): void {
  if (!admin) throw new Problem('forbidden');
  if (kind !== 'app' || authenticatedAtMs + appAdministersMs > Date.now()) return;
  throw new Problem('forbidden', {
    message: 'Sign in again to administer.',
    details: { reason: 'reauthenticate' },
  });
}

function appCaller(
  access: Access,
  token: string,
  exchange: Exchange,
  services: Needed,
): UserCaller | Promise<UserCaller> {
  if (access.kind === 'self' || access.kind === 'admin') {
    throw new Problem('forbidden', { message: 'No app may do this: the person must sign in.' });
  }
  const { clientAddress } = exchange;
  const named = namedOrganization(access, exchange);
  const found = services.access.credentials.access(token, Date.now());
  const settle = (credential: AccessCredential | null) => {
    const isGood =
      credential !== null &&
      credential.expiresAtMs > Date.now() &&
      admitsClient(services.catalog.current(), credential.client);
    if (!isGood) {
      const headers = challenge(access, services, 'error="invalid_token"');
      const details = { error: 'invalid_token' };
      throw nobody('session_expired', clientAddress, exchange, services, { headers, details });
    }
    const { client: id, scopes, tokenHash } = credential;
    const wanted = access.kind === 'bearer' ? access.scopes : ['app'];
    if (!wanted.some((scope) => scopes.includes(scope))) {
      const told = `error="insufficient_scope", scope="${wanted.join(' ')}"`;
      throw new Problem('insufficient_scope', {
        message: `The access token lacks the scope ${wanted.join(' or ')}.`,
        details: { error: 'insufficient_scope' },
        headers: challenge(access, services, told),
      });
    }
    const client = { id, scopes, tokenHash };
    const shown = { by: 'bearer', kind: 'oauth', client } as const;
    const caller = admitPerson(credential, shown, exchange, services);
    const { defaultOrganizationId } = credential;
    return inContext(access, caller, defaultOrganizationId, named, exchange, services);
  };
  return found instanceof Promise ? found.then(settle) : settle(found);
}

/** Counts the request as one of the session or authorization. */
function admitPerson(
  person: SessionCredential | AccessCredential,
  { by, kind, client }: Pick<SignedIn, 'by' | 'kind' | 'client'>,
  exchange: Exchange,
  services: Needed,
): UserCaller {
  const nowMs = Date.now();
  const { limiter, credentials } = services.access;
  const { id, slot, concurrencyMax } = person;
  credentials.used(id, nowMs);
  const rate = limiter.takeRequest(slot, person.requestsPerMinute, nowMs);
  setRateHeaders(exchange, rate.state);
  if (!rate.allowed) {
    setConcurrencyHeaders(exchange, concurrencyMax, limiter.openCount(slot));
    throw new Problem('rate_limited', {
      message: 'Too many requests a minute for this session.',
      headers: { 'retry-after': `${rate.retryAfterSeconds}` },
    });
  }
  const permit = takePermit(slot, concurrencyMax, exchange, services);
  const { accountId, walletId, method, isUnverified, ids: dependsOn } = person;
  const { createdAtMs, authenticatedAtMs, lastUsedAtMs, expiresAtMs } = person;
  const times = { createdAtMs, authenticatedAtMs, lastUsedAtMs, expiresAtMs };
  const admin = 'admin' in person && person.admin;
  const signedIn = { by, kind, id, method, ...times, client };
  const personally = { accountId, personId: accountId, organization: null } as const;
  const payer = { walletId, fallbackWalletId: null } as const;
  return {
    kind: 'user',
    ...personally,
    ...payer,
    admin,
    permit,
    dependsOn,
    signedIn,
    isUnverified,
  };
}
