// Sessions of signed-in people, found by the SHA-256 of their token. What a session may do is what
// its account may do at this moment.
import type { AccountRole } from './accounts/role.ts';
import { arrayLiteral } from './driver/array.ts';
import type { Queryable } from './driver/sql.ts';

export type SessionKind = 'browser' | 'app';
export type SignInMethod = 'otp' | 'password' | 'command';

/** What is told of a session without its account. */
export interface SessionFacts {
  /** `ses_…` */
  id: string;
  /** Null: of before there was a sign-in, or from a command; good as cookie and as header. */
  kind: SessionKind | null;
  method: SignInMethod;
  createdAt: Date;
  authenticatedAt: Date;
  lastUsedAt: Date;
  /** The absolute end that it was made with. */
  expiresAt: Date;
}

export interface Session extends SessionFacts {
  accountId: string;
  role: AccountRole;
  /** The account's personal wallet. */
  walletId: string;
  /** The account is disabled, being deleted or erased: its sessions are good for nothing. */
  disabled: boolean;
  /** It typed an address that it has not proved. */
  unverified: boolean;
  /** The organization of requests that name none; null: it acts as the person. */
  defaultOrganizationId: number | null;
  requestsPerMinute: number;
  concurrencyMax: number;
}

/** One session as its owner sees it. */
export interface ListedSession extends SessionFacts {
  accountId: string;
  role: AccountRole;
  userAgent: string | null;
  network: string | null;
}

export interface NewSession {
  tokenHash: Uint8Array;
  accountId: string;
  expiresAt: Date;
  /** Left out: as those of before there was a sign-in. */
  id?: string;
  kind?: SessionKind;
  method?: SignInMethod;
  userAgent?: string | null;
  network?: string | null;
  /** As it is told; left out: this moment. */
  createdAt?: Date;
  requestsPerMinute?: number;
  concurrencyMax?: number;
}

type FactsRow = {
  id: string;
  kind: SessionKind | null;
  method: SignInMethod;
  created_at: Date;
  authenticated_at: Date;
  last_used_at: Date;
  expires_at: Date;
};

type Row = FactsRow & {
  account_id: string;
  role: AccountRole;
  wallet_id: string;
  disabled: boolean;
  unverified: boolean;
  default_organization_id: number | null;
  requests_per_minute: number;
  concurrency_max: number;
};

type ListRow = FactsRow & {
  account_id: string;
  role: AccountRole;
  user_agent: string | null;
  network: string | null;
};

function readFacts(row: FactsRow): SessionFacts {
  return {
    id: row.id,
    kind: row.kind,
    method: row.method,
    createdAt: row.created_at,
    authenticatedAt: row.authenticated_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
  };
}

/** Makes a session, or gives an existing token the new expiry and limits. */
export async function createSession(sql: Queryable, session: NewSession): Promise<void> {
  const { tokenHash, accountId, expiresAt, kind = null, method = 'command' } = session;
  const { userAgent = null, network = null } = session;
  const { requestsPerMinute = 600, concurrencyMax = 64 } = session;
  const at = sql`coalesce(${session.createdAt ?? null}::timestamptz, now())`;
  await sql`
    INSERT INTO sessions (token_hash, id, account_id, expires_at, kind, method, user_agent,
      network, created_at, authenticated_at, last_used_at, requests_per_minute, concurrency_max)
    VALUES (${tokenHash}, coalesce(${session.id ?? null}::text, new_id('ses')), ${accountId},
      ${expiresAt}, ${kind}, ${method}, ${userAgent}, ${network}, ${at}, ${at}, ${at},
      ${requestsPerMinute}, ${concurrencyMax})
    ON CONFLICT (token_hash) DO UPDATE SET expires_at = excluded.expires_at,
      requests_per_minute = excluded.requests_per_minute,
      concurrency_max = excluded.concurrency_max`;
}

/** The session of a token, expired ones left out; idle ones are the reader's to leave out. */
export async function findSession(sql: Queryable, tokenHash: Uint8Array): Promise<Session | null> {
  const [row] = await sql<Row[]>`
    SELECT s.id, s.kind, s.method, s.created_at, s.authenticated_at, s.last_used_at, s.expires_at,
      s.account_id, s.requests_per_minute, s.concurrency_max, a.role, w.id AS wallet_id,
      (a.disabled_at IS NOT NULL OR a.deleting_at IS NOT NULL) AS disabled,
      (a.email IS NOT NULL AND NOT a.email_owned) AS unverified, a.default_organization_id
    FROM sessions s JOIN accounts a ON a.id = s.account_id
    JOIN LATERAL (
      SELECT id FROM wallets WHERE account_id = a.id AND type = 'personal'
      ORDER BY created_at, id LIMIT 1) w ON true
    WHERE s.token_hash = ${tokenHash} AND s.expires_at > now()`;
  if (row === undefined) return null;
  return {
    ...readFacts(row),
    accountId: row.account_id,
    role: row.role,
    walletId: row.wallet_id,
    disabled: row.disabled,
    unverified: row.unverified,
    defaultOrganizationId: row.default_organization_id,
    requestsPerMinute: row.requests_per_minute,
    concurrencyMax: row.concurrency_max,
  };
}

/** Sessions of an account that have not expired, newest first, older than `cursor` (an id). */
export async function listSessions(
  sql: Queryable,
  accountId: string,
  limit: number,
  cursor: string | null,
): Promise<{ sessions: ListedSession[]; nextCursor: string | null }> {
  const rows = await sql<ListRow[]>`
    SELECT s.id, s.kind, s.method, s.created_at, s.authenticated_at, s.last_used_at, s.expires_at,
      s.account_id, s.user_agent, s.network, a.role
    FROM sessions s JOIN accounts a ON a.id = s.account_id
    WHERE s.account_id = ${accountId} AND s.expires_at > now()
      AND (${cursor}::text IS NULL OR s.id < ${cursor}::text)
    ORDER BY s.id DESC LIMIT ${limit + 1}`;
  const sessions = rows.slice(0, limit).map((row) => ({
    ...readFacts(row),
    accountId: row.account_id,
    role: row.role,
    userAgent: row.user_agent,
    network: row.network,
  }));
  return { sessions, nextCursor: rows.length > limit ? (sessions.at(-1)?.id ?? null) : null };
}

/** Ends one session of an account; its id, or null: it has no such session. */
export async function endSession(
  sql: Queryable,
  accountId: string,
  sessionId: string,
): Promise<string | null> {
  const rows = await sql<{ id: string }[]>`
    DELETE FROM sessions WHERE id = ${sessionId} AND account_id = ${accountId} RETURNING id`;
  return rows[0]?.id ?? null;
}

/**
 * Ends the session of a token that a browser was signed in with; its id, or null: there is none.
 * Those of before there was a sign-in may be somebody else's as well, as `dev.json` tells them.
 */
export async function endShownSession(
  sql: Queryable,
  tokenHash: Uint8Array,
): Promise<string | null> {
  const rows = await sql<{ id: string }[]>`
    DELETE FROM sessions WHERE token_hash = ${tokenHash} AND kind = 'browser' RETURNING id`;
  return rows[0]?.id ?? null;
}

/** Ends all sessions of an account but one; returns the ids of those that ended. */
export async function endSessionsBut(
  sql: Queryable,
  accountId: string,
  keptId: string | null,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    DELETE FROM sessions WHERE account_id = ${accountId} AND id IS DISTINCT FROM ${keptId}
    RETURNING id`;
  return rows.map(({ id }) => id);
}

/** Notes when sessions were last used; never moves a time back. */
export async function touchSessions(
  sql: Queryable,
  uses: readonly { id: string; usedAt: Date }[],
): Promise<void> {
  if (uses.length === 0) return;
  const ids = arrayLiteral(uses.map((use) => use.id));
  const times = arrayLiteral(uses.map((use) => use.usedAt.toISOString()));
  await sql`
    WITH used AS (
      SELECT id, max(used_at) AS used_at
      FROM unnest(${ids}::text[], ${times}::timestamptz[]) AS r (id, used_at) GROUP BY id),
    locked AS MATERIALIZED (
      SELECT u.* FROM used u JOIN sessions s ON s.id = u.id ORDER BY s.id FOR NO KEY UPDATE OF s)
    UPDATE sessions s SET last_used_at = u.used_at FROM locked u
    WHERE s.id = u.id AND s.last_used_at < u.used_at`;
}

/** Removes sessions that have expired, at most `limit`; returns how many. */
export async function sweepSessions(sql: Queryable, limit: number): Promise<number> {
  const result = await sql`
    DELETE FROM sessions WHERE token_hash IN (
      SELECT token_hash FROM sessions WHERE expires_at <= now()
      ORDER BY expires_at LIMIT ${limit})`;
  return result.count;
}
