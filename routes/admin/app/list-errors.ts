// GET /api/admin/errors: groups of errors of apps, those that came last first.
import * as v from 'valibot';
import { listErrors, severities } from '../../../db/app/errors.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageSchema } from '../../page.ts';
import { timedReply, timedRequest } from '../timed-page.ts';
import { errorBody, errorSchema } from './error-schema.ts';

export const listAdminErrors = defineRoute({
  method: 'GET',
  path: '/api/admin/errors',
  operationId: 'listAppErrors',
  summary: 'List errors of apps',
  description:
    'Groups of errors that are alike, those that came last first. The group `other` has what ' +
    'came when there were 10,000 groups. A group goes 90 days after its last error.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({
    ...pageQuery.entries,
    platform: v.optional(lineOfText(200)),
    severity: v.optional(v.picklist(severities)),
    resolved: v.optional(v.boolean()),
  }),
  replies: { 200: { description: 'A page of groups.', schema: pageSchema(errorSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, before } = timedRequest(query);
    const { platform = null, severity = null, resolved = null } = query;
    const filter = { platform, severity, resolved };
    const rows = await withDeadline(listErrors(services.sql, filter, limit + 1, before));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...timedReply(rows, limit, errorBody) },
    };
  },
});
