// Suspending, activating, closing and handing over, for owners and operators alike: each in a
// transaction that has locked the organization.
import { organizationChangeId } from '../../actors/organization/acting.ts';
import { readSettings } from '../../actors/organization/settings.ts';
import type { Transaction } from '../../db/driver/sql.ts';
import type { NewRecord } from '../../db/organization-audit/record.ts';
import { closeOrganization, holdActiveAccount } from '../../db/organizations/closing.ts';
import { changeMember, findMember, type Member } from '../../db/organizations/members.ts';
import { changeOrganization, setStatus } from '../../db/organizations/records.ts';
import type { OrganizationRole } from '../../db/organizations/role.ts';
import type { Organization } from '../../db/organizations.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { Problem } from '../../runtime/problem.ts';
import { inStatus } from './access.ts';
import { type Acted, organizationTarget } from './act.ts';
import { notActive } from './making.ts';

export interface Doing {
  actor: NewRecord['actor'];
  reason: string | null;
}

function recordOf({ actor, reason }: Doing, id: number, action: string, more = {}): NewRecord {
  const details = { ...(reason === null ? {} : { reason }), ...more };
  return { actor, action, target: organizationTarget(id), result: 'ok', details };
}

const unchanged: Acted<null> = { result: null, records: [] };

/** What an operator suspends, an owner does not activate. @throws Problem invalid_state */
export async function suspend(
  transaction: Transaction,
  { id, status, suspendedBy }: Organization,
  doing: Doing,
): Promise<Acted<null>> {
  if (status === 'closed') throw inStatus(status);
  const by = doing.actor.type === 'operator' ? 'operator' : 'owner';
  if (suspendedBy === by || suspendedBy === 'operator') return unchanged;
  await setStatus(transaction, id, 'suspended', by);
  const records = [recordOf(doing, id, 'org.suspend')];
  return { result: null, records, fences: true, withdrawn: [organizationChangeId(id)] };
}

/** @throws Problem invalid_state */
export async function activate(
  transaction: Transaction,
  { id, status, suspendedBy }: Organization,
  doing: Doing,
): Promise<Acted<null>> {
  if (status === 'closed') throw inStatus(status);
  if (status === 'active') return unchanged;
  if (suspendedBy === 'operator' && doing.actor.type !== 'operator') {
    throw new Problem('invalid_state', {
      message: 'An operator has suspended the organization, and activates it.',
      details: { reason: 'suspended_by_operator' },
    });
  }
  await setStatus(transaction, id, 'active', null);
  return { result: null, records: [recordOf(doing, id, 'org.activate')], fences: true };
}

/** For good. @throws Problem invalid_state */
export async function close(
  transaction: Transaction,
  organization: Organization,
  doing: Doing,
): Promise<Acted<null>> {
  const { id, status, settings } = organization;
  if (status === 'closed') return unchanged;
  if (readSettings(settings).legal_hold) {
    throw new Problem('invalid_state', {
      message: 'The organization is on legal hold.',
      details: { reason: 'legal_hold' },
    });
  }
  const ended = await closeOrganization(transaction, id);
  const records = [recordOf(doing, id, 'org.close')];
  const withdrawn = [organizationChangeId(id), ...ended];
  return { result: null, records, fences: true, withdrawn };
}

/**
 * Another canonical owner, who is an owner from then on; the former one stays one.
 * @throws Problem invalid_request, invalid_state
 */
export async function handOver(
  transaction: Transaction,
  organization: Organization,
  { userId, roles }: { userId: string; roles: readonly OrganizationRole[] },
  doing: Doing,
): Promise<Acted<Member>> {
  const { id, status, ownerUserId } = organization;
  if (status === 'closed') throw inStatus(status);
  const member = await findMember(transaction, id, userId);
  if (member?.status !== 'active' || !roles.includes(member.role)) {
    throw fieldProblem('user_id', `An active member is expected, one of: ${roles.join(', ')}.`);
  }
  if (ownerUserId === userId) return { result: member, records: [] };
  if (!(await holdActiveAccount(transaction, userId))) throw notActive();
  await changeOrganization(transaction, organization, { ownerUserId: userId });
  const after = { ...member, role: 'owner' } as const;
  await changeMember(transaction, id, after);
  const told = { owner_user_id: [ownerUserId, userId] };
  const records = [recordOf(doing, id, 'org.owner', told)];
  return { result: after, records, fences: true, changed: [member.accountId] };
}

/** @throws Problem invalid_request */
export function requireName({ name }: Organization, confirm: string): void {
  if (confirm !== name) throw fieldProblem('confirm', 'Type the name of the organization.');
}
