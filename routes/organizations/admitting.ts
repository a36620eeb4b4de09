// A person becomes a member: by an invitation, or by its address.
import { domainOf } from '../../actors/identity/address.ts';
import { decide, type Policy, type PolicyRule } from '../../actors/organization/policy.ts';
import { readSettings } from '../../actors/organization/settings.ts';
import { findPerson, type Person } from '../../db/accounts/person.ts';
import type { Transaction } from '../../db/driver/sql.ts';
import { isDomainGood } from '../../db/organizations/domains.ts';
import { joinGroups } from '../../db/organizations/groups.ts';
import { admitMember, countMemberships, type NewMember } from '../../db/organizations/members.ts';
import type { Organization } from '../../db/organizations.ts';
import { type Acted, memberTarget } from './act.ts';
import { notActive, requireRoom } from './making.ts';

export interface Admission extends NewMember {
  groupIds: readonly string[];
}

/**
 * In a transaction that has locked the organization; returns the membership's account.
 * @throws Problem conflict, invalid_state
 */
export async function admit(transaction: Transaction, admission: Admission): Promise<string> {
  const { organizationId, userId, groupIds } = admission;
  requireRoom(await countMemberships(transaction, userId));
  const person = await findPerson(transaction, userId);
  if (person?.status !== 'active') throw notActive();
  const accountId = await admitMember(transaction, admission);
  await joinGroups(transaction, organizationId, userId, groupIds);
  return accountId;
}

/** What keeps the person out; null: nothing. */
export async function ruleAgainstJoining(
  transaction: Transaction,
  { id, status, settings, settingsRevision }: Organization,
  userId: string,
): Promise<PolicyRule | null> {
  const address = provedAddress(await findPerson(transaction, userId));
  const policy: Policy = {
    status,
    role: 'member',
    isCanonicalOwner: false,
    hasVerifiedDomain: address !== null && (await isDomainGood(transaction, id, domainOf(address))),
    settings: readSettings(settings),
    settingsRevision,
  };
  return decide(policy, { kind: 'member.join' }).rule;
}

/** The act that it is refused by. */
export function blockedJoining(userId: string, blocked: PolicyRule): Acted<never> {
  const actor = { type: 'user', id: userId } as const;
  const target = memberTarget(userId);
  const details = { rule: blocked };
  const record = { actor, action: 'member.join', target, result: 'blocked', details } as const;
  return { result: undefined as never, records: [record], blocked };
}

/** The address that the person has proved; null: none. */
export function provedAddress(person: Person | null): string | null {
  if (person === null || !person.emailOwned || person.emailVerifiedAt === null) return null;
  return person.email;
}
