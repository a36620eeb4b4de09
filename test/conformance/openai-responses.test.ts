// The official OpenAI client on /v1/responses, otherwise as its users have it: over a provider of
// the same format and over one of Chat, and Chat clients over a provider of Responses.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import type { Response, ResponseInput } from 'openai/resources/responses/responses';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { openAi, svcUsage, user } from './client.ts';

let bed: Testbed;
let account: TestAccount;
let client: OpenAI;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
  client = openAi(account);
});
after(() => bed?.close());

const models = ['svc-sim-responses', 'svc-sim-chat'] as const;
type Model = (typeof models)[number];
const native: Model = 'svc-sim-responses';

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => ` t${index}`).join('');
}

function tool(name: string): OpenAI.Responses.FunctionTool {
  return {
    type: 'function',
    name,
    description: name,
    parameters: { type: 'object', properties: {} },
    strict: false,
  };
}

/** What a client sends back of the model's turn, and a result for every call. */
function nextInput(input: ResponseInput, response: Response): ResponseInput {
  const calls = response.output.filter((item) => item.type === 'function_call');
  const results = calls.map((call) => ({
    type: 'function_call_output' as const,
    call_id: call.call_id,
    output: `${call.name} done`,
  }));
  return [...input, ...(response.output as ResponseInput), ...results];
}

for (const model of models) {
  test(`a whole response has text, usage and a receipt (${model})`, async () => {
    const input = 'hello [[sim tokens=3]]';
    const response = await client.responses.create({ model, input });
    assert.equal(response.output_text, ' t0 t1 t2');
    assert.equal(response.status, 'completed');
    assert.equal(response.model, model);
    assert.equal(response.usage?.total_tokens, 6);
    assert.equal(svcUsage(response)?.charge_microcredits, Math.ceil(3 * 262.5 + 3 * 1_050));
    assert.equal(svcUsage(response)?.simulated, true);
  });

  test(`a stream is read event by event, the receipt on the last (${model})`, async () => {
    const input = '[[sim tokens=20]]';
    const stream = await client.responses.create({ model, input, stream: true });
    const events = [];
    for await (const event of stream) events.push(event);
    assert.deepEqual(
      events.map((event) => event.sequence_number),
      events.map((_, index) => index),
    );
    const deltas = events.filter((event) => event.type === 'response.output_text.delta');
    assert.equal(deltas.map(({ delta }) => delta).join(''), numbered(20));
    const last = events.at(-1);
    assert.ok(last?.type === 'response.completed');
    assert.equal(svcUsage(last.response)?.output_tokens, 20);
    assert.equal(last.response.usage?.output_tokens, 20);
  });

  test(`the stream helper accumulates the final response (${model})`, async () => {
    const deltas: string[] = [];
    const stream = client.responses
      .stream({ model, input: '[[sim tokens=4]]' })
      .on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    const response = await stream.finalResponse();
    assert.equal(response.output_text, numbered(4));
    assert.equal(deltas.join(''), numbered(4));
  });

  for (const stream of [false, true]) {
    test(`a tool loop without the server’s memory, stream=${stream} (${model})`, async () => {
      const ask = async (input: ResponseInput) => {
        const tools = [tool('first'), tool('second')];
        const include = ['reasoning.encrypted_content' as const];
        const reasoning = { effort: 'low' as const, summary: 'auto' as const };
        const body = { model, input, tools, include, reasoning, store: false };
        if (!stream) return await client.responses.create(body);
        return (await client.responses.stream(body).finalResponse()) as Response;
      };
      const text = '[[sim call=first,second call=first reasoning=3 tokens=3]]';
      let input: ResponseInput = [{ role: 'user', content: text }];
      const rounds: string[][] = [];
      let response = await ask(input);
      while (response.output.some((item) => item.type === 'function_call')) {
        const calls = response.output.filter((item) => item.type === 'function_call');
        rounds.push(calls.map(({ name }) => name));
        assert.ok(calls.every((call) => call.arguments === '{}'));
        input = nextInput(input, response);
        response = await ask(input);
      }
      assert.deepEqual(rounds, [['first', 'second'], ['first']]);
      assert.equal(response.output_text, ' t0 t1 t2');
    });
  }

  test(`structured output is parsed by its schema, whole and streamed (${model})`, async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, year: { type: 'integer' } },
      required: ['name', 'year'],
      additionalProperties: false,
    };
    const format = { type: 'json_schema' as const, name: 'event', strict: true, schema };
    const body = { model, input: '[[sim json=good]]', text: { format } };
    const whole = await client.responses.parse(body);
    const streamed = await client.responses.stream(body).finalResponse();
    for (const { output_parsed: parsed } of [whole, streamed]) {
      const { name, year } = parsed as unknown as { name: unknown; year: unknown };
      assert.equal(typeof name, 'string');
      assert.ok(Number.isInteger(year));
    }
  });

  test(`an aborted stream stops at the client, the gateway settles it (${model})`, async () => {
    const own = await bed.account();
    const input = '[[sim tokens=40 gap_ms=10]]';
    const stream = await openAi(own).responses.create({ model, input, stream: true });
    let seen = 0;
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') seen += 1;
      if (seen === 3) stream.controller.abort();
    }
    assert.ok(seen < 40);
    const { availableMicros } = await own.quiet();
    assert.equal(1_000_000_000n - availableMicros, BigInt(Math.ceil(3 * 262.5 + 40 * 1_050)));
  });

  test(`a cut answer is incomplete, a failed one says why (${model})`, async () => {
    const cut = await client.responses.create({
      model,
      input: '[[sim tokens=40]]',
      max_output_tokens: 16,
    });
    assert.equal(cut.status, 'incomplete');
    assert.equal(cut.incomplete_details?.reason, 'max_output_tokens');
    assert.equal(cut.output_text, numbered(16));
    const failing = { model, input: '[[sim tokens=30 fault=error at=20]]' };
    const failed = await client.responses.stream(failing).finalResponse();
    assert.equal(failed.status, 'failed');
    assert.equal(String(failed.error?.code), 'upstream_error');
    assert.match(failed.output_text, /^ t0 t1/);
    assert.ok(Number(svcUsage(failed)?.charge_microcredits) > 0);
    await assert.rejects(client.responses.create(failing), OpenAI.InternalServerError);
  });

  test(`a repeated key is one response, replayed streamed and whole (${model})`, async () => {
    const options = { headers: { 'Idempotency-Key': `once-${model}` } };
    const body = { model, input: '[[sim tokens=7]]' };
    const first = await client.responses.create(body, options);
    const second = await client.responses.create(body, options);
    const streamed = await client.responses.stream(body, options).finalResponse();
    assert.equal(second.id, first.id);
    assert.deepEqual(second.output, first.output);
    assert.equal(streamed.id, first.id);
    assert.equal(streamed.output_text, first.output_text);
    assert.equal(svcUsage(second)?.replayed, true);
  });
}

test('refusals are the client’s own error classes, by field', async () => {
  const none = 'svc-none';
  const refusals = [
    [{ model: native, input: 'x', temperature: 3 }, OpenAI.BadRequestError, 'temperature'],
    [
      { model: native, input: [{ role: 'x', content: '' }] },
      OpenAI.BadRequestError,
      'input[0].role',
    ],
    [{ model: native }, OpenAI.BadRequestError, 'input'],
    [{ model: native, input: 'x', conversation: 'c' }, OpenAI.BadRequestError, 'conversation'],
    [{ model: none, input: 'x' }, OpenAI.NotFoundError, 'model'],
    [{ model: native, input: '[[sim status=422]]' }, OpenAI.BadRequestError, 'input'],
    [{ model: native, input: '[[sim status=500]]' }, OpenAI.InternalServerError, null],
    [{ model: native, input: '[[sim status=429]]' }, OpenAI.InternalServerError, null],
  ] as const;
  for (const [body, kind, param] of refusals) {
    for (const stream of [false, true]) {
      const asked = client.responses.create({ ...body, stream } as never);
      await assert.rejects(
        asked,
        (error: unknown) => error instanceof kind && error.param === param,
        `${JSON.stringify(body)} ${stream}`,
      );
    }
  }
});

test('reasoning is summed up, sealed for the next turn, and takes part in it', async () => {
  const include = ['reasoning.encrypted_content' as const];
  const reasoning = { effort: 'low' as const, summary: 'auto' as const };
  const settings = { model: native, reasoning, include, store: false };
  const input: ResponseInput = [{ role: 'user', content: '[[sim reasoning=4 tokens=2]]' }];
  const response = await client.responses.create({ ...settings, input });
  const [item] = response.output;
  assert.ok(item?.type === 'reasoning');
  assert.deepEqual(
    item.summary.map(({ text }) => text),
    [' r0 r1', ' r2 r3'],
  );
  assert.match(item.encrypted_content ?? '', /^svc1\./);
  assert.equal(response.usage?.output_tokens_details.reasoning_tokens, 4);
  const next = await client.responses.create({
    ...settings,
    input: [...nextInput(input, response), { role: 'user', content: 'and [[sim tokens=1]]' }],
  });
  assert.equal(next.output_text, ' t0');
  const unsealed = await client.responses.create({ model: native, reasoning, input });
  const [bare] = unsealed.output;
  assert.ok(bare?.type === 'reasoning' && bare.encrypted_content === undefined);
});

test('the provider’s own tools pass through: searches with citations, custom tools', async () => {
  const searched = await client.responses
    .stream({
      model: native,
      input: 'köln [[sim search=2 tokens=3]]',
      tools: [{ type: 'web_search' }],
    })
    .finalResponse();
  const types = searched.output.map((item) => item.type);
  assert.deepEqual(types, ['web_search_call', 'web_search_call', 'message']);
  const message = searched.output.at(-1);
  assert.ok(message?.type === 'message' && message.content[0]?.type === 'output_text');
  assert.equal(message.content[0].annotations.length, 2);
  assert.equal(svcUsage(searched)?.search_calls, 2);
  const custom = await client.responses.create({
    model: native,
    input: '[[sim tool=shell]]',
    tools: [{ type: 'custom', name: 'shell' }],
  });
  assert.equal(custom.output[0]?.type, 'custom_tool_call');
});

test('unknown events and members of the provider break nothing', async () => {
  const input = '[[sim unknown=1 tokens=3]]';
  const response = await client.responses.stream({ model: native, input }).finalResponse();
  assert.equal(response.output_text, ' t0 t1 t2');
});

test('Chat clients are served by a provider of this format: text, tools, a schema', async () => {
  const model = native;
  const { chat } = client;
  const text = await chat.completions.stream({ model, messages: user('[[sim tokens=5]]') });
  const completion = await text.finalChatCompletion();
  assert.equal(completion.choices[0]?.message.content, numbered(5));
  const called: string[] = [];
  const runner = chat.completions.runTools({
    model,
    messages: user('[[sim tool=look tokens=2]]'),
    tools: [
      {
        type: 'function',
        function: {
          name: 'look',
          description: 'look',
          parameters: { type: 'object', properties: {} },
          function: () => {
            called.push('look');
            return 'seen';
          },
        },
      },
    ],
  });
  assert.equal(await runner.finalContent(), ' t0 t1');
  assert.deepEqual(called, ['look']);
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const parsed = await chat.completions.parse({
    model,
    messages: user('[[sim json=good]]'),
    response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema } },
  });
  const { message } = parsed.choices[0] ?? {};
  assert.ok(message !== undefined);
  assert.deepEqual(Object.keys(message.parsed ?? {}), ['a']);
});

test('logprobs are given to clients of Responses and of Chat as each has them', async () => {
  const include = ['message.output_text.logprobs' as const];
  const body = { model: native, input: '[[sim tokens=2]]', include, top_logprobs: 2 };
  const response = await client.responses.create(body);
  const [item] = response.output;
  assert.ok(item?.type === 'message' && item.content[0]?.type === 'output_text');
  const { logprobs } = item.content[0];
  assert.deepEqual(
    logprobs?.map(({ token, bytes, top_logprobs: top }) => [token, bytes.length, top.length]),
    [
      [' t0', 3, 2],
      [' t1', 3, 2],
    ],
  );
  const messages = user('[[sim tokens=2]]');
  const asked = { model: native, messages, logprobs: true, top_logprobs: 2 };
  const whole = await client.chat.completions.create(asked);
  const scored = whole.choices[0]?.logprobs?.content;
  const stream = await client.chat.completions.create({ ...asked, stream: true });
  const told = [];
  for await (const { choices } of stream) told.push(...(choices[0]?.logprobs?.content ?? []));
  for (const list of [scored, told]) {
    assert.deepEqual(
      list?.map(({ token, logprob, top_logprobs: top }) => [token, logprob, top.length]),
      [
        [' t0', -0.25, 2],
        [' t1', -0.25, 2],
      ],
    );
  }
  const plain = await client.chat.completions.create({ model: native, messages: user('x') });
  assert.equal(plain.choices[0]?.logprobs, null);
});
