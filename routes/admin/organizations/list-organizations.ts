// GET /api/admin/organizations: all of them, by their ids.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { listOrganizations } from '../../../db/organizations/records.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { defineRoute } from '../../define.ts';
import { statusSchema } from '../../organizations/schema.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { adminBody, adminOrganizationSchema } from './schema.ts';

export const listAdminOrganizations = defineRoute({
  method: 'GET',
  path: '/api/admin/organizations',
  operationId: 'listAdminOrganizations',
  summary: 'List or search organizations',
  description:
    'By their ids. `search` is an id, a part of a name in any case, or the beginning of a slug.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({
    ...pageQuery.entries,
    search: v.optional(lineOfText(120)),
    status: v.optional(statusSchema),
  }),
  replies: {
    200: { description: 'A page of organizations.', schema: pageSchema(adminOrganizationSchema) },
  },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, afterId } = pageRequest(query, /^[1-9]\d{5,9}$/);
    const filter = { search: query.search ?? null, status: query.status ?? null };
    const after = afterId === null ? null : Number(afterId);
    const page = await withDeadline(listOrganizations(services.sql, filter, limit, after));
    const last = page.nextCursor === null ? null : `${page.nextCursor}`;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(page.organizations.map(adminBody), last) },
    };
  },
});
