// Stored and background responses with the official OpenAI client: created, read, continued,
// streamed from any event on, cancelled, deleted, listed.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import OpenAI from 'openai';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { model, openAi, svcUsage } from './client.ts';

let bed: Testbed;
let account: TestAccount;
let client: OpenAI;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
  client = openAi(account);
});
afterEach(async () => {
  await account.quiet();
});
after(() => bed?.close());

const tools: OpenAI.Responses.FunctionTool[] = [
  {
    type: 'function',
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
    strict: false,
  },
];

async function ended(id: string): Promise<Response> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const response = await client.responses.retrieve(id);
    if (response.status !== 'in_progress' && response.status !== 'queued') return response;
    assert.ok(performance.now() < deadline, 'the response ends');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function collect(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

function isProblem(status: number, code: string, param: string | null) {
  return (error: unknown) => {
    assert.ok(error instanceof OpenAI.APIError, String(error));
    assert.deepEqual([error.status, error.code, error.param], [status, code, param]);
    return true;
  };
}

test('a whole response is read again as it was answered', async () => {
  const created = await client.responses.create({
    model,
    input: 'hello [[sim tokens=3]]',
    instructions: 'Be brief.',
    metadata: { purpose: 'test' },
  });
  assert.equal(created.output_text, ' t0 t1 t2');
  const read = await client.responses.retrieve(created.id);
  assert.deepEqual(read, created);
  assert.equal(svcUsage(read)?.replayed, false);
});

test('a response that is not to be stored is not', async () => {
  const created = await client.responses.create({ model, input: 'hello', store: false });
  await assert.rejects(
    client.responses.retrieve(created.id),
    isProblem(404, 'not_found', 'response_id'),
  );
  const next = { model, input: 'and?', previous_response_id: created.id };
  await assert.rejects(
    client.responses.create(next),
    isProblem(404, 'not_found', 'previous_response_id'),
  );
});

test('three turns with a tool call are one conversation, with its own instructions', async () => {
  const first = await client.responses.create({
    model,
    input: 'What is the weather in Oslo? [[sim tool=get_weather]]',
    instructions: 'first instructions',
    tools,
  });
  const [call] = first.output;
  assert.ok(call?.type === 'function_call');
  const second = await client.responses.create({
    model,
    previous_response_id: first.id,
    input: [{ type: 'function_call_output', call_id: call.call_id, output: '{"celsius":-3}' }],
    tools,
  });
  assert.equal(second.previous_response_id, first.id);
  assert.ok(second.output_text.length > 0);
  const third = await client.responses.create({
    model,
    previous_response_id: second.id,
    input: 'thanks [[sim tokens=2]]',
    instructions: 'third instructions',
    stream: true,
  });
  const events = await collect(third);
  assert.equal(events.at(-1)?.type, 'response.completed');
  const { messages } = (await bed.simulator.lastBody()) as {
    messages: { role: string; content: unknown; tool_calls?: unknown[] }[];
  };
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['system', 'user', 'assistant', 'tool', 'assistant', 'user'],
  );
  assert.equal(messages[0]?.content, 'third instructions');
  assert.equal(messages[2]?.tool_calls?.length, 1);
  assert.equal(messages[3]?.content, '{"celsius":-3}');
  assert.equal(messages[4]?.content, second.output_text);
});

test('a background response is queued at once, runs alone, and is read at its end', async () => {
  const created = await client.responses.create({
    model,
    input: '[[sim tokens=20 gap_ms=10]]',
    background: true,
  });
  assert.equal(created.status, 'queued');
  assert.deepEqual(created.output, []);
  assert.equal(created.background, true);
  const running = await client.responses.retrieve(created.id);
  assert.equal(running.status, 'in_progress');
  const response = await ended(created.id);
  assert.equal(response.status, 'completed');
  assert.equal(response.output_text, Array.from({ length: 20 }, (_, i) => ` t${i}`).join(''));
  assert.equal(response.created_at, created.created_at);
  assert.equal(svcUsage(response)?.output_tokens, 20);
});

test('a background stream goes on from any event, while it runs and afterwards', async () => {
  const stream = await client.responses.create({
    model,
    input: '[[sim tokens=30 gap_ms=5]]',
    background: true,
    stream: true,
  });
  const first: ResponseStreamEvent[] = [];
  for await (const event of stream) {
    first.push(event);
    if (first.length === 10) break;
  }
  const [begun] = first;
  assert.ok(begun?.type === 'response.created');
  const { id } = begun.response;
  const rest = await collect(
    await client.responses.retrieve(id, { stream: true, starting_after: 9 }),
  );
  assert.equal(rest[0]?.sequence_number, 10);
  assert.equal(rest.at(-1)?.type, 'response.completed');
  const all = await collect(await client.responses.retrieve(id, { stream: true }));
  assert.deepEqual(all, [...first, ...rest]);
  for (const after of [0, 9, 20, all.length - 2]) {
    const again = await client.responses.retrieve(id, { stream: true, starting_after: after });
    assert.deepEqual(await collect(again), all.slice(after + 1));
  }
  const none = { stream: true, starting_after: all.length - 1 } as const;
  assert.deepEqual(await collect(await client.responses.retrieve(id, none)), []);
});

test('the stream helper takes up a background response where it was left', async () => {
  const created = await client.responses.create({
    model,
    input: '[[sim tokens=5 gap_ms=5]]',
    background: true,
  });
  const helper = client.responses.stream({ response_id: created.id });
  const final = await helper.finalResponse();
  assert.equal(final.output_text, ' t0 t1 t2 t3 t4');
});

test('a cancelled response keeps and charges what it had, also when cancelled again', async () => {
  const created = await client.responses.create({
    model,
    input: '[[sim tokens=1000 gap_ms=10]]',
    background: true,
  });
  const stream = await client.responses.retrieve(created.id, { stream: true });
  for await (const event of stream) if (event.type === 'response.output_text.delta') break;
  const cancelled = await client.responses.cancel(created.id);
  assert.equal(cancelled.status, 'cancelled');
  const message = cancelled.output[0];
  assert.ok(message?.type === 'message' && message.status === 'incomplete');
  assert.ok((svcUsage(cancelled)?.charge_microcredits ?? 0) > 0);
  assert.equal((await account.quiet()).heldMicros, 0n);
  assert.deepEqual(await client.responses.cancel(created.id), cancelled);
  const { output_text: text, ...read } = await client.responses.retrieve(created.id);
  assert.deepEqual(read, cancelled);
  assert.match(text, /^ t0/);
});

test('what has ended otherwise cannot be cancelled', async () => {
  const { id } = await client.responses.create({ model, input: 'hello' });
  await assert.rejects(client.responses.cancel(id), isProblem(409, 'invalid_state', null));
});

test('a deleted response is gone and cannot be continued; none is deleted running', async () => {
  const first = await client.responses.create({ model, input: 'hello' });
  const second = await client.responses.create({
    model,
    input: 'and?',
    previous_response_id: first.id,
  });
  const raw = await client.responses.delete(first.id).asResponse();
  assert.deepEqual(await raw.json(), { id: first.id, object: 'response', deleted: true });
  const gone = isProblem(404, 'not_found', 'response_id');
  await assert.rejects(client.responses.retrieve(first.id), gone);
  await assert.rejects(client.responses.delete(first.id), gone);
  await assert.rejects(client.responses.cancel(first.id), gone);
  await assert.rejects(async () => client.responses.inputItems.list(first.id), gone);
  assert.equal((await client.responses.retrieve(second.id)).id, second.id);
  await assert.rejects(
    client.responses.create({ model, input: 'so?', previous_response_id: second.id }),
    isProblem(404, 'not_found', 'previous_response_id'),
  );
  const running = await client.responses.create({
    model,
    input: '[[sim tokens=1000 gap_ms=10]]',
    background: true,
  });
  await assert.rejects(client.responses.delete(running.id), isProblem(409, 'invalid_state', null));
  await client.responses.cancel(running.id);
  await client.responses.delete(running.id);
});

test('input items are listed page by page in both orders', async () => {
  const { id } = await client.responses.create({
    model,
    input: Array.from({ length: 5 }, (_, index) => ({
      role: 'user' as const,
      content: `text ${index}`,
    })),
  });
  const texts: string[] = [];
  const ids = new Set<string>();
  for await (const item of client.responses.inputItems.list(id, { limit: 2, order: 'asc' })) {
    assert.ok(item.type === 'message' && item.role === 'user');
    const [part] = item.content;
    texts.push(part?.type === 'input_text' ? part.text : '');
    ids.add(item.id ?? '');
  }
  assert.deepEqual(texts, ['text 0', 'text 1', 'text 2', 'text 3', 'text 4']);
  assert.equal(ids.size, 5);
  const newest = await client.responses.inputItems.list(id, { limit: 1 });
  assert.equal(newest.data.length, 1);
  assert.ok(newest.has_more);
  await assert.rejects(
    async () => client.responses.inputItems.list(id, { after: 'msg_unknown' }),
    isProblem(400, 'invalid_request', 'after'),
  );
});

test('another account sees and continues nothing of it', async () => {
  const { id } = await client.responses.create({ model, input: 'hello' });
  const other = openAi(await bed.account());
  const unseen = isProblem(404, 'not_found', 'response_id');
  await assert.rejects(other.responses.retrieve(id), unseen);
  await assert.rejects(other.responses.retrieve(id, { stream: true }), unseen);
  await assert.rejects(other.responses.delete(id), unseen);
  await assert.rejects(other.responses.cancel(id), unseen);
  await assert.rejects(async () => other.responses.inputItems.list(id), unseen);
  await assert.rejects(
    other.responses.create({ model, input: 'and?', previous_response_id: id }),
    isProblem(404, 'not_found', 'previous_response_id'),
  );
});

test('items of stored responses are named by their ids, an account’s own alone', async () => {
  const input = '[[sim tool=get_weather tokens=2]]';
  const first = await client.responses.create({ model, input, tools });
  const [call] = first.output;
  assert.ok(call?.type === 'function_call');
  const next = (id: string) => ({
    model,
    tools,
    input: [
      { role: 'user' as const, content: input },
      { type: 'item_reference' as const, id },
      { type: 'function_call_output' as const, call_id: call.call_id, output: 'sunny' },
    ],
  });
  assert.ok(call.id !== undefined);
  const second = await client.responses.create(next(call.id));
  assert.equal(second.output_text, ' t0 t1');
  const items = await client.responses.inputItems.list(second.id, { order: 'asc' });
  assert.deepEqual(
    items.data.map((item) => item.type),
    ['message', 'function_call', 'function_call_output'],
  );
  // The type may be left out.
  const untyped = next(call.id);
  untyped.input[1] = { id: call.id } as (typeof untyped.input)[number];
  assert.equal((await client.responses.create(untyped)).output_text, ' t0 t1');
  const refused = isProblem(400, 'invalid_request', 'input[1].id');
  for (const id of [call.id.replace('fc_', 'msg_'), `${call.id.slice(0, -1)}7`, 'fc_x']) {
    await assert.rejects(client.responses.create(next(id)), refused, id);
  }
  const other = openAi(await bed.account());
  await assert.rejects(other.responses.create(next(call.id)), refused);
  await client.responses.delete(first.id);
  await assert.rejects(client.responses.create(next(call.id)), refused);
});

test('a call of another family’s model is told in its namespace where there are any', async () => {
  const get: OpenAI.Responses.NamespaceTool['tools'][number] = {
    type: 'function',
    name: 'get',
    parameters: { type: 'object', properties: {} },
  };
  const grouped = [{ type: 'namespace' as const, name: 'crm', description: 'd', tools: [get] }];
  const input = '[[sim tool=crm__get tokens=1]]';
  const first = await client.responses.create({ model, input, tools: grouped });
  const [call] = first.output;
  assert.ok(call?.type === 'function_call' && call.namespace === 'crm' && call.id !== undefined);
  const output = {
    type: 'function_call_output' as const,
    call_id: call.call_id,
    output: 'sunny',
  };
  const told = { model: 'svc-sim-responses', tools: grouped };
  const continued = { ...told, previous_response_id: first.id, input: [output] };
  const reference = { type: 'item_reference' as const, id: call.id };
  const named = { ...told, input: [{ role: 'user' as const, content: input }, reference, output] };
  for (const body of [continued, named]) {
    await client.responses.create(body);
    const { input: items } = (await bed.simulator.lastBody()) as { input: typeof first.output };
    const sent = items.find((item) => item.type === 'function_call');
    assert.deepEqual([sent?.namespace, sent?.name], ['crm', 'get']);
  }
});
