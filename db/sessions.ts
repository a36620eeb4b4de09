// Session tokens of signed-in users, found by their SHA-256. What a session may do is what its
// account may do at this moment.
import type { AccountRole } from './account-role.ts';
import type { Queryable } from './driver/sql.ts';

export interface Session {
  accountId: string;
  role: AccountRole;
  /** The account's personal wallet. */
  walletId: string;
  expiresAt: Date;
  /** The account is disabled: its sessions are good for nothing. */
  disabled: boolean;
}

type Row = {
  account_id: string;
  role: AccountRole;
  wallet_id: string;
  expires_at: Date;
  disabled: boolean;
};

/** Makes a session, or gives an existing token the new expiry. */
export async function createSession(
  sql: Queryable,
  session: { tokenHash: Uint8Array; accountId: string; expiresAt: Date },
): Promise<void> {
  await sql`
    INSERT INTO sessions (token_hash, account_id, expires_at)
    VALUES (${session.tokenHash}, ${session.accountId}, ${session.expiresAt})
    ON CONFLICT (token_hash) DO UPDATE SET expires_at = excluded.expires_at`;
}

/** The session of a token, expired ones left out. */
export async function findSession(sql: Queryable, tokenHash: Uint8Array): Promise<Session | null> {
  const [row] = await sql<Row[]>`
    SELECT s.account_id, a.role, w.id AS wallet_id, s.expires_at,
      a.disabled_at IS NOT NULL AS disabled
    FROM sessions s JOIN accounts a ON a.id = s.account_id
    JOIN LATERAL (
      SELECT id FROM wallets WHERE account_id = a.id AND type = 'personal'
      ORDER BY created_at, id LIMIT 1) w ON true
    WHERE s.token_hash = ${tokenHash} AND s.expires_at > now()`;
  if (row === undefined) return null;
  return {
    accountId: row.account_id,
    role: row.role,
    walletId: row.wallet_id,
    expiresAt: row.expires_at,
    disabled: row.disabled,
  };
}

/** Removes sessions that have expired, at most `limit`; returns how many. */
export async function sweepSessions(sql: Queryable, limit: number): Promise<number> {
  const result = await sql`
    DELETE FROM sessions WHERE token_hash IN (
      SELECT token_hash FROM sessions WHERE expires_at <= now()
      ORDER BY expires_at LIMIT ${limit})`;
  return result.count;
}
