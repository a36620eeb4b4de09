// Which wallet pays for the keys of members: the organization's, or with billing that is not
// centralized that of the person. A key with a limit keeps its count when its payer changes.
import { arrayLiteral } from '../driver/array.ts';
import type { Transaction } from '../driver/sql.ts';
import { changePayer } from '../spend/limit.ts';
import type { SpendPeriod } from '../spend/period.ts';
import { fenceWallet } from './fence.ts';

/** The wallet of a membership, where the organization is `g` and the person `p`. */
const payerText = `CASE WHEN coalesce((g.settings ->> 'centralized_billing')::boolean, true)
  THEN g.wallet_id ELSE (SELECT w.id FROM wallets w
    WHERE w.account_id = m.user_id AND w.type = 'personal'
    ORDER BY w.created_at, w.id LIMIT 1) END`;

/**
 * The wallet that pays for what a membership's account does; it stays so until the transaction
 * ends. Null: the account is no membership.
 */
export async function lockPayer(
  transaction: Transaction,
  accountId: string,
): Promise<string | null> {
  const [row] = await transaction<{ wallet_id: string }[]>`
    SELECT ${transaction.unsafe(payerText)} AS wallet_id
    FROM organization_members m JOIN organizations g ON g.id = m.organization_id
    WHERE m.account_id = ${accountId} FOR SHARE OF g`;
  return row?.wallet_id ?? null;
}

interface MovingKey {
  id: string;
  accountId: string;
  walletId: string;
  toWalletId: string;
  limitMicros: bigint | null;
  period: SpendPeriod | null;
}

/**
 * Lets the wallet that pays by the settings of this moment pay for the keys of all members. The
 * organization's row is locked by the caller. Returns the ids of the keys that moved.
 */
export async function movePayer(
  transaction: Transaction,
  organizationId: number,
  nowMs = Date.now(),
): Promise<string[]> {
  const keys = await transaction<MovingKey[]>`
    SELECT k.id, k.account_id AS "accountId", k.wallet_id AS "walletId",
      ${transaction.unsafe(payerText)} AS "toWalletId", k.limit_micros AS "limitMicros",
      k.limit_period AS period
    FROM organizations g JOIN organization_members m ON m.organization_id = g.id
    JOIN api_keys k ON k.account_id = m.account_id
    WHERE g.id = ${organizationId} AND k.wallet_id <> ${transaction.unsafe(payerText)}
    ORDER BY k.id FOR UPDATE OF k`;
  const limited = keys.filter(({ period }) => period !== null);
  const wallets = new Set(keys.flatMap(({ walletId, toWalletId }) => [walletId, toWalletId]));
  // Whatever is decided from now on is decided on what is written here.
  for (const walletId of [...wallets].sort()) await fenceWallet(transaction, walletId);
  for (const { id, accountId, walletId, toWalletId, limitMicros, period } of limited) {
    if (limitMicros === null || period === null) continue;
    const spendLimit = { amountMicros: limitMicros, period };
    await changePayer(transaction, { id, accountId, walletId, spendLimit }, toWalletId, nowMs);
  }
  const others = keys.filter(({ period }) => period === null);
  await transaction`
    UPDATE api_keys k SET wallet_id = t.wallet_id
    FROM unnest(${arrayLiteral(others.map(({ id }) => id))}::text[],
      ${arrayLiteral(others.map(({ toWalletId }) => toWalletId))}::text[]) AS t (id, wallet_id)
    WHERE k.id = t.id`;
  return keys.map(({ id }) => id);
}
