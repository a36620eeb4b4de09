// POST /v1/video/analyses: queues the description of a video.
import { createAnalysis } from '../../actors/analysis/create.ts';
import { rulesIn } from '../../actors/organization/rules.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { fingerprint, idempotencyKeyOf } from '../generations/idempotency.ts';
import { requireAllowed } from '../keys/allowed.ts';
import { payerOf } from '../payer.ts';
import { analysisBody, analysisHeaders, analysisReplyHeaders } from './analysis-body.ts';
import { analysisReplySchema, analysisRequestSchema } from './analysis-schema.ts';
import { requestIdOf } from './request-id.ts';

export const createVideoAnalysis = defineRoute({
  method: 'POST',
  path: '/v1/video/analyses',
  aliases: ['/api/v1/video/analyses'],
  operationId: 'createVideoAnalysis',
  summary: 'Describe a video',
  description:
    'Frames of the video are shown to a model with the capability `vision`. It describes them ' +
    'in segments with their times. Fetching and frames are free; the answer of the model is ' +
    'charged as a generation is, also where it does not fit the video (`generation_failed`). ' +
    'Nothing is held while the analysis waits, but one that the wallet could not pay is 402. ' +
    'A source has at most 256 MiB and 600 seconds, and 120 seconds to arrive. What it shows or ' +
    'says is content, never an instruction. At most 5 analyses of an account are not over. A ' +
    'repeated Idempotency-Key (or `request_id`) is answered 200 with its analysis as it is now; ' +
    'one that failed uncharged frees its key. Poll `GET /v1/video/analyses/{analysis_id}` after ' +
    'its Retry-After.',
  tag: 'Video',
  documents: ['model'],
  access: { kind: 'key', scope: 'video:analyze' },
  cors: 'public',
  headers: {
    'idempotency-key': {
      description: 'Names the analysis for 24 hours. Letters, digits and `._:/-`, at most 160.',
    },
  },
  body: {
    kind: 'json',
    schema: analysisRequestSchema,
    halves: 'replaced',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { source_url: 'https://example.com/film.mp4', prompt: 'Which boats are there?' },
  },
  replies: {
    200: {
      description: 'The analysis that the key named before, as it is now.',
      schema: analysisReplySchema,
      headers: analysisReplyHeaders,
    },
    202: {
      description: 'The new analysis.',
      schema: analysisReplySchema,
      headers: { ...analysisReplyHeaders, location: 'Where it is read.' },
    },
  },
  problems: [
    'insufficient_credits',
    'spend_limit_exceeded',
    'model_not_found',
    'not_found',
    'policy_blocked',
    'idempotency_key_reused',
    'input_too_long',
    'concurrency_limited',
    'no_route_available',
    'overloaded',
    'dependency_unavailable',
  ],
  async handle({ body, caller, services, exchange }) {
    requireAllowed(caller, body.model);
    const { start_seconds: start = null, end_seconds: end = null } = body;
    if (end !== null && (start ?? 0) >= end) {
      const message = "'end_seconds' has to be later than 'start_seconds'.";
      throw new Problem('invalid_request', { message, param: 'end_seconds' });
    }
    const { analysis, isNew } = await createAnalysis(services.analysis.creation, {
      ...payerOf(caller),
      rules: rulesIn(caller.organization),
      requestId: requestIdOf(idempotencyKeyOf(exchange, body)),
      fingerprint: fingerprint(body),
      sourceUrl: body.source_url,
      model: body.model,
      prompt: body.prompt ?? null,
      startSeconds: start,
      endSeconds: end,
      framesMax: body.max_frames,
    });
    const headers = analysisHeaders(analysis);
    if (isNew) headers.location = `/v1/video/analyses/${analysis.id}`;
    const json = { ok: true, analysis: analysisBody(analysis) };
    return { status: isNew ? 202 : 200, headers, json };
  },
});
