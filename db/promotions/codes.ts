// Codes that accounts have had. A row is a claim on its credits; the counter of the code bounds how
// many there are, whoever claims at the same moment.
import { classifyError, type Queryable, type Sql } from '../driver/sql.ts';

export interface CodeClaim {
  id: string;
  /** The name of the code's record. */
  promotion: string;
  accountId: string;
  walletId: string;
  micros: bigint;
  /** When the credits end; null: never. */
  creditsUntil: Date | null;
}

/** `had`: the account has it already. `over`: as many as may have had it. */
export type CodeClaimed = 'claimed' | 'had' | 'over';

export async function claimCode(
  sql: Sql,
  claim: CodeClaim,
  redemptionsMax: number,
): Promise<CodeClaimed> {
  const { id, promotion, accountId, walletId, micros, creditsUntil } = claim;
  try {
    const [row] = await sql<{ had: boolean; made: boolean }[]>`
      WITH had AS MATERIALIZED (
        SELECT FROM code_redemptions WHERE account_id = ${accountId} AND promotion = ${promotion}),
      counted AS (
        INSERT INTO promotion_counts AS c (promotion, redeemed)
        SELECT ${promotion}, 1 WHERE NOT EXISTS (SELECT FROM had)
        ON CONFLICT (promotion) DO UPDATE SET redeemed = c.redeemed + 1
          WHERE c.redeemed < ${redemptionsMax}
        RETURNING 1),
      made AS (
        INSERT INTO code_redemptions (id, promotion, account_id, wallet_id, micros, credits_until)
        SELECT ${id}, ${promotion}, ${accountId}, ${walletId}, ${micros.toString()}::bigint,
          ${creditsUntil}::timestamptz FROM counted
        RETURNING 1)
      SELECT EXISTS (SELECT FROM had) AS "had", EXISTS (SELECT FROM made) AS made`;
    if (row?.had === true) return 'had';
    return row?.made === true ? 'claimed' : 'over';
  } catch (error) {
    // The same account at the same moment. The counter is as it was before this statement.
    if (classifyError(error) === 'unique') return 'had';
    throw error;
  }
}

/** Whether the account has had it. */
export async function hasHadCode(
  sql: Queryable,
  accountId: string,
  promotion: string,
): Promise<boolean> {
  const rows = await sql`
    SELECT FROM code_redemptions WHERE account_id = ${accountId} AND promotion = ${promotion}`;
  return rows.length > 0;
}
