// GET /api/admin/video-jobs: jobs of all accounts, newest first.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { listVideoJobs } from '../../../db/video-jobs.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { statuses } from '../../video/schema.ts';
import { adminJobBody, adminJobSchema } from './schema.ts';

export const listAllJobs = defineRoute({
  method: 'GET',
  path: '/api/admin/video-jobs',
  operationId: 'listVideoJobs',
  summary: 'List video jobs of all accounts',
  description: 'With `account_id` those of one account.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({
    ...pageQuery.entries,
    account_id: v.optional(lineOfText(100)),
    status: v.optional(v.picklist(statuses)),
  }),
  replies: { 200: { description: 'A page of jobs.', schema: pageSchema(adminJobSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, afterId } = pageRequest(query);
    const page = { before: afterId, status: query.status ?? null, limit: limit + 1 };
    const jobs = await withDeadline(listVideoJobs(services.sql, query.account_id ?? null, page));
    const shown = jobs.slice(0, limit);
    const lastId = jobs.length > limit ? (shown.at(-1)?.id ?? null) : null;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(shown.map(adminJobBody), lastId) },
    };
  },
});
