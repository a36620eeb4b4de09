// POST /api/v1/llm/responses: one generation in the legacy desktop format, streamed or whole.
import { legacyDialect } from '../../media/model/dialects/legacy/dialect.ts';
import { legacyRequestSchema } from '../../media/model/dialects/legacy/schema.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import {
  generate,
  generationHeaders,
  generationProblemHeaders,
  generationProblems,
  generationReplyHeaders,
  leftNotes,
} from '../generations/generate.ts';
import { requireInput } from '../generations/input.ts';
import { legacyReplySchema } from './schema.ts';

const route = '/api/v1/llm/responses';

export const createLegacyResponse = defineRoute({
  method: 'POST',
  path: route,
  operationId: 'createLegacyResponse',
  summary: 'Generate a response in the legacy desktop format',
  description:
    'A request id is generated when `request_id` is omitted. With `stream` the reply is ' +
    'server-sent events: `progress` before the answer, `delta` with its `text`, then `done` ' +
    'with the whole reply, or `error` in the envelope of this route.' +
    leftNotes,
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate' },
  cors: 'public',
  headers: generationHeaders,
  body: {
    kind: 'json',
    schema: legacyRequestSchema,
    halves: 'replaced',
    bytesMax: fixedLimits.body.largeBytesMax,
    example: { model: 'svc-intelligent', messages: [{ role: 'user', content: 'Hello' }] },
  },
  replies: {
    200: {
      description: 'The reply, or its stream when `stream` is true.',
      schema: legacyReplySchema,
      mediaType: 'text/event-stream',
      headers: generationReplyHeaders,
    },
  },
  problems: generationProblems,
  problemHeaders: generationProblemHeaders,
  async handle({ body, caller, services, exchange }) {
    const request = legacyDialect.readRequest(body, {}, services.seals(caller.accountId));
    requireInput(request);
    return await generate(legacyDialect, {
      request,
      body,
      caller,
      services,
      exchange,
      route,
      stream: body.stream === true,
    });
  },
});
