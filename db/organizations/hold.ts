// The legal hold of an organization, for what goes by itself or one by one. Whoever erases shares a
// lock; setting a hold takes it alone. So it waits for what has begun, and then nothing more goes.
import type { Queryable, Sql, Transaction } from '../driver/sql.ts';

/** Any constant: the key of the lock ('hold'). */
const HOLD_LOCK = 0x686f6c64;

/** Whether the organization of an account, named with its table, is on hold. */
export function heldText(account: string): string {
  return `EXISTS (SELECT FROM accounts ha JOIN organizations ho ON ho.id = ha.organization_id
      WHERE ha.id = ${account} AND (ho.settings ->> 'legal_hold')::boolean)`;
}

/** Runs what erases: no hold begins meanwhile, and one that has begun is seen. */
export function erasing<T>(sql: Sql, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock_shared(${HOLD_LOCK})`;
    return work(transaction);
  }) as Promise<T>;
}

/** In the transaction that sets a hold: waits for whatever erases. */
export async function awaitErasing(transaction: Transaction): Promise<void> {
  await transaction`SELECT pg_advisory_xact_lock(${HOLD_LOCK})`;
}

/** Whether what the account has must stay. Asked within `erasing` it stays so. */
export async function isHeld(sql: Queryable, accountId: string): Promise<boolean> {
  const [row] = await sql.unsafe<{ held: boolean }[]>(`SELECT ${heldText('$1')} AS held`, [
    accountId,
  ]);
  return row?.held === true;
}
