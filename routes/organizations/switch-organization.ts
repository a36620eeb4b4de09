// POST /api/enterprise/organizations/{organization_id}/suspend and /activate: owners stop all that
// costs, and let it go on.
import * as v from 'valibot';
import { lineOfText } from '../../runtime/http/text.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { memberAct } from './act.ts';
import {
  expectedEntries,
  organizationAnswer,
  organizationParams,
  organizationReply,
} from './schema.ts';
import { activate, suspend } from './standing.ts';
import { readView } from './view.ts';

const switching = {
  suspend: {
    summary: 'Suspend an organization',
    description:
      'Nothing new is charged: calls are 403 `policy_blocked`, and what runs ends at what is ' +
      'held. Reading, removing and revoking stay possible. Doing it twice changes nothing.',
    work: suspend,
  },
  activate: {
    summary: 'Activate a suspended organization',
    description:
      'What an operator has suspended is 409 `invalid_state`, reason `suspended_by_operator`.',
    work: activate,
  },
} as const;

function switchRoute(verb: 'suspend' | 'activate') {
  const { summary, description, work } = switching[verb];
  return defineRoute({
    method: 'POST',
    path: `/api/enterprise/organizations/{organization_id}/${verb}`,
    operationId: `${verb}Organization`,
    summary,
    description,
    tag: 'Organizations',
    documents: ['account'],
    access: { kind: 'user', isPersonal: true },
    cors: 'web',
    params: organizationParams,
    body: {
      kind: 'json',
      bytesMax: fixedLimits.body.jsonBytesMax,
      example: { reason: 'We look at the bills first.' },
      schema: v.strictObject({ reason: lineOfText(1_000), ...expectedEntries }),
    },
    replies: { 200: { description: 'The organization.', schema: organizationReply } },
    problems: ['forbidden', 'not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
    async handle({ params, body, caller, services }) {
      const { organization_id: organizationId } = params;
      const { reason, expected_revision: expectedRevision } = body;
      const right = `organization.${verb}` as const;
      const order = { caller, organizationId, right, expectedRevision };
      await memberAct(services, order, (transaction, { organization, userId }) =>
        work(transaction, organization, { actor: { type: 'user', id: userId }, reason }),
      );
      return organizationAnswer(await readView(caller, organizationId, services));
    },
  });
}

export const suspendOrganization = switchRoute('suspend');
export const activateOrganization = switchRoute('activate');
