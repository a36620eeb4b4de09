// Whether a person may do something in an organization, as it stands at this moment. To who is no
// member it is not there.
import type { Policy } from '../../actors/organization/policy.ts';
import { readSettings } from '../../actors/organization/settings.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { findMembership, type Membership } from '../../db/organizations/records.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services, UserCaller } from '../services.ts';
import { judge, type RightName, rights } from './rights.ts';

/** What a person is, in an organization that it may act in. */
export interface Seat extends Membership {
  userId: string;
  isCanonicalOwner: boolean;
}

/** The number of a path; what is none is the number of nothing. */
export function organizationIdOf(text: string): number {
  const id = /^[1-9]\d{5,9}$/.test(text) ? Number(text) : 0;
  return id < 2 ** 31 ? id : 0;
}

export const noOrganization = () => new Problem('not_found', { param: 'organization_id' });

/** @throws Problem not_found */
export async function requireMember(
  caller: UserCaller,
  id: string,
  { sql }: Pick<Services, 'sql'>,
): Promise<Seat> {
  const userId = caller.personId;
  const found = await withDeadline(findMembership(sql, organizationIdOf(id), userId));
  if (found === null) throw noOrganization();
  return seatOf(found, userId);
}

/** @throws Problem not_found, forbidden, invalid_state */
export async function requireRight(
  caller: UserCaller,
  id: string,
  right: RightName,
  services: Pick<Services, 'sql'>,
): Promise<Seat> {
  const seat = await requireMember(caller, id, services);
  checkRight(seat, right);
  return seat;
}

export function seatOf(membership: Membership, userId: string): Seat {
  const isCanonicalOwner = membership.organization.ownerUserId === userId;
  return { ...membership, userId, isCanonicalOwner };
}

/** @throws Problem forbidden, invalid_state */
export function checkRight(
  {
    role,
    isCanonicalOwner,
    organization,
  }: Pick<Seat, 'role' | 'isCanonicalOwner' | 'organization'>,
  name: RightName,
): void {
  const { status } = organization;
  const refusal = judge(rights[name], { role, isCanonicalOwner, status });
  if (refusal === 'forbidden')
    throw forbidden('Your role in the organization does not allow this.');
  if (refusal === 'invalid_state') throw inStatus(status);
}

export function forbidden(message: string): Problem {
  return new Problem('forbidden', { message, details: { reason: 'role' } });
}

export function inStatus(status: string): Problem {
  return new Problem('invalid_state', {
    message: `The organization is ${status}.`,
    details: { reason: 'organization_status', status },
  });
}

/** What the organization's policy knows of the seat. Its address is not looked at. */
export function policyOf({ organization, role, isCanonicalOwner }: Seat): Policy {
  const { status, settings, settingsRevision } = organization;
  return {
    status,
    role,
    isCanonicalOwner,
    hasVerifiedDomain: false,
    settings: readSettings(settings),
    settingsRevision,
  };
}
