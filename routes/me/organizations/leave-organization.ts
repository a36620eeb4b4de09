// POST /api/me/organizations/{organization_id}/leave: the membership ends, and all that acts for
// it.
import * as v from 'valibot';
import { defineRoute } from '../../define.ts';
import { memberAct } from '../../organizations/act.ts';
import { end, removedBody } from '../../organizations/ending.ts';
import { removedSchema } from '../../organizations/members/schema.ts';
import { organizationParams } from '../../organizations/schema.ts';

export const leaveOrganization = defineRoute({
  method: 'POST',
  path: '/api/me/organizations/{organization_id}/leave',
  operationId: 'leaveOrganization',
  summary: 'Leave an organization',
  description:
    'Your API keys and MCP servers there are gone at once, for good. What you have made there ' +
    'waits 30 days for a return, and is erased then. The canonical owner is 409 ' +
    '`invalid_state`, reason `canonical_owner`.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: organizationParams,
  replies: {
    200: {
      description: 'What went.',
      schema: v.strictObject({ ok: v.literal(true), removed: removedSchema }),
    },
  },
  problems: ['forbidden', 'not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { organization_id: organizationId } = params;
    const order = { caller, organizationId, right: 'members.leave' } as const;
    const parts = await memberAct(services, order, (transaction, seat) => {
      const actor = { type: 'user', id: seat.userId } as const;
      return end(transaction, seat.organization, seat, { status: 'left', actor });
    });
    return { status: 200, json: { ok: true, removed: removedBody(parts) } };
  },
});
