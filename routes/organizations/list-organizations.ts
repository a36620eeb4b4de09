// GET /api/enterprise/organizations: those that the person is a member of.
import { withDeadline } from '../../db/driver/sql.ts';
import { listMemberships } from '../../db/organizations/records.ts';
import { defineRoute } from '../define.ts';
import { pageReply, pageSchema } from '../page.ts';
import { seatOf } from './access.ts';
import { organizationSchema } from './schema.ts';
import { viewOf } from './view.ts';

export const listOrganizations = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations',
  operationId: 'listOrganizations',
  summary: 'List the organizations that you are a member of',
  description: 'All of them, in the order in which you joined.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  replies: { 200: { description: 'The list.', schema: pageSchema(organizationSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ caller, services }) {
    const userId = caller.personId;
    const memberships = await withDeadline(listMemberships(services.sql, userId));
    const views = memberships.map((each) => viewOf(seatOf(each, userId), services));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(await Promise.all(views), null) },
    };
  },
});
