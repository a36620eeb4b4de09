// POST /v1/messages: one generation in the Messages format, streamed or whole.
import { messagesDialect } from '../../media/model/dialects/messages/dialect.ts';
import { messagesRequestSchema } from '../../media/model/dialects/messages/schema.ts';
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
import { messagesHeaders, readHeaders } from './headers.ts';
import { messageSchema } from './schema.ts';

export const createMessage = defineRoute({
  method: 'POST',
  path: '/v1/messages',
  aliases: ['/api/v1/messages'],
  operationId: 'createMessage',
  summary: 'Generate a message',
  description:
    'Messages-compatible generation; the key comes as `x-api-key` or as a bearer token. Unknown ' +
    'top-level members reach the vendor of the format at its own host, and others as far as an ' +
    'administrator lets them pass; what a provider is not told is named in ' +
    '`x-svc-dropped-members`. Unknown blocks reach a same-format provider. The same ' +
    'Idempotency-Key attaches to the running generation or replays the finished one, streamed ' +
    'or whole, and never charges twice. With `stream` the reply is the typed event sequence; ' +
    '`message_delta` and `message_stop` carry `svc_usage`, and progress of managed routes comes ' +
    'as `ping` events with `svc_progress`. Conversations held by the server (`thread`) are not ' +
    'offered: the refusal says so in `error.details.error_code`, as the format has it. ' +
    '`compaction` is for models of a same-format provider alone, and refused for others. Tools ' +
    'that the provider runs and bills beside tokens pass where `credits_per_tool_call` of the ' +
    'model names a price for them, else 400 at their path. Thinking of a model of another ' +
    'format has a `signature` that is sealed for the account: send it back as it came. A block ' +
    'whose signature was altered, or is another account’s, is left out. Ids of calls may be ' +
    'long: they carry what the model’s server wants back, so send them back whole.' +
    leftNotes,
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate' },
  cors: 'public',
  headers: {
    ...messagesHeaders,
    ...generationHeaders,
  },
  body: {
    kind: 'json',
    schema: messagesRequestSchema,
    halves: 'replaced',
    bytesMax: fixedLimits.body.largeBytesMax,
    example: {
      model: 'svc-intelligent',
      max_tokens: 500,
      messages: [{ role: 'user', content: 'Hello' }],
    },
  },
  replies: {
    200: {
      description: 'The message, or its stream when `stream` is true.',
      schema: messageSchema,
      mediaType: 'text/event-stream',
      headers: {
        ...generationReplyHeaders,
        'request-id': 'The id of this exchange.',
      },
    },
  },
  problems: generationProblems,
  problemHeaders: generationProblemHeaders,
  async handle({ body, caller, services, exchange }) {
    exchange.setHeader('request-id', exchange.requestId);
    const seals = services.seals(caller.accountId);
    return await generate(messagesDialect, {
      request: messagesDialect.readRequest(body, readHeaders(exchange), seals),
      body,
      caller,
      services,
      exchange,
      route: '/v1/messages',
      stream: body.stream === true,
    });
  },
});
