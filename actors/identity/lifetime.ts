// How long sessions last (identity.md, section 1): each has an absolute end, and one that follows
// its last use. An administrator's are shorter, whatever the account was when it signed in.
import type { AccountRole } from '../../db/accounts/role.ts';
import type { SessionFacts, SessionKind } from '../../db/sessions.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const lifetimes = {
  browser: { idleMs: 14 * dayMs, absoluteMs: 90 * dayMs },
  app: { idleMs: 60 * dayMs, absoluteMs: 365 * dayMs },
} as const;
/** On pages; an app's session administers for as long after its sign-in. */
const administrator = { idleMs: 12 * hourMs, absoluteMs: dayMs };
export const appAdministersMs = dayMs;
/** Signed in so recently, a person may change what a thief would want to. */
export const freshMs = 10 * 60_000;

/** The absolute end of a session that is made now. */
export function newSessionEnd(kind: SessionKind, nowMs: number): Date {
  return new Date(nowMs + lifetimes[kind].absoluteMs);
}

/** When a session ends if it is not used again. */
export function sessionEndMs(
  session: Pick<SessionFacts, 'kind' | 'createdAt' | 'lastUsedAt' | 'expiresAt'>,
  role: AccountRole,
): number {
  const { kind, createdAt, lastUsedAt, expiresAt } = session;
  const storedMs = expiresAt.getTime();
  if (kind === null) return storedMs;
  const isAdministrator = role === 'admin' && kind === 'browser';
  const { idleMs, absoluteMs } = isAdministrator ? administrator : lifetimes[kind];
  return Math.min(storedMs, createdAt.getTime() + absoluteMs, lastUsedAt.getTime() + idleMs);
}
