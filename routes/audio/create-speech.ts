// POST /v1/audio/speech: text to audio, passed through as it comes.
import * as v from 'valibot';
import { audioLimits } from '../../actors/audio/limits.ts';
import { openAudio } from '../../actors/audio/open.ts';
import { speechMediaTypes, speechVoices } from '../../media/model/audio.ts';
import type { Reply } from '../../runtime/http/route.ts';
import { countCharacters, maxCharacters } from '../../runtime/http/text.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { Problem, toProblem } from '../../runtime/problem.ts';
import { catalogOf } from '../callers-catalog.ts';
import { defineRoute } from '../define.ts';
import { leftNote } from '../generations/generate.ts';
import { orderAudio, requireModel } from './order.ts';
import { audioHeaders, audioProblemHeaders, audioProblems, audioReplyHeaders } from './problems.ts';
import { storedSpeech } from './stored.ts';

const { charactersMax } = audioLimits;
const bound = `At most ${charactersMax} Unicode characters (code points).`;

/** Specification 2.2. Bounds in characters are checked by the handler: a schema counts units. */
const speechSchema = v.strictObject({
  model: v.pipe(v.string(), v.minLength(1), maxCharacters(200)),
  input: v.pipe(v.string(), v.minLength(1), v.description(`The exact text to speak. ${bound}`)),
  voice: v.picklist(speechVoices),
  instructions: v.optional(v.pipe(v.string(), v.description(`Accent and delivery. ${bound}`))),
  response_format: v.optional(v.picklist(['mp3', 'wav']), 'mp3'),
  speed: v.optional(
    v.pipe(v.number(), v.minValue(0.25), v.maxValue(4), v.description('1.0 if absent.')),
  ),
});

const route = '/v1/audio/speech';

export const createSpeech = defineRoute({
  method: 'POST',
  path: route,
  aliases: ['/api/v1/audio/speech'],
  operationId: 'createSpeech',
  summary: 'Speak a text',
  description:
    'The audio is passed through as the provider sends it. Charged by Unicode characters of ' +
    '`input`: from its first byte on it is bought, also by a client that leaves; one that the ' +
    'provider does not complete costs nothing and ends in a cut connection. With an ' +
    'Idempotency-Key the audio is kept for 24 hours and replayed without a charge; while the ' +
    'first request with it runs, another one is 409 `conflict` with Retry-After.' +
    leftNote,
  tag: 'Audio',
  documents: ['model'],
  access: { kind: 'key', scope: 'audio:speech' },
  cors: 'public',
  headers: audioHeaders,
  body: {
    kind: 'json',
    schema: speechSchema,
    halves: 'replaced',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { model: 'svc-tts', voice: 'alloy', input: 'Hello' },
  },
  replies: {
    200: {
      description: 'The audio.',
      mediaType: speechMediaTypes.mp3,
      moreMediaTypes: [speechMediaTypes.wav, 'application/octet-stream'],
      headers: audioReplyHeaders,
    },
  },
  problems: audioProblems,
  problemHeaders: audioProblemHeaders,
  async handle({ body, caller, services, exchange }): Promise<Reply> {
    const { voice, response_format: format } = body;
    const { input } = body;
    const instructions = body.instructions ?? '';
    const model = requireModel(catalogOf(caller, services), caller, body.model, 'speech');
    const count = requireBound('input', input);
    requireBound('instructions', instructions);
    if (!Object.hasOwn(model.voices, voice)) {
      throw fieldProblem('voice', `The model has no voice '${voice}'.`);
    }
    const request = {
      input,
      voice,
      instructions: instructions === '' ? null : instructions,
      format,
      speed: body.speed ?? null,
    };
    const work = { kind: 'speech' as const, request, characters: count };
    const order = orderAudio({ model, work, asked: body, route, caller, services, exchange });
    const opened = await openAudio(services.audio, order, (gone) => exchange.onAbort(gone));
    const headers = { 'x-svc-request-id': opened.requestId };
    if (opened.kind === 'stored') return await storedSpeech(services, opened.stored, headers);
    const { opening, sink } = opened;
    if (opening.kind === 'audio') {
      const mediaType = speechMediaTypes[format];
      return { status: 200, mediaType, headers, pour: (stream) => sink.connect(stream) };
    }
    if (opening.kind !== 'failed') throw new Error(`speech opens as ${opening.kind}`);
    const { problem } = opening;
    throw toProblem({ ...problem, headers: { ...problem.headers, ...headers } });
  },
});

/** The count. @throws Problem input_too_long */
function requireBound(param: string, text: string): number {
  const count = countCharacters(text);
  if (count <= charactersMax) return count;
  throw new Problem('input_too_long', {
    message: `'${param}' has ${count} characters: at most ${charactersMax} are possible.`,
    param,
  });
}
