// A membership ends: by who leaves, or by who removes it. All that acts for it goes with it.
import type { Transaction } from '../../db/driver/sql.ts';
import type { NewRecord } from '../../db/organization-audit/record.ts';
import { endMembership, type Member, type RemovedParts } from '../../db/organizations/members.ts';
import { takeSeats } from '../../db/organizations/records.ts';
import type { Organization } from '../../db/organizations.ts';
import { Problem } from '../../runtime/problem.ts';
import { type Acted, memberTarget } from './act.ts';

/** What went, as it is told. */
export const removedBody = ({ keys, mcpServers }: RemovedParts) => ({
  keys,
  // Connections come with connectors, which are not built: nobody has one.
  connections: 0,
  mcp_servers: mcpServers,
});

/** @throws Problem invalid_state */
export function protectCanonical({ ownerUserId }: Organization, userId: string): void {
  if (ownerUserId !== userId) return;
  throw new Problem('invalid_state', {
    message: 'The canonical owner stays an owner. Hand the organization over first.',
    details: { reason: 'canonical_owner' },
  });
}

/** In a transaction that has locked the organization. @throws Problem invalid_state */
export async function end(
  transaction: Transaction,
  organization: Organization,
  member: Pick<Member, 'userId' | 'accountId'>,
  { status, actor }: { status: 'removed' | 'left'; actor: NewRecord['actor'] },
): Promise<Acted<RemovedParts>> {
  const { id } = organization;
  const { userId, accountId } = member;
  protectCanonical(organization, userId);
  const { keyIds, ...parts } = await endMembership(transaction, id, member, status);
  await takeSeats(transaction, id, -1);
  const record: NewRecord = {
    actor,
    action: status === 'left' ? 'member.leave' : 'member.remove',
    target: memberTarget(userId),
    result: 'ok',
    details: removedBody(parts),
  };
  return {
    result: parts,
    records: [record],
    fences: true,
    withdrawn: [accountId, ...keyIds],
    // Its default may have been this one.
    changed: [userId],
  };
}
