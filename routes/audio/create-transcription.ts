// POST /v1/audio/transcriptions: a recording to text. What it is and how long is found by decoding
// it, whatever its name and headers say.
import { strict as assert } from 'node:assert';
import * as v from 'valibot';
import { audioLimits } from '../../actors/audio/limits.ts';
import { type AudioServices, openAudio } from '../../actors/audio/open.ts';
import { leastTranscription } from '../../actors/audio/state.ts';
import { requireFunds } from '../../actors/billed-request/funds-look.ts';
import type { Exchange, Reply } from '../../runtime/http/route.ts';
import { maxCharacters } from '../../runtime/http/text.ts';
import { Problem, toProblem } from '../../runtime/problem.ts';
import { catalogOf } from '../callers-catalog.ts';
import { defineRoute } from '../define.ts';
import { fundedOrRetry } from '../generations/funds.ts';
import { leftNote } from '../generations/generate.ts';
import { idempotencyKeyOf } from '../generations/idempotency.ts';
import { payerOf } from '../payer.ts';
import { inspectRecording } from './inspect.ts';
import { orderAudio, requireModel } from './order.ts';
import { audioHeaders, audioProblemHeaders, audioProblems, audioReplyHeaders } from './problems.ts';

const { fileBytesMax, secondsMax } = audioLimits;
const route = '/v1/audio/transcriptions';

/** Specification 2.3. */
const fieldsSchema = v.strictObject({
  model: v.pipe(v.string(), v.minLength(1), maxCharacters(200)),
  response_format: v.optional(v.picklist(['json'])),
  language: v.optional(
    v.pipe(v.string(), v.regex(/^[a-z]{2}$/, 'expected two small letters (ISO 639-1)')),
  ),
});

const transcriptionSchema = v.strictObject({
  text: v.string(),
  usage: v.optional(
    v.strictObject({
      type: v.literal('duration'),
      seconds: v.pipe(v.number(), v.minValue(0), v.maxValue(secondsMax)),
    }),
  ),
});

export const createTranscription = defineRoute({
  method: 'POST',
  path: route,
  aliases: ['/api/v1/audio/transcriptions'],
  operationId: 'createTranscription',
  summary: 'Transcribe a recording',
  description:
    'WebM or Ogg with Opus, M4A or MP4 with AAC, MP3 or WAV, of at most 3 MiB and 120 seconds; ' +
    'file name and media type must say what it is (`unprocessable_media`). The length is that of ' +
    'the decoded audio (`input_too_long`). An empty recording, or one of digital silence, is ' +
    'answered with an empty text, costs nothing and has no `x-svc-request-id`: no provider was ' +
    'asked. Charged by the second, as `usage` says. With an Idempotency-Key the text is ' +
    'replayed for 24 hours. A wallet without credits is refused before its recording is decoded, ' +
    'silent or not; only a file without a byte is free for it.' +
    leftNote,
  tag: 'Audio',
  documents: ['model'],
  access: { kind: 'key', scope: 'audio:transcribe' },
  cors: 'public',
  headers: audioHeaders,
  body: {
    kind: 'multipart',
    schema: fieldsSchema,
    bytesMax: audioLimits.transcriptionBytesMax,
    files: { file: { required: true, bytesMax: fileBytesMax } },
  },
  replies: {
    200: { description: 'The text.', schema: transcriptionSchema, headers: audioReplyHeaders },
  },
  problems: [...audioProblems, 'unprocessable_media'],
  problemHeaders: audioProblemHeaders,
  async handle({ body, files, caller, services, exchange }): Promise<Reply> {
    const { file } = files;
    assert(file !== undefined);
    const model = requireModel(catalogOf(caller, services), caller, body.model, 'transcription');
    const keyed = { services, caller, route, idempotencyKey: idempotencyKeyOf(exchange, {}) };
    const leastMicros = file.bytes.length === 0 ? 0n : leastTranscription(model);
    await fundedOrRetry(keyed, requireFunds(services.audio, payerOf(caller), leastMicros));
    takeMemory(services.audio, caller.accountId, exchange, file.bytes.length);
    const inspected = await inspectRecording(services, caller.accountId, file);
    const { container, seconds, isSilent, sha256 } = inspected;
    if (isSilent) return replyWith('', seconds, {});
    const { language = null } = body;
    const request = { bytes: file.bytes, container, language };
    const work = { kind: 'transcription' as const, request, seconds };
    const asked = { model: body.model, language, sha256 };
    const order = orderAudio({ model, work, asked, route, caller, services, exchange });
    const opened = await openAudio(services.audio, order, (gone) => exchange.onAbort(gone));
    const headers = { 'x-svc-request-id': opened.requestId };
    if (opened.kind === 'stored') {
      assert(opened.stored.type === 'transcript', 'speech is no transcript');
      return replyWith(opened.stored.text, opened.stored.seconds, headers);
    }
    const { opening } = opened;
    if (opening.kind === 'transcript') return replyWith(opening.text, opening.seconds, headers);
    assert(opening.kind === 'failed', `a transcription opens as ${opening.kind}`);
    throw toProblem({ ...opening.problem, headers: { ...opening.problem.headers, ...headers } });
  },
});

/** A recording is kept while it waits for its programs and its provider. */
function takeMemory(
  { recordings }: AudioServices,
  accountId: string,
  exchange: Exchange,
  bytes: number,
): void {
  if (!recordings.take(accountId, bytes)) {
    throw new Problem('overloaded', { headers: { 'retry-after': '2' } });
  }
  exchange.onFinish(() => recordings.give(accountId, bytes));
}

function replyWith(text: string, seconds: number, headers: Record<string, string>): Reply {
  const usage = { type: 'duration' as const, seconds: Math.round(seconds * 1_000) / 1_000 };
  return { status: 200, headers, json: { text, usage } };
}
