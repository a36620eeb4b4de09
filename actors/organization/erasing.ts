// Erases what is scoped to organizations: ended memberships and closed organizations when their
// time has come, and all of a person before the person. Every step finds for itself what is left.

import type { Sql, Transaction } from '../../db/driver/sql.ts';
import { appendAudit } from '../../db/organization-audit/append.ts';
import {
  findContext,
  finishClosed,
  listContextAccounts,
  listMemberAccounts,
  listWaiting,
  lockClosed,
  lockEnded,
  markErased,
} from '../../db/organizations/erasure.ts';
import { fenceWallet } from '../../db/organizations/fence.ts';
import { endPending } from '../../db/organizations/invitations.ts';
import { endMembership } from '../../db/organizations/members.ts';
import { lockOrganization, raiseRevision, takeSeats } from '../../db/organizations/records.ts';
import type { Organization } from '../../db/organizations.ts';
import { organizationLimits } from './limits.ts';

/** Holds what is erased for one step; false: it must stay. */
export type Lock = (transaction: Transaction) => Promise<boolean>;

/** Erases all rows of an account, page by page; false: it must stay. */
export type EraseRows = (accountId: string, lock: Lock) => Promise<boolean>;

const { keptMs } = organizationLimits;

/** Erases an account that is no person's; null: it is one's. */
export async function eraseContext(
  sql: Sql,
  accountId: string,
  eraseRows: EraseRows,
): Promise<'erased' | 'waits' | null> {
  const context = await findContext(sql, accountId);
  if (context === null) return null;
  const { kind, organizationId } = context;
  if (kind === 'member') {
    const lock: Lock = (sql) => lockEnded(sql, { organizationId, accountId }, keptMs);
    if (!(await eraseRows(accountId, lock))) return 'waits';
    return finish(sql, lock, (transaction) => markErased(transaction, accountId));
  }
  const lock: Lock = (transaction) => lockClosed(transaction, organizationId, keptMs);
  for (const each of await listContextAccounts(sql, organizationId)) {
    if (!(await eraseRows(each, lock))) return 'waits';
  }
  return finish(sql, lock, (transaction) => finishClosed(transaction, organizationId));
}

function finish(
  sql: Sql,
  lock: Lock,
  work: (transaction: Transaction) => Promise<void>,
): Promise<'erased' | 'waits'> {
  return sql.begin(async (transaction): Promise<'erased' | 'waits'> => {
    if (!(await lock(transaction))) return 'waits';
    await work(transaction);
    return 'erased';
  });
}

/**
 * Before a person is erased: it leaves every organization, nobody waits for it, and what it has in
 * them goes. `lock` holds the person.
 */
export async function erasePersonsContexts(
  sql: Sql,
  userId: string,
  lock: Lock,
  eraseRows: EraseRows,
): Promise<boolean> {
  for (const { organizationId, email } of await listWaiting(sql, userId)) {
    const held = await lockBoth(sql, organizationId, lock, (transaction) =>
      unwait(transaction, organizationId, email),
    );
    if (held === 'waits') return false;
  }
  const memberships = await listMemberAccounts(sql, userId);
  for (const each of memberships) {
    if (!each.isActive) continue;
    const held = await lockBoth(sql, each.organizationId, lock, (transaction, organization) =>
      leave(transaction, userId, each, organization),
    );
    if (held === 'waits') return false;
  }
  for (const { accountId } of memberships) {
    if (!(await eraseRows(accountId, lock))) return false;
  }
  return true;
}

/** The organization first, as every act does; a legal hold that came meanwhile stops the step. */
function lockBoth(
  sql: Sql,
  organizationId: number,
  lock: Lock,
  work: (transaction: Transaction, organization: Organization) => Promise<void>,
): Promise<'done' | 'waits'> {
  return sql.begin(async (transaction): Promise<'done' | 'waits'> => {
    const organization = await lockOrganization(transaction, organizationId);
    if (!(await lock(transaction))) return 'waits';
    if (organization !== null) await work(transaction, organization);
    return 'done';
  });
}

async function unwait(transaction: Transaction, id: number, email: string): Promise<void> {
  const ended = await endPending(transaction, id, email, 'revoked');
  await takeSeats(transaction, id, -ended.length);
  await raiseRevision(transaction, id);
  const system = { type: 'system', id: 'erasures' } as const;
  for (const invitation of ended) {
    await appendAudit(transaction, id, {
      actor: system,
      action: 'invitation.revoke',
      target: { type: 'invitation', id: invitation },
      result: 'ok',
      details: { by: 'account.erase' },
    });
  }
}

async function leave(
  transaction: Transaction,
  userId: string,
  { organizationId: id, accountId }: { organizationId: number; accountId: string },
  { walletId }: Organization,
): Promise<void> {
  const ended = await endMembership(transaction, id, { userId, accountId }, 'left');
  await takeSeats(transaction, id, -1);
  await raiseRevision(transaction, id);
  await fenceWallet(transaction, walletId);
  await appendAudit(transaction, id, {
    actor: { type: 'system', id: 'erasures' },
    action: 'member.leave',
    target: { type: 'member', id: userId },
    result: 'ok',
    details: { by: 'account.erase', keys: ended.keys, mcp_servers: ended.mcpServers },
  });
}
