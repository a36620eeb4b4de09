// What of organizations is erased, and when. Whatever erases holds the organization's row and reads
// its legal hold in the same transaction. Setting the hold waits for that; then nothing more goes.
import type { Queryable, Transaction } from '../driver/sql.ts';

const isDue = (column: string, parameter: string) =>
  `${column} <= now() - ${parameter}::float8 * interval '1 ms'`;
const holdsNot = `coalesce((o.settings ->> 'legal_hold')::boolean, false) IS FALSE`;

/** Accounts of ended memberships and of closed organizations whose time is over. */
export async function listDueContexts(
  sql: Queryable,
  keptMs: number,
  limit: number,
): Promise<string[]> {
  const rows = await sql.unsafe<{ account_id: string }[]>(
    `(SELECT m.account_id FROM organization_members m
      JOIN organizations o ON o.id = m.organization_id
      WHERE m.ended_at IS NOT NULL AND m.erased_at IS NULL AND ${isDue('m.ended_at', '$1')}
        AND ${holdsNot} ORDER BY m.ended_at LIMIT $2)
    UNION ALL
    (SELECT o.account_id FROM organizations o
      WHERE o.closed_at IS NOT NULL AND o.erased_at IS NULL AND ${isDue('o.closed_at', '$1')}
        AND ${holdsNot} ORDER BY o.closed_at LIMIT $2)`,
    [keptMs, limit],
  );
  return rows.map((row) => row.account_id);
}

/** What an account is in an organization; null: it is a person's. */
export async function findContext(
  sql: Queryable,
  accountId: string,
): Promise<{ kind: 'member' | 'organization'; organizationId: number } | null> {
  const [row] = await sql<{ kind: 'member' | 'organization'; organization_id: number }[]>`
    SELECT kind, organization_id FROM accounts
    WHERE id = ${accountId} AND organization_id IS NOT NULL`;
  return row === undefined ? null : { kind: row.kind, organizationId: row.organization_id };
}

/** Whether it is on no legal hold, and stays so until the transaction ends. */
async function shareUnheld(transaction: Transaction, organizationId: number): Promise<boolean> {
  const rows = await transaction<{ is_free: boolean }[]>`
    SELECT ${transaction.unsafe(holdsNot)} AS is_free FROM organizations o
    WHERE o.id = ${organizationId} FOR SHARE`;
  return rows[0]?.is_free === true;
}

/** Jobs that run would write again. */
const restsText = (account: string) => `NOT EXISTS (SELECT FROM video_jobs j
      WHERE j.account_id = ${account} AND j.completed_at IS NULL)
    AND NOT EXISTS (SELECT FROM video_analyses n
      WHERE n.account_id = ${account} AND n.completed_at IS NULL)`;

/** Holds an ended membership for one step of its erasing; false: it is not, or no more, due. */
export async function lockEnded(
  transaction: Transaction,
  { organizationId, accountId }: { organizationId: number; accountId: string },
  keptMs: number,
): Promise<boolean> {
  if (!(await shareUnheld(transaction, organizationId))) return false;
  const rows = await transaction.unsafe(
    `SELECT FROM organization_members m
    WHERE m.account_id = $1 AND m.ended_at IS NOT NULL AND m.erased_at IS NULL
      AND ${isDue('m.ended_at', '$2')} AND ${restsText('m.account_id')} FOR UPDATE`,
    [accountId, keptMs],
  );
  return rows.length > 0;
}

/** The same of a closed organization. */
export async function lockClosed(
  transaction: Transaction,
  organizationId: number,
  keptMs: number,
): Promise<boolean> {
  if (!(await shareUnheld(transaction, organizationId))) return false;
  const rows = await transaction.unsafe(
    `SELECT FROM organizations o
    WHERE o.id = $1 AND o.closed_at IS NOT NULL AND o.erased_at IS NULL
      AND ${isDue('o.closed_at', '$2')}
      AND NOT EXISTS (SELECT FROM holds h WHERE h.wallet_id = o.wallet_id)`,
    [organizationId, keptMs],
  );
  return rows.length > 0;
}

/** Nothing private of the membership is left. */
export async function markErased(transaction: Transaction, accountId: string): Promise<void> {
  await transaction`
    UPDATE organization_members SET erased_at = now()
    WHERE account_id = ${accountId} AND ended_at IS NOT NULL AND erased_at IS NULL`;
}

/** All accounts that act in the organization, its own among them. */
export async function listContextAccounts(
  sql: Queryable,
  organizationId: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM accounts WHERE organization_id = ${organizationId} ORDER BY id`;
  return rows.map(({ id }) => id);
}

/** The last step of a closed organization: who was in it is known still, what it made is gone. */
export async function finishClosed(
  transaction: Transaction,
  organizationId: number,
): Promise<void> {
  await transaction`DELETE FROM organization_groups WHERE organization_id = ${organizationId}`;
  await transaction`DELETE FROM organization_invitations WHERE organization_id = ${organizationId}`;
  await transaction`
    UPDATE organization_members SET erased_at = now()
    WHERE organization_id = ${organizationId} AND ended_at IS NOT NULL AND erased_at IS NULL`;
  await transaction`
    UPDATE organizations SET erased_at = now(), allowed_domain = NULL
    WHERE id = ${organizationId} AND erased_at IS NULL`;
}

/** Accounts of all memberships of a person, with those of their organizations that are active. */
export async function listMemberAccounts(
  sql: Queryable,
  userId: string,
): Promise<{ organizationId: number; accountId: string; isActive: boolean }[]> {
  const rows = await sql<{ organization_id: number; account_id: string; is_active: boolean }[]>`
    SELECT organization_id, account_id, status = 'active' AS is_active
    FROM organization_members WHERE user_id = ${userId} ORDER BY organization_id`;
  return rows.map((row) => ({
    organizationId: row.organization_id,
    accountId: row.account_id,
    isActive: row.is_active,
  }));
}

/** Organizations that wait for the person, under the address that is its own. */
export async function listWaiting(
  sql: Queryable,
  userId: string,
): Promise<{ organizationId: number; email: string }[]> {
  const rows = await sql<{ organization_id: number; email: string }[]>`
    SELECT i.organization_id, i.email FROM accounts a
    JOIN organization_invitations i ON i.email = a.email AND i.status = 'pending'
    WHERE a.id = ${userId} AND a.email_owned ORDER BY i.organization_id`;
  return rows.map((row) => ({ organizationId: row.organization_id, email: row.email }));
}

/** Closed organizations name a person who is erased no more. */
export async function forgetPerson(transaction: Transaction, userId: string): Promise<void> {
  await transaction`
    UPDATE organizations SET
      owner_user_id = nullif(owner_user_id, ${userId}),
      billing_user_id = nullif(billing_user_id, ${userId})
    WHERE owner_user_id = ${userId} OR billing_user_id = ${userId}`;
  await transaction`
    UPDATE organization_members SET erased_at = now()
    WHERE user_id = ${userId} AND ended_at IS NOT NULL AND erased_at IS NULL`;
}

/**
 * Whether an organization on legal hold keeps what the person has in it. Its audit is kept as well,
 * which may say something of a person who has left it, or never came.
 */
export async function isHeldByOrganization(
  transaction: Transaction,
  userId: string,
): Promise<boolean> {
  const rows = await transaction<{ is_free: boolean }[]>`
    SELECT ${transaction.unsafe(holdsNot)} AS is_free FROM organizations o
    WHERE o.id IN (
      SELECT m.organization_id FROM organization_members m
      WHERE m.user_id = ${userId} AND m.erased_at IS NULL
      UNION SELECT r.organization_id FROM organization_audit_records r
      WHERE r.details IS NOT NULL AND (r.actor_id = ${userId} OR r.target_id = ${userId}
        OR r.address = (SELECT lower(a.email) FROM accounts a
          WHERE a.id = ${userId} AND a.email_owned)))
    ORDER BY o.id FOR SHARE OF o`;
  return rows.some((row) => !row.is_free);
}
