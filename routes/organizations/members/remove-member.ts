// DELETE /api/enterprise/organizations/{organization_id}/members/{user_id}: removes a member, or
// says what would go.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { countParts, findMember } from '../../../db/organizations/members.ts';
import { defineRoute } from '../../define.ts';
import { forbidden, requireRight, type Seat } from '../access.ts';
import { memberAct } from '../act.ts';
import { end, protectCanonical, removedBody } from '../ending.ts';
import type { RightName } from '../rights.ts';
import { noMember } from './answer.ts';
import { mayRemove } from './rank.ts';
import { memberParams, removedSchema } from './schema.ts';

export const removeMember = defineRoute({
  method: 'DELETE',
  path: '/api/enterprise/organizations/{organization_id}/members/{user_id}',
  operationId: 'removeOrganizationMember',
  summary: 'Remove a member',
  description:
    'Owners and admins nobody above them, managers members; `me`: you leave. Keys and MCP ' +
    'servers of the membership are gone at once, for good; private content waits 30 days for a ' +
    'return. With `preview=true` nothing is changed: it only tells what would go. The canonical ' +
    'owner is 409 `invalid_state`, reason `canonical_owner`.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: memberParams,
  query: v.object({ preview: v.optional(v.picklist(['true', 'false'])) }),
  replies: {
    200: {
      description: 'What went, or would go.',
      schema: v.strictObject({ ok: v.literal(true), removed: removedSchema }),
    },
  },
  problems: ['forbidden', 'not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, query, caller, services }) {
    const { organization_id: organizationId, user_id: named } = params;
    const right: RightName = named === 'me' ? 'members.leave' : 'members.remove';
    const answer = (parts: Parameters<typeof removedBody>[0]) => ({
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, removed: removedBody(parts) },
    });
    if (query.preview === 'true') {
      const { sql } = services;
      const seat = await requireRight(caller, organizationId, right, services);
      const member = await withDeadline(meant(seat, named, sql));
      return answer(await withDeadline(countParts(sql, member.accountId)));
    }
    const order = { caller, organizationId, right } as const;
    const parts = await memberAct(services, order, async (transaction, seat) => {
      const member = await meant(seat, named, transaction);
      const actor = { type: 'user', id: seat.userId } as const;
      const status = member.userId === seat.userId ? 'left' : 'removed';
      return end(transaction, seat.organization, member, { status, actor });
    });
    return answer(parts);
  },
});

/** The member that is meant and may go. @throws Problem not_found, forbidden, invalid_state */
async function meant(seat: Seat, named: string, sql: Parameters<typeof findMember>[0]) {
  const { organization, role } = seat;
  const userId = named === 'me' ? seat.userId : named;
  const member = await findMember(sql, organization.id, userId);
  if (member?.status !== 'active') throw noMember();
  if (userId !== seat.userId && !mayRemove(role, member.role)) {
    throw forbidden('Your role does not allow to remove this member.');
  }
  protectCanonical(organization, userId);
  return member;
}
