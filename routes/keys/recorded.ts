// What is done to a key in an organization stands in its audit. What was decided on the wallet
// before is void.
import type { Transaction } from '../../db/driver/sql.ts';
import { appendAudit } from '../../db/organization-audit/append.ts';
import { fenceWallet } from '../../db/organizations/fence.ts';
import { findOrganizationOf } from '../../db/organizations/of-account.ts';

export interface KeyAct {
  /** The account that has the key. */
  accountId: string;
  keyId: string;
  /** The person who does it. */
  actor: string;
  action: string;
  details: Readonly<Record<string, unknown>>;
}

/** The last of the act's transaction. Outside of organizations there is nothing to do. */
export async function recordKeyAct(
  transaction: Transaction,
  { accountId, keyId, actor, action, details }: KeyAct,
): Promise<void> {
  const organization = await findOrganizationOf(transaction, accountId);
  if (organization === null) return;
  await fenceWallet(transaction, organization.walletId);
  await appendAudit(transaction, organization.id, {
    actor: { type: 'user', id: actor },
    action,
    target: { type: 'key', id: keyId },
    result: 'ok',
    details,
  });
}
