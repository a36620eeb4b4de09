// POST /v1/responses/input_tokens: how many input tokens a response would have, with the turns
// that it continues. Free, and nothing of it is stored.
import { countGeneration } from '../../actors/generation/count-request.ts';
import { rulesIn } from '../../actors/organization/rules.ts';
import { responsesRequestSchema } from '../../media/model/dialects/responses/schema.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import { requireAllowed } from '../keys/allowed.ts';
import { retryAfterHeader, shouldRetryHeader } from '../problems.ts';
import { continueConversation } from './conversation.ts';
import { withReferences } from './references.ts';
import { inputTokensSchema } from './schema.ts';

const route = '/v1/responses/input_tokens';

export const countResponseTokens = defineRoute({
  method: 'POST',
  path: route,
  aliases: ['/api/v1/responses/input_tokens'],
  operationId: 'countResponseTokens',
  summary: 'Count the input tokens of a response',
  description:
    'Free. The count is that of the provider where it has one, else that of our tokenizer, and ' +
    'then `svc_estimated` is true. For a managed route it is the count of the first model of ' +
    'its pool. What is counted is what a generation would send: with the turns before it where ' +
    '`previous_response_id` names them, and without what the route or `optimization` leaves out.',
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate' },
  cors: 'public',
  body: {
    kind: 'json',
    schema: responsesRequestSchema,
    halves: 'replaced',
    bytesMax: fixedLimits.body.largeBytesMax,
    example: { model: 'svc-intelligent', input: 'Hello' },
  },
  replies: { 200: { description: 'The count.', schema: inputTokensSchema } },
  problems: [
    'model_not_found',
    'policy_blocked',
    'not_found',
    'invalid_state',
    'conflict',
    'context_length_exceeded',
    'input_too_long',
    'dependency_unavailable',
  ],
  problemHeaders: { ...shouldRetryHeader, ...retryAfterHeader },
  async handle({ body, caller, services }) {
    requireAllowed(caller, body.model);
    const asker = { services, caller, route, idempotencyKey: null };
    const said = await withReferences(body, asker);
    const { request } = await continueConversation(said, {}, asker);
    const { inputTokens, estimated } = await countGeneration(
      caller.accountId,
      request,
      rulesIn(caller.organization),
      services.generations,
    );
    const json = { object: 'response.input_tokens' as const, input_tokens: inputTokens };
    return { status: 200, json: { ...json, svc_estimated: estimated } };
  },
});
