// POST /v1/chat/completions: one generation in the Chat Completions format, streamed or whole.
import { chatDialect } from '../../media/model/dialects/chat/dialect.ts';
import { chatRequestSchema } from '../../media/model/dialects/chat/schema.ts';
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
import { chatCompletionSchema } from './schema.ts';

export const createChatCompletion = defineRoute({
  method: 'POST',
  path: '/v1/chat/completions',
  aliases: ['/api/v1/chat/completions'],
  operationId: 'createChatCompletion',
  summary: 'Generate a chat completion',
  description:
    'Chat Completions-compatible generation. Unknown top-level members reach the vendor of the ' +
    'format at its own host, and others as far as an administrator lets them pass; what a ' +
    'provider is not told is named in `x-svc-dropped-members`: `seed`, the penalties and their ' +
    'like where the provider has none. `logprobs` that a model cannot tell are refused by their ' +
    'path, and `n` over 1. A call outside of `allowed_tools` is left out of the answer. The same ' +
    'Idempotency-Key attaches to the running generation or ' +
    'replays the finished one, streamed or whole, and never charges twice. With `stream` the ' +
    'reply is server-sent events that end with `data: [DONE]`; the last JSON event carries ' +
    '`svc_usage`. A client that disconnects after the first delta is charged for the whole ' +
    'answer and can fetch it with the same key for 24 hours. Images, files and ' +
    'sound are http, https or data URLs, in every generation format. Those, and the addresses ' +
    'of servers for tools, must be of the web: without a user, blanks or backslashes, under no ' +
    'special-use name (RFC 6761) and of no private network, else 400 at their path. Providers ' +
    'are sent the parsed form.' +
    leftNotes,
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate' },
  cors: 'public',
  headers: generationHeaders,
  body: {
    kind: 'json',
    schema: chatRequestSchema,
    halves: 'replaced',
    bytesMax: fixedLimits.body.largeBytesMax,
    example: { model: 'svc-intelligent', messages: [{ role: 'user', content: 'Hello' }] },
  },
  replies: {
    200: {
      description: 'The completion, or its stream when `stream` is true.',
      schema: chatCompletionSchema,
      mediaType: 'text/event-stream',
      headers: generationReplyHeaders,
    },
  },
  problems: generationProblems,
  problemHeaders: generationProblemHeaders,
  async handle({ body, caller, services, exchange }) {
    return await generate(chatDialect, {
      request: chatDialect.readRequest(body, {}),
      body,
      caller,
      services,
      exchange,
      route: '/v1/chat/completions',
      stream: body.stream === true,
      includeUsage: body.stream_options?.include_usage === true,
    });
  },
});
