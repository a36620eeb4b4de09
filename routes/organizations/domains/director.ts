// Who may see and change the domains of an organization: owners and admins.
import type { Queryable } from '../../../db/driver/sql.ts';
import { findMembership } from '../../../db/organizations/records.ts';
import type { UserCaller } from '../../services.ts';
import { checkRight, noOrganization, seatOf } from '../access.ts';
import type { RightName } from '../rights.ts';

/** @throws Problem not_found, forbidden, invalid_state */
export async function requireDirector(
  sql: Queryable,
  organizationId: number,
  { personId }: Pick<UserCaller, 'personId'>,
  right: Extract<RightName, `domains.${string}`>,
): Promise<void> {
  const membership = await findMembership(sql, organizationId, personId);
  if (membership === null) throw noOrganization();
  checkRight(seatOf(membership, personId), right);
}
