// POST /api/admin/video-jobs/{job_id}/fail: ends a job that is not over; its hold goes back.
import * as v from 'valibot';
import { videoLimits } from '../../../actors/video/limits.ts';
import { failVideoJob } from '../../../actors/video/services.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { jobParams } from '../../video/get-job.ts';
import { requireJob } from '../../video/require-job.ts';
import { adminJobReply } from './get-job.ts';
import { adminJobBody } from './schema.ts';

export const failJob = defineRoute({
  method: 'POST',
  path: '/api/admin/video-jobs/{job_id}/fail',
  operationId: 'failVideoJob',
  summary: 'End a video job',
  description:
    'The job fails with `operator_failed`, and nothing is charged. What a provider makes of it ' +
    'is not fetched any more. Of a job that is over: 409 `invalid_state`.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: jobParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { reason: 'the provider is gone' },
    schema: v.strictObject({ reason: lineOfText(videoLimits.reasonCharactersMax) }),
  },
  replies: { 200: { description: 'The job after its end.', schema: adminJobReply } },
  problems: ['not_found', 'invalid_state', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const before = await requireJob(services, null, params.job_id);
    const request = { reason: body.reason, accountId: caller.accountId };
    const reply = await failVideoJob(services.video, before.id, request);
    if (reply === 'unavailable') {
      throw new Problem('dependency_unavailable', { headers: { 'retry-after': '1' } });
    }
    const job = await requireJob(services, null, before.id);
    if (reply !== 'ended') {
      throw new Problem('invalid_state', { message: `The job is ${job.status}.` });
    }
    return { status: 200, json: { ok: true, job: adminJobBody(job) } };
  },
});
