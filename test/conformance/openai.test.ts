// The official OpenAI client, pointed at the gateway and otherwise as its users have it: what it
// can do must work. Its refusals stand in openai-errors.test.ts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import type { TestAccount } from '../harness/account.ts';
import { openChat } from '../harness/chat.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { model, openAi, svcUsage, user } from './client.ts';

// slow: A stream is silent until the keep-alive comes.

let bed: Testbed;
let account: TestAccount;
let client: OpenAI;
before(async () => {
  bed = await openTestbed({ own: 'it lists the models that are well' });
  account = await bed.account();
  client = openAi(account);
});
after(() => bed?.close());

const weatherTool: OpenAI.Chat.ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};

test('lists nothing but enabled aliases', async () => {
  const page = await client.models.list();
  const ids = page.data.map(({ id }) => id);
  assert.ok(ids.includes(model) && ids.includes('svc-sim-tiered'), ids.join());
  for (const each of page.data) {
    assert.equal(each.object, 'model');
    assert.equal(each.owned_by, 'svc');
    assert.ok(each.created > 1_700_000_000);
  }
});

test('a whole completion has usage and a receipt', async () => {
  const completion = await client.chat.completions.create({
    model,
    messages: user('hello [[sim tokens=3]]'),
  });
  assert.equal(completion.object, 'chat.completion');
  assert.equal(completion.model, model);
  assert.equal(completion.choices[0]?.message.content, ' t0 t1 t2');
  assert.equal(completion.choices[0]?.finish_reason, 'stop');
  assert.equal(completion.usage?.total_tokens, 6);
  assert.equal(svcUsage(completion)?.charge_microcredits, Math.ceil(3 * 262.5 + 3 * 1_050));
  assert.equal(svcUsage(completion)?.simulated, true);
});

test('a stream is read event by event, the receipt on the last chunk', async () => {
  const stream = await client.chat.completions.create({
    model,
    messages: user('[[sim tokens=20]]'),
    stream: true,
  });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant');
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  assert.equal(text, Array.from({ length: 20 }, (_, index) => ` t${index}`).join(''));
  assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
  assert.ok(chunks.every((chunk) => chunk.model === model && chunk.usage === undefined));
  const last = chunks.at(-1);
  assert.equal(last?.choices[0]?.finish_reason, 'stop');
  assert.equal(svcUsage(last)?.output_tokens, 20);
});

test('include_usage puts usage and the receipt on one more chunk', async () => {
  const stream = await client.chat.completions.create({
    model,
    messages: user('[[sim tokens=5]]'),
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  const last = chunks.at(-1);
  assert.deepEqual(last?.choices, []);
  assert.equal(last?.usage?.completion_tokens, 5);
  assert.equal(svcUsage(last)?.output_tokens, 5);
  assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, 'stop');
  assert.equal(svcUsage(chunks.at(-2)), undefined);
  assert.ok(chunks.slice(0, -1).every((chunk) => chunk.usage === null));
});

test('the stream helper accumulates the final completion', async () => {
  const deltas: string[] = [];
  const stream = client.chat.completions
    .stream({
      model,
      messages: user('[[sim tokens=4]]'),
      stream_options: { include_usage: true },
    })
    .on('content', (delta) => deltas.push(delta));
  const completion = await stream.finalChatCompletion();
  assert.equal(completion.choices[0]?.message.content, ' t0 t1 t2 t3');
  assert.equal(deltas.join(''), ' t0 t1 t2 t3');
  assert.equal((await stream.totalUsage()).completion_tokens, 4);
});

for (const stream of [false, true]) {
  test(`parallel tool calls come back whole, stream=${stream}`, async () => {
    const tools = ['alpha', 'beta', 'gamma'].map((name) => ({
      ...weatherTool,
      function: { ...weatherTool.function, name },
    }));
    const messages = user('[[sim tool=alpha,beta,gamma tokens=3]]');
    const request = { model, messages, tools };
    const completion = stream
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request);
    const [choice] = completion.choices;
    assert.equal(choice?.finish_reason, 'tool_calls');
    const calls = choice?.message.tool_calls ?? [];
    const names = calls.map((call) => (call.type === 'function' ? call.function.name : call.type));
    assert.deepEqual(names, ['alpha', 'beta', 'gamma']);
    assert.equal(new Set(calls.map(({ id }) => id)).size, 3);
    assert.ok(calls.every((call) => call.type === 'function' && call.function.arguments === '{}'));
    assert.ok(choice);
    const results = calls.map((call) => ({
      role: 'tool' as const,
      tool_call_id: call.id,
      content: 'ok',
    }));
    const next = await client.chat.completions.create({
      model,
      tools,
      messages: [...messages, choice.message, ...results],
    });
    assert.equal(next.choices[0]?.message.content, ' t0 t1 t2');
  });

  test(`the tool runner calls functions until there is an answer, stream=${stream}`, async () => {
    const called: string[] = [];
    const tool = (name: string) => ({
      type: 'function' as const,
      function: {
        name,
        description: name,
        parameters: { type: 'object' as const, properties: {} },
        function: () => {
          called.push(name);
          return `${name} done`;
        },
      },
    });
    const params = {
      model,
      messages: user('[[sim tool=first,second tokens=2]]'),
      tools: [tool('first'), tool('second')],
    };
    const runner = stream
      ? client.chat.completions.runTools({ ...params, stream: true })
      : client.chat.completions.runTools(params);
    assert.equal(await runner.finalContent(), ' t0 t1');
    assert.deepEqual(called, ['first', 'second']);
  });
}

const eventSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    participants: { type: 'array', items: { type: 'string' } },
    year: { type: 'integer' },
  },
  required: ['name', 'participants', 'year'],
  additionalProperties: false,
};

test('structured output is parsed, and an answer that breaks the schema is an error', async () => {
  const ask = (prompt: string) =>
    client.chat.completions.parse({
      model,
      messages: user(prompt),
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'event', strict: true, schema: eventSchema },
      },
    });
  const good = await ask('[[sim json=good]]');
  const parsed = good.choices[0]?.message.parsed as unknown as Record<string, unknown> | null;
  assert.equal(typeof parsed?.name, 'string');
  assert.ok(Array.isArray(parsed?.participants));
  assert.ok(Number.isInteger(parsed?.year));
  await assert.rejects(ask('[[sim json=bad]]'), (error: unknown) => {
    assert.ok(error instanceof OpenAI.InternalServerError);
    assert.equal(error.status, 502);
    assert.equal(error.headers?.get('x-should-retry'), 'false');
    return true;
  });
});

for (const model of ['svc-sim-chat', 'svc-sim-responses', 'svc-sim-messages', 'svc-sim-gemini']) {
  test(`${model}: JSON mode works where only the system message asks for JSON`, async () => {
    for (const role of ['system', 'developer'] as const) {
      const completion = await client.chat.completions.create({
        model,
        messages: [{ role, content: 'Answer in JSON.' }, ...user('hi [[sim text={"a":1}]]')],
        response_format: { type: 'json_object' },
      });
      assert.equal(completion.choices[0]?.message.content, '{"a":1}');
    }
  });
}

for (const model of ['svc-sim-chat', 'svc-sim-responses', 'svc-sim-messages', 'svc-sim-gemini']) {
  test(`${model}: reads pictures that are called image/jpg, and files of text`, async () => {
    const base64 = Buffer.from('{"a":1}').toString('base64');
    const file = (filename: string, type: string) => ({
      type: 'file' as const,
      file: { filename, file_data: `data:${type};base64,${base64}` },
    });
    const completion = await client.chat.completions.create({
      model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/jpg;base64,/9j/4AAQ' } },
            file('a.json', 'application/json'),
            file('a.csv', 'text/csv'),
            { type: 'text', text: 'hi [[sim tokens=1]]' },
          ],
        },
      ],
    });
    assert.equal(completion.choices[0]?.message.content, ' t0');
  });
}

test('an aborted stream stops at the client and is settled at the gateway', async () => {
  const own = await bed.account();
  await bed.simulator.reset();
  const stream = await openAi(own).chat.completions.create({
    model,
    messages: user('[[sim tokens=40 gap_ms=10]]'),
    stream: true,
  });
  let seen = 0;
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta.content) seen += 1;
    if (seen === 3) stream.controller.abort();
  }
  assert.ok(seen < 40);
  await bed.simulator.expect({ started: 1, finished: 1, aborted: 0 });
  const { availableMicros } = await own.quiet();
  assert.equal(1_000_000_000n - availableMicros, BigInt(Math.ceil(3 * 262.5 + 40 * 1_050)));
});

test('a retry of the client with one key is charged once', async () => {
  const own = await bed.account();
  await bed.simulator.reset();
  const asked = openAi(own, { maxRetries: 3 });
  const options = { headers: { 'Idempotency-Key': 'once' } };
  const request = { model, messages: user('[[sim tokens=7]]') };
  const first = await asked.chat.completions.create(request, options);
  const second = await asked.chat.completions.create(request, options);
  assert.equal(second.id, first.id);
  assert.equal(second.created, first.created);
  assert.deepEqual(second.choices, first.choices);
  assert.equal(svcUsage(second)?.replayed, true);
  const streamed = await asked.chat.completions.stream(request, options).finalChatCompletion();
  assert.equal(streamed.id, first.id);
  assert.equal(streamed.choices[0]?.message.content, first.choices[0]?.message.content);
  await bed.simulator.expect({ started: 1 });
});

test('the client reads over the keep-alive comments of a silent stream', async () => {
  const prompt = '[[sim fault=stall at=2]]';
  const options = { headers: { 'Idempotency-Key': 'silent' } };
  const raw = await openChat(account, prompt, {}, { key: 'silent' });
  const stream = await client.chat.completions.create(
    { model, messages: user(prompt), stream: true },
    options,
  );
  setTimeout(() => void client.post('/generations/silent/cancel'), 20_000);
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  assert.equal(text, ' t0');
  await raw.read();
  assert.equal(raw.finishReason, 'length');
  assert.ok(raw.comments.length >= 1);
  // A blank line after the comment would be an event of its own to some clients.
  assert.doesNotMatch(raw.raw, /: keep-alive\n\n/);
});
