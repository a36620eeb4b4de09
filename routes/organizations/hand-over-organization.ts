// POST /api/enterprise/organizations/{organization_id}/owner: another canonical owner.
import * as v from 'valibot';
import { organizationRoles } from '../../db/organizations/role.ts';
import { lineOfText } from '../../runtime/http/text.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { requireFresh } from '../identity/sign-in.ts';
import { memberAct } from './act.ts';
import {
  expectedEntries,
  organizationAnswer,
  organizationParams,
  organizationReply,
} from './schema.ts';
import { handOver, requireName } from './standing.ts';
import { readView } from './view.ts';

export const handOverOrganization = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations/{organization_id}/owner',
  operationId: 'handOverOrganization',
  summary: 'Make another member the canonical owner',
  description:
    'The canonical owner alone, with a sign-in within the last 10 minutes, else 403 with the ' +
    'reason `reauthenticate`. `confirm` is the name of the organization, `user_id` an active ' +
    'member, who becomes an owner. You stay one.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { user_id: 'acc_019ab2c3d4e5f60718293a4b', confirm: 'Acme GmbH' },
    schema: v.strictObject({
      user_id: lineOfText(100),
      confirm: lineOfText(120),
      ...expectedEntries,
    }),
  },
  replies: { 200: { description: 'The organization.', schema: organizationReply } },
  problems: [
    ...(['invalid_request', 'forbidden', 'not_found', 'conflict', 'invalid_state'] as const),
    'dependency_unavailable',
  ],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId } = params;
    const expectedRevision = body.expected_revision;
    const right = 'organization.hand_over';
    const order = { caller, organizationId, right, expectedRevision } as const;
    await memberAct(services, order, (transaction, { organization, userId }) => {
      requireFresh(caller);
      requireName(organization, body.confirm);
      const actor = { type: 'user', id: userId } as const;
      const heir = { userId: body.user_id, roles: organizationRoles };
      return handOver(transaction, organization, heir, { actor, reason: null });
    });
    return organizationAnswer(await readView(caller, organizationId, services));
  },
});
