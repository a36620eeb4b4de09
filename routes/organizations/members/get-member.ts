// GET /api/enterprise/organizations/{organization_id}/members/{user_id}: one member, or `me`.
import { withDeadline } from '../../../db/driver/sql.ts';
import { defineRoute } from '../../define.ts';
import { requireRight } from '../access.ts';
import { memberAnswer, noMember } from './answer.ts';
import { memberParams, memberReply, seesOthers } from './schema.ts';

export const getMember = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/members/{user_id}',
  operationId: 'getOrganizationMember',
  summary: 'Read a member',
  description: '`me`: yourself. Others by the rule of the directory, else 404.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: memberParams,
  replies: { 200: { description: 'The member.', schema: memberReply } },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const id = params.organization_id;
    const seat = await requireRight(caller, id, 'members.read', services);
    const userId = params.user_id === 'me' ? seat.userId : params.user_id;
    if (userId !== seat.userId && !seesOthers(seat)) throw noMember();
    return withDeadline(memberAnswer(services, seat.organization, userId));
  },
});
