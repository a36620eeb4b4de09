// Whether a person may look at something of an organization that its role lets it see, whatever
// context its request acts in. To who is no member it is not there.
import type { OrganizationRole } from '../../db/organizations/role.ts';
import { Problem } from '../../runtime/problem.ts';
import type { MemberContext } from '../credentials.ts';
import type { Services, UserCaller } from '../services.ts';

/** @throws Problem not_found, forbidden */
export async function requireSeeing(
  caller: Pick<UserCaller, 'personId'>,
  idText: string,
  roles: readonly OrganizationRole[],
  { access }: Pick<Services, 'access'>,
): Promise<MemberContext> {
  const id = /^[1-9]\d{5,9}$/.test(idText) ? Number(idText) : 0;
  const isKnown = id >= 100_000 && id < 2 ** 31;
  const context = isKnown
    ? await access.credentials.context(caller.personId, id, Date.now())
    : null;
  if (context === null) throw new Problem('not_found', { param: 'organization_id' });
  const { role, status, isCanonicalOwner } = context.organization;
  const isShown = status !== 'closed' || isCanonicalOwner;
  if (isShown && role !== null && roles.includes(role)) return context;
  throw new Problem('forbidden', {
    message: 'Your role in the organization does not allow this.',
    details: { reason: 'role' },
  });
}
