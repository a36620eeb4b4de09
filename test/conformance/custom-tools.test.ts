// Tools that take free text, as coding agents declare them for their patches: with the official
// client, at a model of each family. What has none is told functions, and nobody notices.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type OpenAI from 'openai';
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInput,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { openAi } from './client.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
let account: TestAccount;
let client: OpenAI;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
  client = openAi(account);
});
after(() => bed?.close());

const patch = '*** Begin Patch\n*** Add File: a "b".txt\n+\\ä😀\n*** End Patch';
const name = 'apply_patch';
const description = 'Edits files. This is a FREEFORM tool.';
const grammar = {
  type: 'grammar',
  syntax: 'lark',
  definition: 'start: "*** Begin Patch"',
} as const;
const tools = [{ type: 'custom' as const, name, description, format: grammar }];
/** The model writes the arguments that it was told of. */
const families = ['chat', 'messages', 'gemini', 'responses'] as const;
type Family = (typeof families)[number];

function prompt(family: Family, text = patch): string {
  const written = family === 'responses' ? text : JSON.stringify({ input: text });
  const call = `${name}:${Buffer.from(written).toString('base64url')}`;
  return `[[sim call=${call} text=all_done]]`;
}

function ask(family: Family): ResponseCreateParamsNonStreaming {
  return { model: `svc-sim-${family}`, input: prompt(family), tools };
}

async function collect(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function streamed(body: ResponseCreateParamsNonStreaming, headers = {}) {
  return collect(await client.responses.create({ ...body, stream: true }, { headers }));
}

function callOf({ output }: Response) {
  const call = output.find((item) => item.type === 'custom_tool_call');
  assert.ok(call?.type === 'custom_tool_call');
  return call;
}

function lastOf(events: readonly ResponseStreamEvent[]): Response {
  const last = events.at(-1);
  assert.ok(last?.type === 'response.completed');
  return last.response;
}

/** What an event says beside ids, numbers and the time; runs of deltas are one. */
function shape(events: readonly ResponseStreamEvent[]): unknown[] {
  const shapes: { type: string; members: string[] }[] = [];
  for (const event of events) {
    const members = Object.keys('item' in event ? event.item : event).sort();
    if (event.type.endsWith('.delta') && shapes.at(-1)?.type === event.type) continue;
    // The simulator leaves the status of this item out, the format's own server does not.
    shapes.push({ type: event.type, members: members.filter((member) => member !== 'status') });
  }
  return shapes;
}

/** What stands at a place of a body. */
function at(value: unknown, ...places: (string | number)[]): unknown {
  return places.reduce<unknown>((inner, place) => Object(inner)[place], value);
}

/** What the provider was told of the call and its result: name, text, result. */
function toldOf(family: Family, sent: Members): unknown[] {
  switch (family) {
    case 'chat': {
      const called = at(sent.messages, 1, 'tool_calls', 0, 'function');
      const args = JSON.parse(String(at(called, 'arguments')));
      return [at(called, 'name'), args.input, at(sent.messages, 2, 'content')];
    }
    case 'messages': {
      const used = at(sent.messages, 1, 'content', 0);
      const result = at(sent.messages, 2, 'content', 0, 'content', 0, 'text');
      return [at(used, 'name'), at(used, 'input', 'input'), result];
    }
    case 'gemini': {
      const called = at(sent.contents, 1, 'parts', 0, 'functionCall');
      const result = at(sent.contents, 2, 'parts', 0, 'functionResponse', 'response', 'output');
      return [at(called, 'name'), at(called, 'args', 'input'), result];
    }
    case 'responses': {
      const types = [at(sent.input, 1, 'type'), at(sent.input, 2, 'type')];
      assert.deepEqual(types, ['custom_tool_call', 'custom_tool_call_output']);
      const call = at(sent.input, 1);
      return [at(call, 'name'), at(call, 'input'), at(sent.input, 2, 'output')];
    }
  }
}

for (const family of families) {
  test(`Responses: a call and its result, streamed, whole and again (${family})`, async () => {
    const headers = { 'idempotency-key': `custom-${family}` };
    const events = await streamed(ask(family), headers);
    assert.deepEqual(shape(events), shape(await streamed(ask('responses'))));
    const deltas = events.flatMap((event) =>
      event.type === 'response.custom_tool_call_input.delta' ? [event.delta] : [],
    );
    assert.equal(deltas.join(''), patch);
    if (family === 'chat' || family === 'messages') assert.ok(deltas.length > 1, 'as it comes');
    const done = events.find(({ type }) => type === 'response.custom_tool_call_input.done');
    assert.ok(done?.type === 'response.custom_tool_call_input.done');
    assert.equal(done.input, patch);
    const response = lastOf(events);
    const call = callOf(response);
    assert.deepEqual([call.name, call.input, done.item_id], [name, patch, call.id]);
    assert.deepEqual(response.tools, tools);

    const again = await streamed(ask(family), headers);
    assert.equal(callOf(lastOf(again)).id, call.id);
    assert.deepEqual(shape(again), shape(events));
    const whole = await client.responses.create(ask(family), { headers });
    assert.deepEqual(whole.output, response.output);
    assert.deepEqual((await client.responses.retrieve(response.id)).output, response.output);
  });

  test(`Responses: goes on with the result, sent or continued (${family})`, async () => {
    const first = await client.responses.create(ask(family));
    const { call_id } = callOf(first);
    const result = { type: 'custom_tool_call_output' as const, call_id, output: 'Success.' };
    const said = { role: 'user' as const, content: prompt(family) };
    const input: ResponseInput = [said, ...(first.output as ResponseInput), result];
    const body = { ...ask(family), input };
    for (const next of [body, { ...body, input: [result], previous_response_id: first.id }]) {
      const response = await client.responses.create(next);
      assert.equal(response.output_text, 'all done');
      assert.deepEqual(toldOf(family, await bed.simulator.lastBody()), [name, patch, 'Success.']);
    }
  });

  test(`Chat: a call and its result, streamed and whole (${family})`, async () => {
    const { type, ...beside } = grammar;
    const format = { type, grammar: beside };
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'user', content: prompt(family) },
    ];
    const body: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      model: `svc-sim-${family}`,
      messages,
      tools: [{ type: 'custom', custom: { name, description, format } }],
      tool_choice: { type: 'custom', custom: { name } },
    };
    const { choices } = await client.chat.completions.create(body);
    const message = choices[0]?.message;
    const [call] = message?.tool_calls ?? [];
    assert.ok(message !== undefined && call?.type === 'custom');
    assert.deepEqual(call.custom, { name, input: patch });
    let [input, kind, finish] = ['', '', ''];
    for await (const chunk of await client.chat.completions.create({ ...body, stream: true })) {
      const [choice] = chunk.choices;
      for (const one of choice?.delta.tool_calls ?? []) {
        input += one.custom?.input ?? '';
        kind += one.type ?? '';
      }
      finish += choice?.finish_reason ?? '';
    }
    assert.deepEqual([input, kind, finish], [patch, 'custom', 'tool_calls']);
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: 'Success.' });
    const next = await client.chat.completions.create({ ...body, tool_choice: 'auto' });
    assert.equal(next.choices[0]?.message.content, 'all done');
    assert.deepEqual(toldOf(family, await bed.simulator.lastBody()), [name, patch, 'Success.']);
  });
}

test('a background stream goes on from any event; bare text is taken as it is', async () => {
  const bare = Buffer.from(patch).toString('base64url');
  const body = {
    model: 'svc-sim-chat',
    input: `[[sim call=${name}:${bare},${name}:${bare}]]`,
    tools,
    tool_choice: { type: 'custom' as const, name },
  };
  const created = await client.responses.create({ ...body, background: true, stream: true });
  const events = await collect(created);
  const response = lastOf(events);
  const inputs = response.output.map((item) => item.type === 'custom_tool_call' && item.input);
  assert.deepEqual(inputs, [patch, patch]);
  for (const start of [0, 3, Math.trunc(events.length / 2)]) {
    const from = { stream: true as const, starting_after: start };
    const rest = await collect(await client.responses.retrieve(response.id, from));
    assert.deepEqual(rest, events.slice(start + 1));
  }
  const sent = (await bed.simulator.lastBody()) as { tool_choice: unknown };
  assert.deepEqual(sent.tool_choice, { type: 'function', function: { name } });
});

test('a custom tool inside of a namespace is called by both names', async () => {
  const written = Buffer.from('{"input":"x"}').toString('base64url');
  const response = await client.responses.create({
    model: 'svc-sim-messages',
    input: `[[sim call=files__${name}:${written}]]`,
    tools: [{ type: 'namespace', name: 'files', description: 'Files.', tools }],
  });
  const call = callOf(response);
  assert.deepEqual([call.namespace, call.name, call.input], ['files', name, 'x']);
});
