// What was claimed and is not granted yet: codes, credits of referrals that are due, rewards. All
// of it is given under the id of its claim, so it is given once, however often that is tried.
import type { Queryable } from '../driver/sql.ts';
import type { CreditKind } from '../ledger/credits.ts';
import { isEligible } from './eligible.ts';

export interface Claim {
  kind: Exclude<CreditKind, 'purchase'>;
  id: string;
  walletId: string;
  micros: bigint;
  /** When the credits end; null: never. */
  creditsUntil: Date | null;
  /** What the wallet's owner reads. */
  note: string;
}

type Row = Omit<Claim, 'micros'> & { micros: string };

const until = (from: string, days: string): string =>
  `CASE WHEN ${days} IS NULL THEN NULL ELSE ${from} + ${days} * interval '1 day' END`;

/** Each kind, as a query for the claims that are open. */
const openClaims: readonly string[] = [
  `SELECT 'code' AS kind, c.id, c.wallet_id, c.micros, c.credits_until,
      'code ' || c.promotion AS note, c.claimed_at AS since
    FROM code_redemptions c WHERE c.granted_at IS NULL`,
  // Nothing is given to whoever is restricted now; it waits until that is lifted.
  `SELECT 'referral', c.id, c.wallet_id, c.micros, ${until('c.due_at', 'c.credits_days')},
      CASE c.side WHEN 'referee' THEN 'welcome' ELSE 'referral' END, c.due_at
    FROM referral_credits c JOIN accounts a ON a.id = c.account_id
    WHERE c.granted_at IS NULL AND c.ended_at IS NULL AND c.due_at <= now()
      AND ${isEligible('a')}`,
  `SELECT 'reward', c.id::text, c.wallet_id, c.micros, ${until('c.claimed_at', 'c.credits_days')},
      'reward ' || c.task, c.claimed_at
    FROM reward_submissions c WHERE c.claimed_at IS NOT NULL AND c.granted_at IS NULL`,
];

/** The oldest first. */
export async function listOpenClaims(sql: Queryable, limit: number): Promise<Claim[]> {
  const rows = await sql.unsafe<Row[]>(
    `SELECT kind, id, wallet_id AS "walletId", micros::text AS micros,
      credits_until AS "creditsUntil", note
    FROM (${openClaims.join(' UNION ALL ')}) AS claims ORDER BY since, id LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({ ...row, micros: BigInt(row.micros) }));
}

/** One of them; null: it is granted, or was never claimed. */
export async function findOpenClaim(
  sql: Queryable,
  kind: Claim['kind'],
  id: string,
): Promise<Claim | null> {
  const [row] = await sql.unsafe<Row[]>(
    `SELECT kind, id, wallet_id AS "walletId", micros::text AS micros,
      credits_until AS "creditsUntil", note
    FROM (${openClaims.join(' UNION ALL ')}) AS claims WHERE kind = $1 AND id = $2`,
    [kind, id],
  );
  return row === undefined ? null : { ...row, micros: BigInt(row.micros) };
}
