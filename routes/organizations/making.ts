// Makes an organization for its owner, who may not have too many of them.
import { openAudit } from '../../actors/audit/checkpoint.ts';
import { organizationLimits } from '../../actors/organization/limits.ts';
import { findPerson } from '../../db/accounts/person.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { appendAudit } from '../../db/organization-audit/append.ts';
import type { NewRecord } from '../../db/organization-audit/record.ts';
import { countMemberships } from '../../db/organizations/members.ts';
import { createOrganization } from '../../db/organizations/records.ts';
import type { Organization } from '../../db/organizations.ts';
import { newId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';
import { organizationTarget } from './act.ts';
import { refusedSlug } from './slug.ts';

export interface Wanted {
  name: string;
  slug: string | null;
  ownerUserId: string;
  seatLimit: number;
}

/**
 * One transaction: accounts, wallet, row, membership, record.
 * @throws Problem conflict, invalid_state
 */
export function makeOrganization(
  { sql, system, sealer, config }: Pick<Services, 'sql' | 'system' | 'sealer' | 'config'>,
  wanted: Wanted,
  actor: NewRecord['actor'],
): Promise<Organization> {
  const { name, slug, ownerUserId, seatLimit } = wanted;
  const making = sql.begin(async (transaction) => {
    requireRoom(await countMemberships(transaction, ownerUserId));
    const owner = await findPerson(transaction, ownerUserId);
    if (owner?.status !== 'active') throw notActive();
    const organization = await createOrganization(transaction, {
      ...wanted,
      accountId: newId('acc', system.node),
      walletId: newId('wal', system.node),
      ownerAccountId: newId('acc', system.node),
    });
    const { baseUrl } = config;
    await openAudit(transaction, { organizationId: organization.id, sealer, baseUrl });
    await appendAudit(transaction, organization.id, {
      actor,
      action: 'org.create',
      target: organizationTarget(organization.id),
      result: 'ok',
      details: { name, slug, seat_limit: seatLimit, owner_user_id: ownerUserId },
    });
    return organization;
  });
  return withDeadline(making.catch(refusedSlug));
}

/** @throws Problem conflict */
export function requireRoom(memberships: number): void {
  const { membershipsMax } = organizationLimits;
  if (memberships < membershipsMax) return;
  throw new Problem('conflict', {
    message: `A person is a member of at most ${membershipsMax} organizations.`,
    details: { reason: 'memberships' },
  });
}

export function notActive(): Problem {
  return new Problem('invalid_state', {
    message: 'The account is not active.',
    details: { reason: 'account_status' },
  });
}
