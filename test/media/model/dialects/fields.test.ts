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
import { anthropicMessages } from '../../../../media/providers/generation/anthropic-messages/family.ts';
import { openaiResponses } from '../../../../media/providers/generation/openai-responses/family.ts';
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

/** The path of the member that is refused. */
function refusedPath(read: (body: Members) => GenerationRequest, body: Members): string | null {
  try {
    read(body);
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === 'invalid_request', String(error));
    return error.param;
  }
  return assert.fail(`taken: ${JSON.stringify(body)}`);
}

const schema = { type: 'object', properties: {} };
const named = { name: 'shape', schema };

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

  test(`${format}: controls that are not given have their defaults, null is not given`, () => {
    const defaults = {
      webSearch: null,
      requireWebSearch: false,
      reroute: false,
      routing: null,
      conversationId: null,
      clientContext: null,
      optimization: { profile: 'code', mode: 'off', allowLossyContext: false },
    };
    assert.deepEqual(read({}).controls, defaults);
    const nulls = { web_search: null, client_context: null, optimization: null };
    assert.deepEqual(read({ ...nulls, conversation_id: null }).controls, defaults);
    assert.deepEqual(read({ optimization: {}, metadata: {} }).controls, defaults);
  });

  test(`${format}: controls are read, and legacy modes of the optimizer are balanced`, () => {
    for (const web_search of [true, false]) {
      assert.equal(read({ web_search }).controls.webSearch, web_search);
    }
    const metadata = { require_web_search: true, intelligent_reroute: true };
    const { requireWebSearch, reroute } = read({ metadata }).controls;
    assert.deepEqual([requireWebSearch, reroute], [true, true]);
    assert.equal(read({ conversation_id: 'c-1' }).controls.conversationId, 'c-1');
    const modes = { off: 'off', auto: 'balanced', safe: 'balanced', balanced: 'balanced' };
    for (const [mode, meant] of Object.entries({ ...modes, aggressive: 'aggressive' })) {
      assert.equal(read({ optimization: { mode } }).controls.optimization.mode, meant, mode);
    }
    const optimization = {
      profile: 'research',
      engine: 'svc_optimizer',
      allow_lossy_context: true,
    };
    const { profile, allowLossyContext } = read({ optimization }).controls.optimization;
    assert.deepEqual([profile, allowLossyContext], ['research', true]);
  });

  test(`${format}: objects of the specification are closed and bounded`, () => {
    const bad: [Members, string][] = [
      [{ optimization: { level: 1 } }, 'optimization.level'],
      [{ optimization: { mode: 'wild' } }, 'optimization.mode'],
      [{ optimization: { profile: 'poetry' } }, 'optimization.profile'],
      [{ optimization: { engine: 'other' } }, 'optimization.engine'],
      [{ client_context: { planet: 'x' } }, 'client_context.planet'],
      [{ client_context: { utc_offset_minutes: 841 } }, 'client_context.utc_offset_minutes'],
      [{ client_context: { utc_offset_minutes: -841 } }, 'client_context.utc_offset_minutes'],
      [{ client_context: { temperature_unit: 'kelvin' } }, 'client_context.temperature_unit'],
      [{ client_context: { share_location: 'yes' } }, 'client_context.share_location'],
      [{ metadata: { require_web_search: 1 } }, 'metadata.require_web_search'],
      [{ metadata: { intelligent_reroute: 'no' } }, 'metadata.intelligent_reroute'],
      [{ web_search: 'auto' }, 'web_search'],
      [{ max_output_tokens: 0 }, 'max_output_tokens'],
    ];
    for (const [body, path] of bad) assert.equal(refusedPath(read, body), path);
    for (const utc_offset_minutes of [-840, 840]) {
      read({ client_context: { utc_offset_minutes, temperature_unit: 'fahrenheit' } });
    }
  });

  test(`${format}: a location is known only where it is shared`, () => {
    const location = { city: 'Bern' };
    const known = (more: Members) => read({ client_context: { location, ...more } }).controls;
    assert.equal(known({}).clientContext?.location, null);
    assert.equal(known({ share_location: false }).clientContext?.location, null);
    assert.deepEqual(known({ share_location: true }).clientContext?.location, location);
  });

  test(`${format}: text.format asks for a format, response_format goes before it`, () => {
    const text = { format: { type: 'json_schema', ...named } };
    assert.equal(read({ text }).outputFormat.type, 'json_schema');
    assert.equal(
      read({ text: { format: { type: 'json_object' } } }).outputFormat.type,
      'json_object',
    );
    const object = { response_format: { type: 'json_object' } };
    assert.equal(read({ text, ...object }).outputFormat.type, 'json_object');
    assert.equal(read({ text, response_format: { type: 'text' } }).outputFormat.type, 'text');
    assert.equal(read({ text, response_format: null }).outputFormat.type, 'json_schema');
    for (const strict of [true, false]) {
      const response_format = { type: 'json_schema', json_schema: { ...named, strict } };
      assert.deepEqual(read({ response_format }).outputFormat, {
        type: 'json_schema',
        ...named,
        strict,
      });
    }
  });

  test(`${format}: tools that the server would run are refused by what is wrong with them`, () => {
    const path = (...tools: Members[]) => refusedPath(read, { tools });
    assert.equal(path({ type: 'svc_app', selection: 'all' }), 'tools[0].selection');
    assert.equal(path({ type: 'svc_app', selection: 'auto' }), 'tools[0].type');
    assert.equal(path({ type: 'svc_mcp' }), 'tools[0].server_id');
    const server = { type: 'svc_mcp', server_id: 'one' };
    assert.equal(path(server), 'tools[0].server_id');
    assert.equal(path(...Array.from({ length: 8 }, () => server)), 'tools[0].server_id');
    assert.equal(path(...Array.from({ length: 9 }, () => server)), 'tools', 'at most 8 servers');
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
