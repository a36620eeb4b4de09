// The simulator against the official client: if that client passes, the wire format is not just a
// mirror of our own reader.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';
import { encoded, eventually, post, statsOf } from './probe.ts';

const model = 'simulated-chat-large-2026-01-15';
let sim: RunningSim;
let client: OpenAI;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
  client = clientWith('right');
});
after(() => sim.close());

function clientWith(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${sim.port}/v1`, maxRetries: 0 });
}

function ask(text: string) {
  return { model, messages: [{ role: 'user' as const, content: text }] };
}

const stats = () => statsOf(sim);

test('lists its models', async () => {
  const ids = [];
  for await (const entry of client.models.list()) ids.push(entry.id);
  assert.ok(ids.includes(model));
});

test('answers JSON with numbered tokens and counts words as input', async () => {
  const reply = await client.chat.completions.create(ask('one two [[sim tokens=3 cached=2]]'));
  assert.equal(reply.choices[0]?.message.content, ' t0 t1 t2');
  assert.equal(reply.choices[0]?.finish_reason, 'stop');
  assert.equal(reply.usage?.prompt_tokens, 5);
  assert.equal(reply.usage?.prompt_tokens_details?.cached_tokens, 2);
  assert.equal(reply.usage?.completion_tokens, 3);
});

test('streams, with usage only when it is asked for', async () => {
  for (const includeUsage of [true, false]) {
    const stream = await client.chat.completions.create({
      ...ask('[[sim tokens=200 reasoning=2]]'),
      stream: true,
      ...(includeUsage ? { stream_options: { include_usage: true } } : {}),
    });
    let text = '';
    let usage = null;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    assert.equal(text, Array.from({ length: 200 }, (_, index) => ` t${index}`).join(''));
    assert.equal(usage?.completion_tokens, includeUsage ? 202 : undefined);
  }
});

test('paces a stream by first_ms and gap_ms', async () => {
  const watch = startStopwatch();
  const stream = await client.chat.completions.create({
    ...ask('[[sim tokens=5 first_ms=60 gap_ms=20]]'),
    stream: true,
  });
  let chunks = 0;
  for await (const _ of stream) chunks += 1;
  const tookMs = watch.assertWithin(1_000, 'a stream of 180 ms');
  assert.equal(chunks, 7);
  assert.ok(tookMs >= 60 + 6 * 20 - 5, `took ${tookMs} ms`);
});

test('stops at the output ceiling with finish_reason length', async () => {
  for (const limit of [{ max_tokens: 4 }, { max_completion_tokens: 4 }]) {
    const reply = await client.chat.completions.create({ ...ask('[[sim tokens=9]]'), ...limit });
    assert.equal(reply.choices[0]?.finish_reason, 'length');
    assert.equal(reply.usage?.completion_tokens, 4);
  }
});

test('runs a tool loop of two parallel calls through the client helper', async () => {
  const tool = (name: string) => ({
    type: 'function' as const,
    function: {
      name,
      description: name,
      function: () => 'sunny',
      parse: JSON.parse,
      parameters: { type: 'object' as const, properties: {} },
    },
  });
  const runner = client.chat.completions.runTools({
    ...ask('weather? [[sim tool=weather,clock text=it_is_sunny]]'),
    stream: true,
    tools: [tool('weather'), tool('clock')],
  });
  assert.equal(await runner.finalContent(), 'it is sunny');
  const called = runner.messages.flatMap(
    (message) => ('tool_calls' in message && message.tool_calls) || [],
  );
  assert.equal(called.length, 2);
});

test('satisfies or violates the schema that is asked for', async () => {
  const schema = {
    type: 'object',
    required: ['name', 'tags', 'kind', 'count', 'node'],
    additionalProperties: false,
    properties: {
      name: { type: 'string', minLength: 12 },
      tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
      kind: { enum: ['b', 'c'] },
      count: { type: 'integer', minimum: 5 },
      node: { $ref: '#/$defs/node' },
    },
    $defs: {
      node: {
        type: 'object',
        required: ['next'],
        properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
      },
    },
  };
  const request = (text: string) => ({
    ...ask(text),
    response_format: {
      type: 'json_schema' as const,
      json_schema: { name: 'thing', strict: true, schema },
    },
  });
  const good = await client.chat.completions.parse(request('[[sim json=good]]'));
  assert.deepEqual(good.choices[0]?.message.parsed, {
    name: 'simulatedxxx',
    tags: ['simulated', 'simulated'],
    kind: 'b',
    count: 5,
    node: { next: null },
  });
  const bad = await client.chat.completions.create(request('[[sim json=bad]]'));
  assert.equal(bad.choices[0]?.message.content, '{"simulated_violation":[null]}');
});

test('words its errors as the provider does', async () => {
  await assert.rejects(
    clientWith('wrong').chat.completions.create(ask('hi')),
    (error) => error instanceof OpenAI.AuthenticationError && error.code === 'invalid_api_key',
  );
  await assert.rejects(
    client.chat.completions.create({ ...ask('hi'), model: 'other' }),
    (error) => error instanceof OpenAI.NotFoundError && error.code === 'model_not_found',
  );
  await assert.rejects(
    client.chat.completions.create({ model, messages: [] }),
    OpenAI.BadRequestError,
  );
  await assert.rejects(
    client.chat.completions.create(ask('[[sim status=429 retry_after=7]]')),
    (error) =>
      error instanceof OpenAI.RateLimitError &&
      error.headers.get('retry-after') === '7' &&
      typeof error.requestID === 'string',
  );
  await assert.rejects(
    client.chat.completions.create(ask('[[sim status=529]]')),
    (error) => error instanceof OpenAI.InternalServerError && error.status === 529,
  );
});

test('injects faults at the event that was named', async () => {
  const read = async (text: string) => {
    let seen = '';
    const stream = await client.chat.completions.create({ ...ask(text), stream: true });
    try {
      for await (const chunk of stream) seen += chunk.choices[0]?.delta.content ?? '';
    } catch (error) {
      return { seen, error };
    }
    return { seen, error: null };
  };
  const cut = await read('[[sim fault=cut at=3]]');
  assert.equal(cut.seen, ' t0 t1');
  assert.ok(cut.error instanceof Error);
  const failed = await read('[[sim fault=error at=2]]');
  assert.equal(failed.seen, ' t0');
  assert.ok(failed.error instanceof OpenAI.APIError);
  const garbage = await read('[[sim fault=garbage at=2]]');
  assert.ok(garbage.error instanceof SyntaxError);
  const split = await read('[[sim fault=split_utf8 text=grüße_漢字_🙂_end]]');
  assert.equal(split.seen, 'grüße 漢字 🙂 end');
});

test('a stalled stream that the client leaves is counted as aborted', async () => {
  const before = await stats();
  const stream = await client.chat.completions.create({
    ...ask('[[sim fault=stall at=2]]'),
    stream: true,
  });
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content === ' t0') break;
  await eventually(async () => (await stats()).aborted === before.aborted + 1);
  assert.equal((await stats()).open, 0);
});

test('reports zero usage and no usage when told to', async () => {
  const zero = await client.chat.completions.create(ask('[[sim fault=zero_usage]]'));
  assert.equal(zero.usage?.total_tokens, 0);
  const none = await client.chat.completions.create(ask('[[sim fault=no_usage]]'));
  assert.equal(none.usage, undefined);
});

test('fails every request during an outage and works again after reset', async () => {
  await post(sim, '/sim/outage', { status: 503, for_ms: 60_000 });
  await assert.rejects(client.chat.completions.create(ask('hi')), OpenAI.InternalServerError);
  await post(sim, '/sim/reset', {});
  await client.chat.completions.create(ask('hi'));
  assert.equal((await stats()).started, 1);
});

test('fails one model during an outage of that model', async () => {
  await post(sim, '/sim/outage', { status: 503, for_ms: 60_000, model });
  await assert.rejects(client.chat.completions.create(ask('hi')), OpenAI.InternalServerError);
  await client.chat.completions.create({ ...ask('hi'), model: 'simulated-chat-small-2026-01-15' });
  await post(sim, '/sim/outage', { status: 0, model });
  await client.chat.completions.create(ask('hi'));
});

test('refuses calls without results and results without calls', async () => {
  const call = { id: 'c1', type: 'function' as const, function: { name: 'a', arguments: '{}' } };
  const user = { role: 'user' as const, content: 'hi' };
  const asked = { role: 'assistant' as const, content: null, tool_calls: [call] };
  const result = { role: 'tool' as const, tool_call_id: 'c1', content: 'done' };
  const send = (messages: OpenAI.ChatCompletionMessageParam[]) =>
    client.chat.completions.create({ model, messages });
  await assert.rejects(send([user, asked, user]), /must be followed by tool messages/);
  await assert.rejects(send([user, asked, user, result]), /must be followed by tool messages/);
  await assert.rejects(send([user, result]), /must be a response to a preceding message/);
  await send([user, asked, result]);
});

test('refuses files whose names do not tell their kind', async () => {
  const data = 'data:application/pdf;base64,JVBERi0=';
  const send = (filename: string) => {
    const part = { type: 'file' as const, file: { filename, file_data: data } };
    return client.chat.completions.create({ model, messages: [{ role: 'user', content: [part] }] });
  };
  await assert.rejects(send('Report of May'), /but got none/);
  await send('Report.PDF');
});

test('says a refusal in the member of its own, whole and streamed', async () => {
  const request = ask('[[sim refusal=1]]');
  const whole = await client.chat.completions.create(request);
  assert.equal(whole.choices[0]?.message.refusal, 'I cannot help with that.');
  assert.equal(whole.choices[0]?.message.content, null);
  const streamed = await client.chat.completions.stream(request).finalMessage();
  assert.equal(streamed.refusal, 'I cannot help with that.');
});

test('mixes in what nobody knows, and the client reads on', async () => {
  const stream = client.chat.completions.stream(ask('[[sim unknown=1 tokens=3]]'));
  assert.equal(await stream.finalContent(), ' t0 t1 t2');
  const raw = await post(
    sim,
    '/v1/chat/completions',
    { ...ask('[[sim unknown=1]]'), stream: true },
    {
      authorization: 'Bearer right',
    },
  );
  assert.match(await raw.text(), /^: SIMULATED COMMENT\n\nevent: sim\.unknown\n/m);
});

test('a directive holds for later turns, its script goes on with each result', async () => {
  const names = ['weather', 'clock'];
  const tools = names.map((name) => ({ type: 'function' as const, function: { name } }));
  const script = `call=weather:${encoded({ city: 'Köln' })} call=clock stop`;
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'user', content: `go [[sim ${script} text=all_done]]` },
  ];
  const called: unknown[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const stream = client.chat.completions.stream({ model, messages, tools });
    const message = await stream.finalMessage();
    messages.push(message);
    for (const call of message.tool_calls ?? []) {
      assert.ok(call.type === 'function');
      called.push([call.function.name, JSON.parse(call.function.arguments)]);
      messages.push({ role: 'tool', tool_call_id: call.id, content: 'done' });
    }
    messages.push({ role: 'user', content: 'go on' });
    if (message.tool_calls === undefined) break;
  }
  assert.deepEqual(called, [
    ['weather', { city: 'Köln' }],
    ['clock', {}],
  ]);
  assert.equal(messages.at(-2)?.content, 'all done');
});
