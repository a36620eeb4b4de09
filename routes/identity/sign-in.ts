// A new session: a token that nobody had before, told once. Whoever was signed in with the request
// stays so nowhere: its session is ended.
import { newToken, tokenHash } from '../../actors/credentials/token.ts';
import { freshMs, newSessionEnd, sessionEndMs } from '../../actors/identity/lifetime.ts';
import type { AccountRole } from '../../db/accounts/role.ts';
import type { Queryable } from '../../db/driver/sql.ts';
import { createSession, type SessionKind, type SignInMethod } from '../../db/sessions.ts';
import type { Exchange } from '../../runtime/http/route.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import type { SignedIn, UserCaller } from '../services.ts';

export interface NewSignIn {
  accountId: string;
  role: AccountRole;
  kind: SessionKind;
  method: SignInMethod;
  /** From `clientOf`, before the first wait. */
  client: ClientFacts;
}

export interface MadeSession {
  /** Told once: it is stored as its hash. */
  token: string;
  signedIn: Omit<SignedIn, 'by'>;
}

/** What is kept of a client beside its session. */
export interface ClientFacts {
  userAgent: string | null;
  network: string | null;
}

const userAgentMax = 300;

/** Reads what does not outlive the first turn of the exchange. */
export function clientOf(exchange: Pick<Exchange, 'header' | 'clientAddress'>): ClientFacts {
  const userAgent = exchange.header('user-agent')?.slice(0, userAgentMax) ?? null;
  return { userAgent, network: shownNetwork(exchange.clientAddress) };
}

/** A /24 or /48: enough to recognize one's own, too little to be found by. */
export function shownNetwork(address: string): string | null {
  if (address === '') return null;
  if (!address.includes(':')) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  const [head = ''] = address.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  while (groups.length < 3) groups.push('0');
  return `${groups.slice(0, 3).join(':')}::/48`;
}

/** Writes the session, in the transaction that has found that the person may sign in. */
export async function signIn(
  sql: Queryable,
  node: number,
  { accountId, role, kind, method, client }: NewSignIn,
): Promise<MadeSession> {
  const nowMs = Date.now();
  const token = newToken(kind);
  const id = newId('ses', node);
  const now = new Date(nowMs);
  const expiresAt = newSessionEnd(kind, nowMs);
  await createSession(sql, {
    id,
    tokenHash: tokenHash(token),
    accountId,
    expiresAt,
    kind,
    method,
    createdAt: now,
    ...client,
  });
  const facts = { kind, createdAt: now, lastUsedAt: now, expiresAt };
  const expiresAtMs = sessionEndMs(facts, role);
  const times = { createdAtMs: nowMs, authenticatedAtMs: nowMs, lastUsedAtMs: nowMs, expiresAtMs };
  return { token, signedIn: { kind, id, method, ...times, client: null } };
}

/** The person proved who it is so recently that it may do what a thief would want to. */
export function isFresh({ signedIn }: Pick<UserCaller, 'signedIn'>): boolean {
  return Date.now() - signedIn.authenticatedAtMs < freshMs;
}

/** @throws Problem forbidden with the reason `reauthenticate` */
export function requireFresh(caller: Pick<UserCaller, 'signedIn'>): void {
  if (isFresh(caller)) return;
  throw new Problem('forbidden', {
    message: 'Sign in again first: this needs a sign-in within the last 10 minutes.',
    details: { reason: 'reauthenticate' },
  });
}

/** @throws Problem forbidden with the reason `unverified` */
export function requireVerified({ isUnverified }: Pick<UserCaller, 'isUnverified'>): void {
  if (!isUnverified) return;
  throw new Problem('forbidden', {
    message: 'Verify your address first.',
    details: { reason: 'unverified' },
  });
}
