// What is kept of signing in and out, and of changes of an account by its own person.
import { insertAuditEvent } from '../../db/audit-events.ts';
import type { Queryable } from '../../db/driver/sql.ts';
import { newAuditId } from '../../runtime/ids.ts';

interface Deed {
  accountId: string;
  action:
    | 'account.create'
    | 'account.restore'
    | 'address.change'
    | 'address.verify'
    | 'password.change'
    | 'password.reset'
    | 'session.create'
    | 'session.end'
    | 'token.revoke';
  /** Such as `session:ses_…`; left out: the account. */
  subject?: string;
  details?: Record<string, unknown>;
}

/** Writes the event in the transaction that does what it tells of. */
export async function auditDeed(
  transaction: Queryable,
  node: number,
  { accountId, action, subject = `account:${accountId}`, details = {} }: Deed,
): Promise<void> {
  const id = newAuditId(node);
  await insertAuditEvent(transaction, {
    id,
    accountId,
    actor: accountId,
    action,
    subject,
    details,
  });
}
