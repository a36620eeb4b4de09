// The answer to who has become a member: the membership as it is now.
import { withDeadline } from '../../../db/driver/sql.ts';
import { findMembership } from '../../../db/organizations/records.ts';
import type { Reply } from '../../../runtime/http/route.ts';
import { noOrganization } from '../../organizations/access.ts';
import type { Services } from '../../services.ts';
import { membershipBody } from './schema.ts';

/** @throws Problem not_found when it has ended meanwhile */
export async function readMine(
  { sql }: Pick<Services, 'sql'>,
  organizationId: number,
  userId: string,
): Promise<Reply> {
  const membership = await withDeadline(findMembership(sql, organizationId, userId));
  if (membership === null) throw noOrganization();
  return {
    status: 200,
    headers: { 'cache-control': 'no-store' },
    json: { ok: true, membership: membershipBody(membership, userId) },
  };
}
