// GET /v1/video/generations: the jobs of the account, newest first, a page at a time.
import * as v from 'valibot';
import { withDeadline } from '../../db/driver/sql.ts';
import { listVideoJobs } from '../../db/video-jobs.ts';
import { defineRoute } from '../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../page.ts';
import { jobBody } from './job-body.ts';
import { jobSchema, statuses } from './schema.ts';

export const listJobs = defineRoute({
  method: 'GET',
  path: '/v1/video/generations',
  aliases: ['/api/v1/video/generations'],
  operationId: 'listVideoGenerations',
  summary: 'List video jobs',
  tag: 'Video',
  documents: ['account', 'model'],
  access: { kind: 'key-or-user', scope: 'video:generate' },
  cors: 'public',
  query: v.object({ ...pageQuery.entries, status: v.optional(v.picklist(statuses)) }),
  replies: { 200: { description: 'A page of jobs.', schema: pageSchema(jobSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, caller, services }) {
    const { limit, afterId } = pageRequest(query);
    const page = { before: afterId, status: query.status ?? null, limit: limit + 1 };
    const jobs = await withDeadline(listVideoJobs(services.sql, caller.accountId, page));
    const shown = jobs.slice(0, limit);
    const lastId = jobs.length > limit ? (shown.at(-1)?.id ?? null) : null;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(shown.map(jobBody), lastId) },
    };
  },
});
