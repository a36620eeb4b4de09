// GET /v1/video/generations/{job_id}: a job of the account as it is now.
import * as v from 'valibot';
import { defineRoute } from '../define.ts';
import { jobBody, jobHeaders, jobReplyHeaders } from './job-body.ts';
import { requireJob } from './require-job.ts';
import { jobReplySchema } from './schema.ts';

/** What is no id of ours is not found. */
export const jobParams = v.object({ job_id: v.pipe(v.string(), v.maxLength(100)) });

export const getJob = defineRoute({
  method: 'GET',
  path: '/v1/video/generations/{job_id}',
  aliases: ['/api/v1/video/generations/{job_id}'],
  operationId: 'getVideoGeneration',
  summary: 'Read a video job',
  description: 'Looking costs nothing.',
  tag: 'Video',
  documents: ['account', 'model'],
  access: { kind: 'key-or-user', scope: 'video:generate' },
  cors: 'public',
  params: jobParams,
  replies: {
    200: { description: 'The job.', schema: jobReplySchema, headers: jobReplyHeaders },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const job = await requireJob(services, caller.accountId, params.job_id);
    return { status: 200, headers: jobHeaders(job), json: { ok: true, job: jobBody(job) } };
  },
});
