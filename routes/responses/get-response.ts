// GET /v1/responses/{response_id}: a stored response as it stands, or its stream from any event on.
import * as v from 'valibot';
import { maxCharacters } from '../../runtime/http/text.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { defineRoute } from '../define.ts';
import { retryAfterHeader } from '../problems.ts';
import { responseSchema } from './schema.ts';
import { requireResponse, storedBody } from './stored.ts';
import { streamStored } from './stream.ts';

export const responseParams = v.object({ response_id: v.pipe(v.string(), maxCharacters(64)) });

const included = v.optional(v.pipe(v.array(v.string()), v.maxLength(32)));

export const getResponse = defineRoute({
  method: 'GET',
  path: '/v1/responses/{response_id}',
  aliases: ['/api/v1/responses/{response_id}'],
  operationId: 'getResponse',
  summary: 'Read a stored response',
  description:
    'Responses of the own account are kept for 24 hours unless they were made with ' +
    '`store: false`. A response that is still running is `in_progress` and has no output yet. ' +
    'With `stream=true` the reply is its event sequence, whether it still runs or has ended: the ' +
    'same events with the same numbers for every reader. `starting_after` leaves out the events ' +
    'up to that number; only responses made with `background: true` have it, since of others the ' +
    'single deltas are not kept. Reading a stream is free and cancels nothing when it breaks off.',
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate', isUncounted: true },
  cors: 'public',
  params: responseParams,
  query: v.object({
    stream: v.optional(v.boolean()),
    starting_after: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
    include: included,
    'include[]': included,
    include_obfuscation: v.optional(v.boolean()),
  }),
  replies: {
    200: {
      description: 'The response, or its stream when `stream` is true.',
      schema: responseSchema,
      mediaType: 'text/event-stream',
      headers: { 'x-svc-request-id': 'Our id of the generation.' },
    },
  },
  problems: ['not_found', 'conflict', 'overloaded', 'dependency_unavailable'],
  problemHeaders: retryAfterHeader,
  async handle({ params, query, caller, services, exchange }) {
    const include = [...(query.include ?? []), ...(query['include[]'] ?? [])];
    const stored = await requireResponse(services, caller, params.response_id, include);
    const startingAfter = query.starting_after ?? null;
    if (query.stream !== true) {
      if (startingAfter !== null) throw fieldProblem('starting_after', 'Only streams have it.');
      const headers = { 'cache-control': 'no-store', 'x-svc-request-id': stored.generation.id };
      return { status: 200, headers, json: storedBody(services, stored) };
    }
    if (startingAfter !== null && !stored.background) {
      const message = 'Only a background response can be streamed from one of its events on.';
      throw fieldProblem('starting_after', message);
    }
    return await streamStored(services, stored, startingAfter, exchange);
  },
});
