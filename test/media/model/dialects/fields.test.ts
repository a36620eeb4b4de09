// The fields of 2.9 that every generation format shares mean the same in each of them, beside
// whatever the format itself has for the purpose.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRequest as readChat } from '../../../../media/model/dialects/chat/request.ts';
import {
  type ChatRequestBody,
  chatRequestSchema,
} from '../../../../media/model/dialects/chat/schema.ts';
import { readRequest as readLegacy } from '../../../../media/model/dialects/legacy/request.ts';
import {
  type LegacyRequestBody,
  legacyRequestSchema,
} from '../../../../media/model/dialects/legacy/schema.ts';
import { readRequest as readMessages } from '../../../../media/model/dialects/messages/request.ts';
import {
  type MessagesRequestBody,
  messagesRequestSchema,
} from '../../../../media/model/dialects/messages/schema.ts';
import * as responses from '../../../../media/model/dialects/responses/request.ts';
import {
  type ResponsesRequestBody,
  responsesRequestSchema,
} from '../../../../media/model/dialects/responses/schema.ts';
import type { GenerationRequest } from '../../../../media/model/request.ts';
import { anthropicMessages } from '../../../../media/providers/anthropic-messages/family.ts';
import { openaiResponses } from '../../../../media/providers/openai-responses/family.ts';
import { validateBody } from '../../../../runtime/http/validate.ts';
import { Problem } from '../../../../runtime/problem.ts';

type Members = Record<string, unknown>;

const model = 'alias';
const messages = [{ role: 'user', content: 'hi' }];
const readers: Record<string, (body: Members) => GenerationRequest> = {
  chat: (body) => {
    const whole = validateBody(chatRequestSchema, { model, messages, ...body });
    return readChat(whole as ChatRequestBody, {});
  },
  responses: (body) => {
    const whole = validateBody(responsesRequestSchema, { model, input: 'hi', ...body });
    return responses.readRequest(whole as ResponsesRequestBody, {});
  },
  messages: (body) => {
    const whole = { model, messages, max_tokens: 90, ...body };
    return readMessages(validateBody(messagesRequestSchema, whole) as MessagesRequestBody, {});
  },
  legacy: (body) => {
    const whole = validateBody(legacyRequestSchema, { model, messages, ...body });
    return readLegacy(whole as LegacyRequestBody, {});
  },
};

function firstText({ messages: [first] }: GenerationRequest): unknown {
  const [part] = first?.parts ?? [];
  return [first?.role, part?.type === 'text' ? part.text : part];
}

for (const [format, read] of Object.entries(readers)) {
  test(`${format}: instructions stand in front of the conversation`, () => {
    assert.deepEqual(firstText(read({ instructions: 'be brief' })), ['system', 'be brief']);
    assert.deepEqual(firstText(read({ instructions: null })), ['user', 'hi']);
  });

  test(`${format}: the ceiling is the first given of its three names`, () => {
    const all = { max_output_tokens: 3, max_completion_tokens: 5, max_tokens: 7 };
    assert.equal(read(all).outputTokensMax, 3);
    assert.equal(read({ ...all, max_output_tokens: null }).outputTokensMax, 5);
    assert.equal(read({ max_tokens: 7 }).outputTokensMax, 7);
  });

  test(`${format}: more than one answer is refused, one is not`, () => {
    assert.throws(
      () => read({ n: 2 }),
      (error) =>
        error instanceof Problem && error.code === 'invalid_request' && error.param === 'n',
    );
    read({ n: 1 });
  });
}

test('what was read of the shared fields is no member of a forwarded body', () => {
  const shared = { instructions: 'be brief', max_completion_tokens: 5, n: 1 };
  const target = {
    routeId: 'r',
    baseUrl: 'http://localhost:1/v1',
    apiKey: null,
    upstreamModel: 'u',
  };
  const options = { outputTokensMax: 20, nativeSearch: false };
  const forwarded = readers.messages?.({ ...shared, system: 'be kind' });
  assert.ok(forwarded);
  const call = anthropicMessages.encodeRequest(
    forwarded,
    { ...target, family: 'anthropic-messages' },
    options,
  );
  const { system, ...rest } = JSON.parse(JSON.stringify(call.body)) as Members;
  const block = (text: string) => ({ type: 'text', text });
  assert.deepEqual(system, [block('be brief'), block('be kind')]);
  assert.deepEqual(Object.keys(rest).sort(), ['max_tokens', 'messages', 'model', 'stream']);
  const own = readers.responses?.(shared);
  assert.ok(own);
  const sent = openaiResponses.encodeRequest(
    own,
    { ...target, family: 'openai-responses' },
    options,
  );
  const body = JSON.parse(JSON.stringify(sent.body)) as Members;
  assert.equal(body.instructions, 'be brief');
  assert.equal('n' in body || 'max_completion_tokens' in body, false);
});
