// POST /api/enterprise/organizations/{organization_id}/close: the end of an organization.
import * as v from 'valibot';
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
import { close, requireName } from './standing.ts';
import { readView } from './view.ts';

export const closeOrganization = defineRoute({
  method: 'POST',
  path: '/api/enterprise/organizations/{organization_id}/close',
  operationId: 'closeOrganization',
  summary: 'Close an organization for good',
  description:
    'The canonical owner alone, with a sign-in within the last 10 minutes, else 403 with the ' +
    'reason `reauthenticate`. `confirm` is the name of the organization. All keys end at once; ' +
    'after 30 days the content is erased, and ledger and audit stay. 409 `invalid_state`, reason ' +
    '`legal_hold`, while it is on legal hold.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  params: organizationParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { confirm: 'Acme GmbH' },
    schema: v.strictObject({ confirm: lineOfText(120), ...expectedEntries }),
  },
  replies: { 200: { description: 'The organization.', schema: organizationReply } },
  problems: [
    ...(['invalid_request', 'forbidden', 'not_found', 'conflict', 'invalid_state'] as const),
    'dependency_unavailable',
  ],
  async handle({ params, body, caller, services }) {
    const { organization_id: organizationId } = params;
    const expectedRevision = body.expected_revision;
    const order = {
      caller,
      organizationId,
      right: 'organization.close',
      expectedRevision,
    } as const;
    await memberAct(services, order, (transaction, { organization, userId }) => {
      requireFresh(caller);
      requireName(organization, body.confirm);
      const actor = { type: 'user', id: userId } as const;
      return close(transaction, organization, { actor, reason: null });
    });
    return organizationAnswer(await readView(caller, organizationId, services));
  },
});
