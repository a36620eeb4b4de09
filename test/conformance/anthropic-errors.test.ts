// Every refusal becomes the error class that users of the official Anthropic client catch, and the
// client retries what may pass and nothing that cannot or was charged.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { anthropic, messagesModel as model, svcUsage, textOf, user } from './anthropic-client.ts';

let bed: Testbed;
let account: TestAccount;
let client: Anthropic;
before(async () => {
  bed = await openTestbed({ own: 'its failures make models ill' });
  account = await bed.account();
  client = anthropic(account);
});
after(() => bed?.close());

interface Refusal {
  name: string;
  status: number;
  type: string;
  error: new (...args: never[]) => Error;
  ask(): Promise<unknown>;
}

function create(prompt: string, over: Record<string, unknown> = {}, asked: Anthropic = client) {
  return asked.messages.create({ model, max_tokens: 100, messages: user(prompt), ...over });
}

const badRequest = { status: 400, type: 'invalid_request_error', error: Anthropic.BadRequestError };

const refusals: Refusal[] = [
  { ...badRequest, name: 'a bad member', ask: () => create('hello', { temperature: 3 }) },
  { ...badRequest, name: 'no ceiling', ask: () => create('hello', { max_tokens: undefined }) },
  { ...badRequest, name: 'what the provider refuses', ask: () => create('[[sim status=413]]') },
  {
    name: 'a mistyped key',
    status: 401,
    type: 'authentication_error',
    error: Anthropic.AuthenticationError,
    ask: () => create('hello', {}, anthropic({ ...account, apiKey: `${account.apiKey}x` })),
  },
  {
    name: 'an empty wallet',
    status: 402,
    type: 'billing_error',
    error: Anthropic.APIError,
    ask: async () => create('hello', {}, anthropic(await bed.account({ micros: 0n }))),
  },
  {
    name: 'a key without the scope',
    status: 403,
    type: 'permission_error',
    error: Anthropic.PermissionDeniedError,
    ask: async () => {
      const reader = await bed.account({ scopes: ['models:read'] });
      return create('hello', {}, anthropic(reader));
    },
  },
  {
    name: 'a count without the scope',
    status: 403,
    type: 'permission_error',
    error: Anthropic.PermissionDeniedError,
    ask: async () => {
      const reader = await bed.account({ scopes: ['models:read'] });
      return anthropic(reader).messages.countTokens({ model, messages: user('hello') });
    },
  },
  {
    name: 'an unknown model',
    status: 404,
    type: 'not_found_error',
    error: Anthropic.NotFoundError,
    ask: () => create('hello', { model: 'nothing' }),
  },
  {
    name: 'a count for an unknown model',
    status: 404,
    type: 'not_found_error',
    error: Anthropic.NotFoundError,
    ask: () => client.messages.countTokens({ model: 'nothing', messages: user('hello') }),
  },
  {
    name: 'a key of another body',
    status: 422,
    type: 'invalid_request_error',
    error: Anthropic.UnprocessableEntityError,
    ask: async () => {
      const options = { headers: { 'Idempotency-Key': 'twice' } };
      const base = { model, max_tokens: 100 };
      await client.messages.create({ ...base, messages: user('one') }, options);
      return client.messages.create({ ...base, messages: user('two') }, options);
    },
  },
  {
    name: 'too many requests',
    status: 429,
    type: 'rate_limit_error',
    error: Anthropic.RateLimitError,
    ask: async () => {
      const slow = anthropic(await bed.account({ requestsPerMinute: 1 }));
      await create('hello', {}, slow);
      return create('hello', {}, slow);
    },
  },
  ...(
    [
      ['a failing provider', 500, 502, 'api_error'],
      ['an overloaded provider', 529, 502, 'api_error'],
      ['a busy provider', 429, 503, 'overloaded_error'],
      ['a provider that times out', 408, 504, 'timeout_error'],
    ] as const
  ).map(
    ([name, provided, status, type]): Refusal => ({
      name,
      status,
      type,
      error: Anthropic.InternalServerError,
      ask: () => create(`[[sim status=${provided}]]`),
    }),
  ),
];

for (const { name, status, type, error: expected, ask } of refusals) {
  test(`${name} is a ${status} with the class of the client`, async () => {
    await assert.rejects(ask, (error: unknown) => {
      assert.ok(error instanceof Anthropic.APIError && error instanceof expected, String(error));
      assert.equal(error.status, status);
      assert.equal(error.type, type);
      const body = error.error as { error: Record<string, unknown> };
      assert.deepEqual(Object.keys(body), ['type', 'error', 'request_id']);
      assert.deepEqual(Object.keys(body.error), ['type', 'message']);
      assert.ok(error.requestID, 'the request id is known to the client');
      return true;
    });
  });
}

test('a bearer token is as good as the key header', async () => {
  const message = await create('[[sim tokens=1]]', {}, anthropic(account, { bearer: true }));
  assert.equal(textOf(message as Anthropic.Message), ' t0');
});

test('an error inside a stream is thrown where the stream is read, with its type', async () => {
  const stream = await client.messages.create({
    model,
    max_tokens: 100,
    messages: user('[[sim fault=error at=6 gap_ms=20]]'),
    stream: true,
  });
  let text = '';
  await assert.rejects(
    async () => {
      for await (const event of stream) {
        if (event.type !== 'content_block_delta' || event.delta.type !== 'text_delta') continue;
        text += event.delta.text;
      }
    },
    (error: unknown) => {
      assert.ok(error instanceof Anthropic.APIError && error.type === 'api_error', String(error));
      assert.ok((svcUsage(error.error)?.output_tokens ?? 0) > 0);
      return true;
    },
  );
  assert.ok(text.startsWith(' t0'), text);
});

test('the client retries what may pass and nothing else', async () => {
  const retries: string[] = [];
  const seen = (headers: Headers) => {
    retries.push(headers.get('x-stainless-retry-count') ?? '');
  };
  const poor = await bed.account({ micros: 0n });
  await assert.rejects(create('hello', {}, anthropic(poor, { maxRetries: 2, seen })));
  assert.deepEqual(retries.splice(0), ['0'], 'a 402 is not retried');
  const patient = anthropic(account, { maxRetries: 1, seen });
  await assert.rejects(create('[[sim fault=cut at=6 gap_ms=10]]', {}, patient));
  assert.deepEqual(retries.splice(0), ['0'], 'a failure that was charged is not retried');
  await assert.rejects(create('[[sim status=500]]', {}, patient));
  assert.deepEqual(retries.splice(0), ['0', '1'], 'a 502 that cost nothing is retried');
});

test('one key is charged once, and gives the same blocks streamed and whole', async () => {
  const own = await bed.account();
  const options = { headers: { 'Idempotency-Key': 'again' } };
  const request = {
    model,
    max_tokens: 2_000,
    messages: user('news [[sim reasoning=2 search=2 tokens=4]]'),
    tools: [{ type: 'web_search_20250305' as const, name: 'web_search' as const }],
    thinking: { type: 'enabled' as const, budget_tokens: 1_024 },
  };
  const live = await anthropic(own).messages.stream(request, options).finalMessage();
  const replayed = await anthropic(own).messages.stream(request, options).finalMessage();
  const whole = await anthropic(own).messages.create(request, options);
  assert.deepEqual(replayed.content, live.content);
  assert.deepEqual(whole.content, live.content);
  assert.equal(whole.id, live.id);
  assert.equal(svcUsage(whole)?.replayed, true);
  assert.equal(svcUsage(whole)?.search_calls, 2);
  const types = live.content.map(({ type }) => type);
  assert.deepEqual(types.slice(0, 3), ['thinking', 'server_tool_use', 'web_search_tool_result']);
  const cited = live.content.find((block) => block.type === 'text');
  assert.equal(cited?.citations?.length, 2);
  const { availableMicros } = await own.quiet();
  assert.equal(1_000_000_000n - availableMicros, BigInt(svcUsage(whole)?.charge_microcredits ?? 0));
});
