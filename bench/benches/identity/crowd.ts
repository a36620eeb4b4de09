// A hundred thousand accounts with a million tokens, made by the server itself. Nobody knows the
// tokens: whoever signs in beside them is made by `people.ts`.
import type { Sql } from '../../../db/driver/sql.ts';

export const ACCOUNTS = 100_000;
const SESSIONS = 500_000;
/** Each authorization has pairs that were rotated, and the last one. */
const PAIRS = 3;
/** One account has them. They are older than all others: the newest of all are not its own. */
const CROWDED_SESSIONS = 10_000;

export interface Crowd {
  addresses: string[];
  accountIds: string[];
  crowdedId: string;
  tokens: number;
}

/** Makes them; `sample` of them are told. */
export async function makeCrowd(sql: Sql, sample: number): Promise<Crowd> {
  const crowdedId = 'acc_000000000000000000000001';
  await sql.begin(async (transaction) => {
    // Foreign keys are checked by triggers, row by row: half of the time, and nothing of the bench.
    await transaction`SET LOCAL session_replication_role = replica`;
    await transaction`
      INSERT INTO accounts (id, email, email_owned, email_verified_at, full_name, created_at)
      SELECT 'acc_' || lpad(to_hex(n), 12, '0') || '00' || left(md5(n::text), 10),
        left(md5('address' || n), 8) || '@example' || n % 50 || '.test', true, now(),
        'Person ' || n, now()
      FROM generate_series(2, ${ACCOUNTS}) n
      UNION ALL SELECT ${crowdedId}, 'crowded@example.test', true, now(), 'Crowded', now()`;
    await transaction`
      INSERT INTO wallets (id, account_id)
      SELECT 'wal' || substr(id, 4), id FROM accounts a
      WHERE NOT EXISTS (SELECT FROM wallets w WHERE w.account_id = a.id)`;
    await transaction`
      INSERT INTO api_keys (id, account_id, wallet_id, label, environment, scopes, token_hash,
        prefix, requests_per_minute, concurrency_max)
      SELECT 'key' || substr(id, 4), id, 'wal' || substr(id, 4), 'bench', 'live', '{}',
        sha256(id::bytea), 'svc_live_' || left(md5(id), 6), 600, 64 FROM accounts`;
    await transaction`
      INSERT INTO sessions (token_hash, id, account_id, kind, method, expires_at)
      SELECT sha256(('session' || n)::bytea), 'ses_' || lpad(to_hex(n), 24, '0'),
        CASE WHEN n <= ${CROWDED_SESSIONS} THEN ${crowdedId} ELSE a.id END, 'app', 'password',
        now() + interval '60 days'
      FROM generate_series(1, ${SESSIONS}) n
      JOIN (SELECT id, row_number() OVER () AS number FROM accounts) a
        ON a.number = 1 + n % ${ACCOUNTS}`;
    await transaction`
      INSERT INTO oauth_authorizations (id, account_id, client, scopes, method, authenticated_at,
        expires_at)
      SELECT 'auth' || substr(id, 4), id, 'svc-cli', '{app,profile,offline_access}', 'otp', now(),
        now() + interval '365 days' FROM accounts`;
    await transaction`
      INSERT INTO oauth_tokens (token_hash, authorization_id, kind, expires_at, rotated_at,
        successor_hash)
      SELECT sha256((kind || n || id)::bytea), id, kind, now() + interval '1 day',
        CASE WHEN is_old THEN now() END, CASE WHEN is_old THEN sha256(id::bytea) END
      FROM oauth_authorizations, generate_series(1, ${PAIRS}) n,
        (VALUES ('access'), ('refresh')) k (kind),
        LATERAL (SELECT kind = 'refresh' AND n < ${PAIRS} AS is_old) o`;
  });
  await sql`VACUUM ANALYZE accounts, wallets, api_keys, sessions, oauth_authorizations,
    oauth_tokens`;
  const rows = await sql<{ id: string; email: string }[]>`
    SELECT id, email FROM accounts WHERE email LIKE '%@example%' AND id <> ${crowdedId}
    ORDER BY md5(id) LIMIT ${sample}`;
  return {
    addresses: rows.map(({ email }) => email),
    accountIds: rows.map(({ id }) => id),
    crowdedId,
    tokens: SESSIONS + 2 * PAIRS * ACCOUNTS,
  };
}
