// Accounts that never proved their address go. One that money went through goes the way of a
// deletion instead: its books stay under its id.
import type { Transaction } from '../driver/sql.ts';

/** What became of an account. */
export interface Removed {
  accountId: string;
  /** Nothing of it is left; else its erasing has begun. */
  isGone: boolean;
}

type Row = { id: string; is_used: boolean };

/** Takes accounts of over `days` days that never verified, at most `limit`, oldest first. */
export async function removeUnverified(
  transaction: Transaction,
  days: number,
  limit: number,
): Promise<Removed[]> {
  const rows = await transaction<Row[]>`
    SELECT a.id, EXISTS (
        SELECT FROM wallets w WHERE w.account_id = a.id AND w.version > 0) AS is_used
    FROM accounts a
    WHERE a.email IS NOT NULL AND NOT a.email_owned AND a.deleting_at IS NULL
      AND a.erased_at IS NULL AND a.created_at < now() - make_interval(days => ${days}::integer)
    ORDER BY a.created_at LIMIT ${limit} FOR UPDATE OF a SKIP LOCKED`;
  for (const { id, is_used } of rows) {
    await transaction`DELETE FROM sessions WHERE account_id = ${id}`;
    await transaction`DELETE FROM account_passwords WHERE account_id = ${id}`;
    await transaction`DELETE FROM known_places WHERE account_id = ${id}`;
    await transaction`DELETE FROM challenges WHERE account_id = ${id}`;
    if (is_used) await beginErasing(transaction, id);
    else await removeAccount(transaction, id);
  }
  return rows.map(({ id, is_used }) => ({ accountId: id, isGone: !is_used }));
}

async function beginErasing(transaction: Transaction, id: string): Promise<void> {
  // Nobody can undo it, so nothing is waited for.
  await transaction`
    UPDATE accounts SET deleting_at = now() - interval '14 days', revision = revision + 1,
      updated_at = now()
    WHERE id = ${id}`;
}

async function removeAccount(transaction: Transaction, id: string): Promise<void> {
  await transaction`DELETE FROM referrals WHERE referee_id = ${id}`;
  await transaction`
    DELETE FROM oauth_tokens WHERE authorization_id IN (
      SELECT id FROM oauth_authorizations WHERE account_id = ${id})`;
  await transaction`DELETE FROM oauth_authorizations WHERE account_id = ${id}`;
  await transaction`DELETE FROM api_keys WHERE account_id = ${id}`;
  await transaction`DELETE FROM wallets WHERE account_id = ${id}`;
  await transaction`DELETE FROM accounts WHERE id = ${id}`;
}
