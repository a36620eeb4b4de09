// POST /api/admin/organizations/{organization_id}/suspend, /activate and /close, by an operator.
import { defineRoute } from '../../define.ts';
import { noOrganization, organizationIdOf } from '../../organizations/access.ts';
import { requireRevision, runAct } from '../../organizations/act.ts';
import { organizationParams } from '../../organizations/schema.ts';
import { activate, close, suspend } from '../../organizations/standing.ts';
import { adminReplies, readAdminAnswer, reasonBody } from './schema.ts';

const switching = {
  suspend: {
    summary: 'Suspend an organization',
    description: 'Its owners cannot activate it. Doing it twice changes nothing.',
    work: suspend,
  },
  activate: {
    summary: 'Activate a suspended organization',
    description: 'Whoever has suspended it.',
    work: activate,
  },
  close: {
    summary: 'Close an organization for good',
    description: '409 `invalid_state`, reason `legal_hold`, while it is on legal hold.',
    work: close,
  },
} as const;

type Verb = keyof typeof switching;

const titleOf = (verb: Verb) => verb[0]?.toUpperCase() + verb.slice(1);

function switchRoute(verb: Verb) {
  const { summary, description, work } = switching[verb];
  return defineRoute({
    method: 'POST',
    path: `/api/admin/organizations/{organization_id}/${verb}`,
    operationId: `admin${titleOf(verb)}Organization`,
    summary,
    description: `${description} The reason stands in the audit of the organization.`,
    tag: 'Administration',
    documents: ['account'],
    access: { kind: 'admin' },
    cors: 'web',
    params: organizationParams,
    body: reasonBody,
    replies: adminReplies,
    problems: ['not_found', 'conflict', 'invalid_state', 'dependency_unavailable'],
    async handle({ params, body, caller, services }) {
      const id = organizationIdOf(params.organization_id);
      const actor = { type: 'operator', id: caller.accountId } as const;
      const done = await runAct(services, id, async (transaction, organization) => {
        requireRevision(organization.revision, body.expected_revision);
        const acted = await work(transaction, organization, { actor, reason: body.reason });
        return { ...acted, result: true };
      });
      if (done === null) throw noOrganization();
      return readAdminAnswer(services, id);
    },
  });
}

export const adminSuspendOrganization = switchRoute('suspend');
export const adminActivateOrganization = switchRoute('activate');
export const adminCloseOrganization = switchRoute('close');
