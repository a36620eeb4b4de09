// POST /v1/messages/count_tokens: how many input tokens a message request has. Free.
import { countGeneration } from '../../actors/generation/count-request.ts';
import { rulesIn } from '../../actors/organization/rules.ts';
import { readCountRequest } from '../../media/model/dialects/messages/request.ts';
import { countRequestSchema } from '../../media/model/dialects/messages/schema.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { requireAllowed } from '../keys/allowed.ts';
import { shouldRetryHeader } from '../problems.ts';
import { messagesHeaders, readHeaders } from './headers.ts';
import { tokenCountSchema } from './schema.ts';

export const countMessageTokens = defineRoute({
  method: 'POST',
  path: '/v1/messages/count_tokens',
  aliases: ['/api/v1/messages/count_tokens'],
  operationId: 'countMessageTokens',
  summary: 'Count the input tokens of a message request',
  description:
    'Free. The count is that of the provider where it has one, else that of our tokenizer, and ' +
    'then `svc_estimated` is true. For a managed route it is the count of the first model of ' +
    'its pool. What is counted is what a generation would send, which is less than the request ' +
    'where the route or `optimization` shortens the context.',
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate' },
  cors: 'public',
  headers: messagesHeaders,
  body: {
    kind: 'json',
    schema: countRequestSchema,
    halves: 'replaced',
    bytesMax: fixedLimits.body.largeBytesMax,
    example: { model: 'svc-intelligent', messages: [{ role: 'user', content: 'Hello' }] },
  },
  replies: {
    200: {
      description: 'The count.',
      schema: tokenCountSchema,
      headers: { 'request-id': 'The id of this exchange.' },
    },
  },
  problems: ['invalid_request', 'model_not_found', 'policy_blocked'],
  problemHeaders: shouldRetryHeader,
  async handle({ body, caller, services, exchange }) {
    const seals = services.seals(caller.accountId);
    const sent = readCountRequest(body, readHeaders(exchange), seals);
    requireAllowed(caller, sent.model);
    const { inputTokens, estimated } = await countGeneration(
      caller.accountId,
      sent,
      rulesIn(caller.organization),
      services.generations,
    );
    return {
      status: 200,
      headers: { 'request-id': exchange.requestId },
      json: { input_tokens: inputTokens, svc_estimated: estimated },
    };
  },
});
