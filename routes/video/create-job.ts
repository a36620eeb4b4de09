// POST /v1/video/generations: a job that is paid for once and submitted once.

import { rulesIn } from '../../actors/organization/rules.ts';
import { videoRoute } from '../../actors/video/candidates.ts';
import { createVideoJob } from '../../actors/video/create.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { fingerprint, idempotencyKeyOf } from '../generations/idempotency.ts';
import { requireAllowed } from '../keys/allowed.ts';
import { payerOf } from '../payer.ts';
import { jobBody, jobHeaders, jobReplyHeaders } from './job-body.ts';
import { requestSchema } from './request.ts';
import { requestIdOf } from './request-id.ts';
import { jobReplySchema } from './schema.ts';

export const createJob = defineRoute({
  method: 'POST',
  path: '/v1/video/generations',
  aliases: ['/api/v1/video/generations'],
  operationId: 'createVideoGeneration',
  summary: 'Make a video',
  description:
    'The job is queued, and its price held: that of the dearest candidate. Charged is the price ' +
    'of the one that made the video, once it is stored; a job that fails or is cancelled costs ' +
    'nothing. The request is sent to one provider once, also over crashes of ours. A repeated ' +
    'Idempotency-Key (or `request_id`) is answered 200 with its job as it is now; one that ' +
    'failed frees its key. Poll `GET /v1/video/generations/{job_id}` after its Retry-After.',
  tag: 'Video',
  documents: ['account', 'model'],
  access: { kind: 'key-or-user', scope: 'video:generate' },
  cors: 'public',
  headers: {
    'idempotency-key': {
      description: 'Names the job for 24 hours. Letters, digits and `._:/-`, at most 160.',
    },
  },
  body: {
    kind: 'json',
    schema: requestSchema,
    halves: 'replaced',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { prompt: 'A paper boat on a lake', duration_seconds: 8 },
  },
  replies: {
    200: {
      description: 'The job that the key named before, as it is now.',
      schema: jobReplySchema,
      headers: jobReplyHeaders,
    },
    202: {
      description: 'The new job.',
      schema: jobReplySchema,
      headers: { ...jobReplyHeaders, location: 'Where it is read.' },
    },
  },
  problems: [
    'insufficient_credits',
    'spend_limit_exceeded',
    'model_not_found',
    'policy_blocked',
    'idempotency_key_reused',
    'concurrency_limited',
    'no_route_available',
    'overloaded',
    'conflict',
    'dependency_unavailable',
  ],
  async handle({ body, caller, services, exchange }) {
    const { video_model: exact = null } = body;
    requireAllowed(caller, exact ?? videoRoute, 'video_model');
    const requestId = requestIdOf(idempotencyKeyOf(exchange, body));
    const { job, isNew } = await createVideoJob(services.video.creation, {
      ...payerOf(caller),
      requestId,
      fingerprint: fingerprint(body),
      conversationId: body.conversation_id ?? null,
      exact,
      rules: rulesIn(caller.organization),
      settings: {
        prompt: body.prompt,
        durationSeconds: body.duration_seconds ?? null,
        aspectRatio: body.aspect_ratio,
        resolution: body.resolution,
        generateAudio: body.generate_audio,
        seed: body.seed ?? null,
      },
    });
    const headers = jobHeaders(job);
    if (isNew) headers.location = `/v1/video/generations/${job.id}`;
    return { status: isNew ? 202 : 200, headers, json: { ok: true, job: jobBody(job) } };
  },
});
