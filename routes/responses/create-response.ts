// POST /v1/responses: one generation in the Responses format, streamed or whole.

import type { MakeSink } from '../../actors/generation/open.ts';
import { startGeneration } from '../../actors/generation/start.ts';
import { emptyAnswer } from '../../media/model/answer.ts';
import type { ReplyIdentity, ReplyOptions } from '../../media/model/dialects/contract.ts';
import { responsesDialect } from '../../media/model/dialects/responses/dialect.ts';
import { responseObject } from '../../media/model/dialects/responses/response.ts';
import { responsesRequestSchema } from '../../media/model/dialects/responses/schema.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';
import {
  generationHeaders,
  generationProblemHeaders,
  generationProblems,
  generationReplyHeaders,
  leftNotes,
} from '../generations/generate.ts';
import { idempotencyKeyOf } from '../generations/idempotency.ts';
import { requireInput } from '../generations/input.ts';
import { replyTo } from '../generations/reply.ts';
import { isManaged, wantedBy } from '../generations/wanted.ts';
import { continueConversation } from './conversation.ts';
import { requireFundsToRead } from './funds.ts';
import { withReferences } from './references.ts';
import { responseSchema } from './schema.ts';
import { openStored, type StoreRequest } from './storing.ts';

const route = '/v1/responses';

export const createResponse = defineRoute({
  method: 'POST',
  path: route,
  aliases: ['/api/v1/responses'],
  operationId: 'createResponse',
  summary: 'Generate a response',
  description:
    'Responses-compatible generation. Unknown members reach the vendor of the format at its own ' +
    'host, others as far as an administrator lets them pass; what a provider is not told is ' +
    'named in `x-svc-dropped-members`. Settings are translated where a model has the like; ' +
    'logprobs that it cannot tell are refused. Native tools reach models of that format alone. ' +
    'A call outside of `allowed_tools` is left out of the answer. ' +
    'The same Idempotency-Key attaches to the running generation or replays the finished one, ' +
    'and never charges twice. With `stream` the reply is the typed event sequence, numbered by ' +
    '`sequence_number`; its last event has `svc_usage`. Tools that the provider runs and bills ' +
    'beside tokens (web search, code, files, images, containers, types that nobody knows) pass ' +
    'where `credits_per_tool_call` of the model names a price for them, else 400 at their path; ' +
    'they are charged by the call. Responses are stored for 24 hours unless `store` is false; ' +
    '`previous_response_id` continues one of the own account, with its input and output but not ' +
    'its instructions: 404 when it is unknown, expired or deleted, 409 while it is running or ' +
    'when it failed. A conversation of more than 200 turns or 16 MiB is not continued: 400. With ' +
    '`background` the reply is the `queued` response; it runs whoever listens, counts among the ' +
    'open requests of its key, is read, streamed from any event on, or cancelled by its id. ' +
    '`encrypted_content` of reasoning is sealed for the account: send it back as it came. One ' +
    'that was altered, or is another account’s, is left out. Reasoning without it is looked up ' +
    'by its id. A long `call_id` carries what the server wants back: send it back whole.' +
    leftNotes,
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate' },
  cors: 'public',
  headers: generationHeaders,
  body: {
    kind: 'json',
    schema: responsesRequestSchema,
    halves: 'replaced',
    bytesMax: fixedLimits.body.largeBytesMax,
    example: { model: 'svc-intelligent', input: 'Hello' },
  },
  replies: {
    200: {
      description: 'The response, or its stream when `stream` is true.',
      schema: responseSchema,
      mediaType: 'text/event-stream',
      headers: generationReplyHeaders,
    },
  },
  problems: [...generationProblems, 'not_found', 'invalid_state'],
  problemHeaders: generationProblemHeaders,
  async handle({ body, caller, services, exchange }) {
    const background = body.background === true;
    if (background && body.store === false) {
      throw fieldProblem('background', 'A background response is stored: leave store out.');
    }
    const idempotencyKey = idempotencyKeyOf(exchange, body);
    const asker = { services, caller, route, idempotencyKey };
    await requireFundsToRead(body, asker, services);
    const said = await withReferences(body, asker);
    const { request, previousId } = await continueConversation(said, {}, asker);
    if (previousId === null) requireInput(request);
    const stored = body.store !== false;
    const input = { request, body, caller, services, exchange, route, stored, background };
    const wanted = await wantedBy(input);
    const seals = services.seals(caller.accountId);
    const options = { includeUsage: true, request, seals, startingAfter: null };
    const form = {
      stream: body.stream === true,
      options,
      managed: isManaged(services.catalog.current(), request),
    };
    const open = (makeSink: MakeSink, storeRequest: StoreRequest | null = null) => {
      const asked = { ...wanted, storeRequest };
      return startGeneration(services.generations, asked, makeSink, (gone) =>
        exchange.onAbort(gone),
      );
    };
    const storing = { services, caller, body: said, previousId, request };
    return await replyTo(
      responsesDialect,
      background ? { ...form, accepted: (identity) => asQueued(identity, options) } : form,
      stored ? openStored(storing, open) : open,
    );
  },
});

function asQueued(identity: ReplyIdentity, options: ReplyOptions) {
  return responseObject(identity, options, emptyAnswer(), null, 'queued');
}
