// GET /api/admin/video-jobs/{job_id}: a job of any account.
import * as v from 'valibot';
import { defineRoute } from '../../define.ts';
import { jobParams } from '../../video/get-job.ts';
import { requireJob } from '../../video/require-job.ts';
import { adminJobBody, adminJobSchema } from './schema.ts';

export const adminJobReply = v.strictObject({ ok: v.literal(true), job: adminJobSchema });

export const getAnyJob = defineRoute({
  method: 'GET',
  path: '/api/admin/video-jobs/{job_id}',
  operationId: 'getVideoJob',
  summary: 'Read a video job of any account',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: jobParams,
  replies: { 200: { description: 'The job.', schema: adminJobReply } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, services }) {
    const job = await requireJob(services, null, params.job_id);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, job: adminJobBody(job) },
    };
  },
});
