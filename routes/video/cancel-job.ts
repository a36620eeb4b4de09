// POST /v1/video/generations/{job_id}/cancel: ends a job that nobody has submitted yet.
import { cancelVideoJob } from '../../actors/video/services.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { jobParams } from './get-job.ts';
import { jobBody, jobHeaders, jobReplyHeaders } from './job-body.ts';
import { requireJob } from './require-job.ts';
import { jobReplySchema } from './schema.ts';

export const cancelJob = defineRoute({
  method: 'POST',
  path: '/v1/video/generations/{job_id}/cancel',
  aliases: ['/api/v1/video/generations/{job_id}/cancel'],
  operationId: 'cancelVideoGeneration',
  summary: 'Cancel a video job',
  description:
    'While it is `queued`, and again once it is `cancelled`. What was submitted to a provider ' +
    'cannot be cancelled there: 409 `invalid_state`.',
  tag: 'Video',
  documents: ['account', 'model'],
  access: { kind: 'key-or-user', scope: 'video:generate', isForSuspended: true },
  cors: 'public',
  params: jobParams,
  replies: {
    200: { description: 'The cancelled job.', schema: jobReplySchema, headers: jobReplyHeaders },
  },
  problems: ['not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const before = await requireJob(services, caller.accountId, params.job_id);
    const reply = await cancelVideoJob(services.video, before.id);
    if (reply === 'unavailable') {
      throw new Problem('dependency_unavailable', { headers: { 'retry-after': '1' } });
    }
    const job = await requireJob(services, caller.accountId, before.id);
    if (job.status !== 'cancelled') {
      throw new Problem('invalid_state', { message: `The job is ${job.status}.` });
    }
    return { status: 200, headers: jobHeaders(job), json: { ok: true, job: jobBody(job) } };
  },
});
