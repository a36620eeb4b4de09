// Every refusal becomes the error class that users of the official OpenAI client catch, and the
// client retries what may pass and nothing that cannot or was charged.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { model, openAi, user } from './client.ts';

let bed: Testbed;
let account: TestAccount;
let client: OpenAI;
before(async () => {
  bed = await openTestbed({ own: 'its failures make models ill' });
  account = await bed.account();
  client = openAi(account);
});
after(() => bed?.close());

interface Refusal {
  name: string;
  code: string;
  status: number;
  type: string;
  error: new (...args: never[]) => Error;
  ask(): Promise<unknown>;
}

function complete(prompt: string, over: Record<string, unknown> = {}, asked: OpenAI = client) {
  return asked.chat.completions.create({ model, messages: user(prompt), ...over });
}

const badRequest = {
  status: 400,
  code: 'invalid_request',
  type: 'invalid_request_error',
  error: OpenAI.BadRequestError,
};

const refusals: Refusal[] = [
  {
    ...badRequest,
    name: 'a bad member',
    ask: () => complete('hello', { temperature: 3 }),
  },
  {
    ...badRequest,
    name: 'more than one choice',
    ask: () => complete('hello', { n: 2 }),
  },
  {
    ...badRequest,
    name: 'what the provider refuses',
    ask: () => complete('[[sim status=422]]'),
  },
  {
    name: 'a mistyped key',
    status: 401,
    code: 'invalid_api_key',
    type: 'authentication_error',
    error: OpenAI.AuthenticationError,
    ask: () => complete('hello', {}, openAi({ ...account, apiKey: `${account.apiKey}x` })),
  },
  {
    name: 'an empty wallet',
    status: 402,
    code: 'insufficient_credits',
    type: 'insufficient_quota',
    error: OpenAI.APIError,
    ask: async () => complete('hello', {}, openAi(await bed.account({ micros: 0n }))),
  },
  {
    name: 'a key without the scope',
    status: 403,
    code: 'insufficient_scope',
    type: 'permission_error',
    error: OpenAI.PermissionDeniedError,
    ask: async () => {
      const reader = await bed.account({ scopes: ['models:read'] });
      return complete('hello', {}, openAi(reader));
    },
  },
  {
    name: 'an unknown model',
    status: 404,
    code: 'model_not_found',
    type: 'not_found_error',
    error: OpenAI.NotFoundError,
    ask: () => complete('hello', { model: 'gpt-nothing' }),
  },
  {
    name: 'a cancel of what has ended',
    status: 409,
    code: 'invalid_state',
    type: 'conflict_error',
    error: OpenAI.ConflictError,
    ask: async () => {
      const { response } = await complete('hello').withResponse();
      const id = response.headers.get('x-svc-request-id');
      return client.post(`/generations/${id}/cancel`);
    },
  },
  {
    name: 'a key of another body',
    status: 422,
    code: 'idempotency_key_reused',
    type: 'invalid_request_error',
    error: OpenAI.UnprocessableEntityError,
    ask: async () => {
      const options = { headers: { 'Idempotency-Key': 'twice' } };
      await client.chat.completions.create({ model, messages: user('one') }, options);
      return client.chat.completions.create({ model, messages: user('two') }, options);
    },
  },
  {
    name: 'too many requests',
    status: 429,
    code: 'rate_limited',
    type: 'rate_limit_error',
    error: OpenAI.RateLimitError,
    ask: async () => {
      const slow = openAi(await bed.account({ requestsPerMinute: 1 }));
      await complete('hello', {}, slow);
      return complete('hello', {}, slow);
    },
  },
  ...(
    [
      ['a failing provider', 500, 502, 'upstream_error'],
      ['an overloaded provider', 529, 502, 'upstream_error'],
      ['a busy provider', 429, 503, 'upstream_busy'],
      ['a provider that times out', 408, 504, 'upstream_timeout'],
    ] as const
  ).map(
    ([name, provided, status, code]): Refusal => ({
      name,
      status,
      code,
      type: 'api_error',
      error: OpenAI.InternalServerError,
      ask: () => complete(`[[sim status=${provided}]]`),
    }),
  ),
];

for (const { name, status, code, type, error: expected, ask } of refusals) {
  test(`${name} is a ${status} with the class of the client`, async () => {
    await assert.rejects(ask, (error: unknown) => {
      assert.ok(error instanceof OpenAI.APIError && error instanceof expected, String(error));
      assert.equal(error.status, status);
      assert.equal(error.code, code);
      assert.equal(error.type, type);
      const body = error.error as Record<string, unknown>;
      assert.deepEqual(Object.keys(body).sort(), ['code', 'message', 'param', 'type']);
      assert.ok(error.requestID, 'the request id is known to the client');
      return true;
    });
  });
}

test('a gateway that is not there is a connection error', async () => {
  const nowhere = openAi({ baseUrl: 'http://127.0.0.1:1', apiKey: account.apiKey });
  await assert.rejects(complete('hello', {}, nowhere), OpenAI.APIConnectionError);
});

test('an error inside a stream is thrown where the stream is read', async () => {
  const stream = await client.chat.completions.create({
    model,
    messages: user('[[sim fault=error at=4 gap_ms=20]]'),
    stream: true,
  });
  let text = '';
  await assert.rejects(
    async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    },
    (error: unknown) => error instanceof OpenAI.APIError && error.code === 'upstream_error',
  );
  assert.equal(text, ' t0 t1 t2');
});

test('the client retries what may pass and nothing else', async () => {
  const retries: string[] = [];
  const seen = (headers: Headers) => {
    retries.push(headers.get('x-stainless-retry-count') ?? '');
  };
  const poor = await bed.account({ micros: 0n });
  await assert.rejects(complete('hello', {}, openAi(poor, { maxRetries: 2, seen })));
  assert.deepEqual(retries.splice(0), ['0'], 'a 402 is not retried');
  const patient = openAi(account, { maxRetries: 1, seen });
  await assert.rejects(complete('[[sim fault=cut at=4 gap_ms=10]]', {}, patient));
  assert.deepEqual(retries.splice(0), ['0'], 'a failure that was charged is not retried');
  await assert.rejects(complete('[[sim status=500]]', {}, patient));
  assert.deepEqual(retries.splice(0), ['0', '1'], 'a 502 that cost nothing is retried');
});
