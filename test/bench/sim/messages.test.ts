// The Messages family of the simulator against the vendor's own client and published types.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { signatureOf } from '../../../bench/sim/messages/signature.ts';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { encoded, eventsOf, eventually, post, statsOf } from './probe.ts';
import { readPublished } from './published.ts';

const model = 'simulated-messages-large-2026-01-15';
const published = readPublished('@anthropic-ai/sdk/resources/messages/messages');
const versions = ['2023-06-01', '2026-10-21'];
let sim: RunningSim;
let client: Anthropic;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
  client = clientWith({ apiKey: 'right' });
});
after(() => sim.close());

function clientWith(keys: { apiKey: string | null; authToken?: string }): Anthropic {
  const defaultHeaders = { 'anthropic-version': versions[0] };
  const baseURL = `http://127.0.0.1:${sim.port}`;
  return new Anthropic({
    baseURL,
    maxRetries: 0,
    ...keys,
    ...(keys.authToken ? { defaultHeaders } : {}),
  });
}

function ask(content: string, more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) {
  const messages = [{ role: 'user' as const, content }];
  return { model, max_tokens: 4096, messages, ...more };
}

const weather: Anthropic.Tool = {
  name: 'weather',
  description: 'weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const clock: Anthropic.Tool = { ...weather, name: 'clock' };
const webSearch: Anthropic.WebSearchTool20250305 = {
  type: 'web_search_20250305',
  name: 'web_search',
};
const everything: [string, Partial<Anthropic.MessageCreateParamsNonStreaming>][] = [
  ['[[sim tokens=40 cached=1]]', {}],
  ['[[sim tokens=0]]', {}],
  ['[[sim reasoning=3 cache_write=1]]', { thinking: { type: 'enabled', budget_tokens: 1024 } }],
  ['[[sim reasoning=3]]', { thinking: { type: 'adaptive', display: 'omitted' } }],
  ['[[sim tool=weather,clock reasoning=1]]', { tools: [weather, clock] }],
  ['penguins [[sim search=2]]', { tools: [webSearch] }],
  ['penguins [[sim search=1 empty=1]]', { tools: [webSearch] }],
  ['[[sim refusal=1]]', {}],
  ['[[sim text=one_two_END_three]]', { stop_sequences: ['END'] }],
  ['[[sim tokens=9]]', { max_tokens: 4 }],
];

test('what it sends has the published types, whole and streamed, in both versions', async () => {
  for (const version of versions) {
    for (const [text, more] of everything) {
      const headers = { 'x-api-key': 'right', 'anthropic-version': version };
      const reply = await post(sim, '/v1/messages', ask(text, more), headers);
      assert.equal(reply.status, 200);
      assert.deepEqual(published.findings(await reply.json(), 'Message'), [], text);
      const body = { ...ask(text, more), stream: true };
      const events = await eventsOf(await post(sim, '/v1/messages', body, headers));
      const names = events.map(({ name }) => name);
      assert.equal(names.filter((name) => name === 'ping').length, 1);
      assert.deepEqual(names.slice(-2), ['message_delta', 'message_stop']);
      for (const { name, data } of events) {
        assert.equal((data as { type: string }).type, name);
        if (name === 'ping' || (name === 'message_delta' && version === versions[0])) continue;
        assert.deepEqual(published.findings(data, 'RawMessageStreamEvent'), [], text);
      }
    }
  }
});

test('lists its models and describes one, beside the list of the other families', async () => {
  const publishedModels = readPublished('@anthropic-ai/sdk/resources/models');
  const ids: string[] = [];
  for await (const entry of client.models.list()) {
    ids.push(entry.id);
    assert.deepEqual(publishedModels.findings(entry, 'ModelInfo'), []);
  }
  assert.ok(ids.includes(model));
  assert.equal((await client.models.retrieve(model)).id, model);
  await assert.rejects(client.models.retrieve('other'), Anthropic.NotFoundError);
  await assert.rejects(
    clientWith({ apiKey: 'wrong' }).models.list(),
    Anthropic.AuthenticationError,
  );
  const headers = { authorization: 'Bearer right' };
  const other = await fetch(`http://127.0.0.1:${sim.port}/v1/models`, { headers });
  const { data } = (await other.json()) as { data: { id: string }[] };
  assert.ok(data.some(({ id }) => id.startsWith('simulated-chat-')));
  assert.ok(data.every(({ id }) => !ids.includes(id)));
});

test('the stream helper ends with the same message as the whole answer', async () => {
  for (const [text, more] of everything) {
    const whole = await client.messages.create(ask(text, more));
    const streamed = await client.messages.stream(ask(text, more)).finalMessage();
    const comparable = ({ content, stop_reason, stop_sequence, usage }: Anthropic.Message) => {
      const ids = /(toolu|srvtoolu)_\w+/g;
      const { input_tokens, output_tokens, server_tool_use } = usage;
      const plain = JSON.parse(JSON.stringify(content).replace(ids, '$1'));
      return { plain, stop_reason, stop_sequence, input_tokens, output_tokens, server_tool_use };
    };
    assert.deepEqual(comparable(streamed), comparable(whole), text);
  }
});

test('counts disjoint input, and count_tokens says their sum beforehand', async () => {
  const body = {
    ...ask('one two [[sim tokens=3 cached=2 cache_write=1]]'),
    system: [{ type: 'text' as const, text: 'be very kind' }],
  };
  const { max_tokens: _, ...countable } = body;
  const { input_tokens: counted } = await client.messages.countTokens(countable);
  const { usage } = await client.messages.create(body);
  assert.equal(counted, 9);
  assert.deepEqual(
    [usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens],
    [6, 2, 1],
  );
  assert.equal(usage.output_tokens, 3);
});

test('ends for its own reasons: ceiling, stop sequence, tool use, refusal', async () => {
  const reasonOf = async (text: string, more = {}) => {
    const { stop_reason, stop_sequence, content, stop_details } = await client.messages.create(
      ask(text, more),
    );
    return { stop_reason, stop_sequence, content, stop_details };
  };
  const ceiling = await reasonOf('[[sim tokens=9]]', { max_tokens: 4 });
  assert.equal(ceiling.stop_reason, 'max_tokens');
  const stopped = await reasonOf('[[sim tokens=9]]', { stop_sequences: ['none', ' t3'] });
  assert.equal(stopped.stop_sequence, ' t3');
  assert.deepEqual(stopped.content, [{ type: 'text', text: ' t0 t1 t2', citations: null }]);
  const refusal = await reasonOf('[[sim refusal=1]]');
  assert.equal(refusal.stop_reason, 'refusal');
  assert.deepEqual(refusal.content, []);
  assert.equal(refusal.stop_details?.type, 'refusal');
  const forced = await reasonOf('hello', {
    tools: [clock, weather],
    tool_choice: { type: 'tool', name: 'weather' },
  });
  assert.equal(forced.stop_reason, 'tool_use');
  assert.deepEqual((forced.content[0] as Anthropic.ToolUseBlock).input, { city: 'simulated' });
});

test('a scripted agent calls tool after tool with the arguments that were given', async () => {
  const [first, second] = [{ city: 'Köln "1"' }, { city: 'Oslo' }];
  const script = `call=weather:${encoded(first)},clock call=weather:${encoded(second)}`;
  const messages: Anthropic.MessageParam[] = [
    { role: 'user', content: `go [[sim ${script} text=all_done]]` },
  ];
  const called: unknown[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const stream = client.messages.stream({ ...ask(''), messages, tools: [weather, clock] });
    const { content, stop_reason } = await stream.finalMessage();
    messages.push({ role: 'assistant', content });
    if (stop_reason === 'end_turn') break;
    const calls = content.filter((block) => block.type === 'tool_use');
    called.push(calls.map(({ name, input }) => [name, input]));
    const results = calls.map(({ id }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: 'sunny [[sim status=500]]',
    }));
    messages.push({ role: 'user', content: [...results, { type: 'text', text: 'go on' }] });
  }
  assert.deepEqual(called, [
    [
      ['weather', first],
      ['clock', {}],
    ],
    [['weather', second]],
  ]);
  const last = messages.at(-1)?.content;
  assert.deepEqual(last, [{ type: 'text', text: 'all done', citations: null }]);
});

test('the tool runner goes on without a thread when threads are refused', async () => {
  const runner = client.beta.messages.toolRunner({
    ...ask('[[sim tool=weather text=it_is_sunny]]'),
    tools: [{ ...weather, run: () => 'sunny', parse: (input: unknown) => input }] as never,
  });
  const { content } = await runner;
  assert.equal((content[0] as { text: string }).text, 'it is sunny');
});

test('searches only where the tool is declared, no more often than allowed', async () => {
  const text = 'emperor penguins [[sim search=3 tokens=2]]';
  const found = await client.messages.create(ask(text, { tools: [{ ...webSearch, max_uses: 2 }] }));
  assert.equal(found.usage.server_tool_use?.web_search_requests, 2);
  const [call, results, , , answer] = found.content;
  assert.ok(call?.type === 'server_tool_use' && results?.type === 'web_search_tool_result');
  assert.deepEqual(call.input, { query: 'emperor penguins' });
  assert.equal(results.tool_use_id, call.id);
  assert.ok(answer?.type === 'text' && answer.citations?.length === 2);
  const none = await client.messages.create(ask(text));
  assert.equal(none.usage.server_tool_use, null);
});

test('satisfies the schema that is asked for', async () => {
  const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
  const format = { type: 'json_schema' as const, schema };
  const reply = await client.messages.create(ask('hi', { output_config: { format } }));
  assert.deepEqual(JSON.parse((reply.content[0] as Anthropic.TextBlock).text), { n: 1 });
});

const call = { type: 'tool_use' as const, id: 'toolu_1', name: 'weather', input: {} };
const result = { type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'sunny' };
const thought = { type: 'thinking' as const, thinking: ' r0', signature: 'wrong' };
const enabled = { type: 'enabled' as const, budget_tokens: 1024 };
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const refused: [string, object, RegExp][] = [
  ['no ceiling', { max_tokens: undefined }, /max_tokens: Field required/],
  ['assistant first', { messages: [assistant('hi'), user('hi')] }, /first message must use/],
  ['no messages', { messages: [] }, /at least one message/],
  ['empty text', { messages: [user([{ type: 'text', text: '' }])] }, /must be non-empty/],
  ['trailing space', { messages: [user('a'), assistant('b ')] }, /trailing whitespace/],
  ['result without call', { messages: [user([result])] }, /unexpected `tool_use_id`/],
  [
    'call without result',
    { messages: [user('a'), assistant([call]), user('b')] },
    /without `tool_result`/,
  ],
  [
    'text before the result',
    { messages: [user('a'), assistant([call]), user([{ type: 'text', text: 'b' }, result])] },
    /without `tool_result`/,
  ],
  ['small budget', { thinking: { ...enabled, budget_tokens: 1000 } }, /greater than or equal/],
  ['budget over the ceiling', { thinking: enabled, max_tokens: 1024 }, /`max_tokens` must be/],
  ['cool thinking', { thinking: enabled, temperature: 0.5 }, /`temperature` may only/],
  ['hot', { temperature: 1.5 }, /range: 0..1/],
  [
    'forged thinking',
    { messages: [user('a'), assistant([thought]), user('b')] },
    /Invalid `signature`/,
  ],
  [
    'thinking at the end of a message',
    {
      messages: [user('a'), assistant([{ ...thought, signature: signatureOf(' r0') }]), user('b')],
    },
    /final block in an assistant message/,
  ],
  [
    'calls without their thinking',
    { thinking: enabled, messages: [user('a'), assistant([call]), user([result])] },
    /Expected `thinking`/,
  ],
  ['bad tool name', { tools: [{ ...weather, name: 'a b' }] }, /should match pattern/],
];

test('refuses what the provider refuses', async () => {
  for (const [what, more, message] of refused) {
    const request = client.messages.create({ ...ask('hi'), ...more } as never);
    await assert.rejects(request, (error) => {
      assert.ok(error instanceof Anthropic.BadRequestError, what);
      assert.match(error.message, message);
      return true;
    });
  }
  const unversioned = await post(sim, '/v1/messages', ask('hi'), { 'x-api-key': 'right' });
  assert.equal(unversioned.status, 400);
});

test('takes thinking back that it signed, and results over two user messages', async () => {
  const tools = [weather, clock];
  const asked = ask('[[sim reasoning=2 tool=weather,clock tokens=1]]', {
    tools,
    thinking: enabled,
  });
  const { content } = await client.messages.stream(asked).finalMessage();
  const ids = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  const results = ids.map((id) => ({
    role: 'user' as const,
    content: [{ type: 'tool_result' as const, tool_use_id: id, content: 'sunny' }],
  }));
  const messages = [...asked.messages, { role: 'assistant' as const, content }, ...results];
  const reply = await client.messages.create({ ...asked, messages });
  assert.equal(reply.stop_reason, 'end_turn');
});

test('words its errors as the provider does, and takes the key either way', async () => {
  await assert.rejects(clientWith({ apiKey: 'wrong' }).messages.create(ask('hi')), (error) => {
    assert.ok(error instanceof Anthropic.AuthenticationError);
    assert.equal(error.type, 'authentication_error');
    return true;
  });
  await clientWith({ apiKey: null, authToken: 'right' }).messages.create(ask('hi'));
  await assert.rejects(
    client.messages.create({ ...ask('hi'), model: 'x' }),
    Anthropic.NotFoundError,
  );
  const failing = (status: number) =>
    client.messages.create(ask(`[[sim status=${status} retry_after=7]]`));
  await assert.rejects(failing(529), (error) => {
    assert.ok(error instanceof Anthropic.APIError);
    assert.deepEqual([error.status, error.type], [529, 'overloaded_error']);
    return true;
  });
  await assert.rejects(failing(429), (error) => {
    assert.ok(error instanceof Anthropic.RateLimitError);
    assert.equal(error.headers.get('retry-after'), '7');
    assert.match(String(error.requestID), /^req_/);
    return true;
  });
});

test('injects faults at the event that was named', async () => {
  const read = async (text: string) => {
    let seen = '';
    try {
      const stream = await client.messages.create({ ...ask(text), stream: true });
      for await (const event of stream) {
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
          seen += event.delta.text;
        }
      }
    } catch (error) {
      return { seen, error };
    }
    return { seen, error: null };
  };
  const cut = await read('[[sim fault=cut at=5]]');
  assert.equal(cut.seen, ' t0 t1');
  assert.ok(cut.error instanceof Error);
  const failed = await read('[[sim fault=error at=4]]');
  assert.equal(failed.seen, ' t0');
  assert.ok(failed.error instanceof Anthropic.APIError);
  assert.equal(failed.error.type, 'overloaded_error');
  const split = await read('[[sim fault=split_utf8 text=grüße_漢字_🙂_end]]');
  assert.equal(split.seen, 'grüße 漢字 🙂 end');
  const strange = await read('[[sim unknown=1 tokens=3]]');
  assert.equal(strange.seen, ' t0 t1 t2');
  assert.equal((await read('[[sim fault=garbage at=3]]')).error instanceof SyntaxError, true);
});

test('leaves usage out or reports zeros when told to', async () => {
  const headers = { 'x-api-key': 'right', 'anthropic-version': '2026-10-21' };
  for (const stream of [false, true]) {
    const body = { ...ask('[[sim fault=no_usage]]'), stream };
    const text = await (await post(sim, '/v1/messages', body, headers)).text();
    assert.doesNotMatch(text, /"usage"/);
  }
  const { usage } = await client.messages.stream(ask('[[sim fault=zero_usage]]')).finalMessage();
  assert.deepEqual([usage.input_tokens, usage.output_tokens], [0, 0]);
});

test('a stalled stream that the client leaves is counted as aborted', async () => {
  const earlier = await statsOf(sim);
  const stream = await client.messages.create({ ...ask('[[sim fault=stall at=3]]'), stream: true });
  for await (const event of stream) if (event.type === 'content_block_start') break;
  await eventually(async () => (await statsOf(sim)).aborted === earlier.aborted + 1);
});

test('the check against published types sees what is missing, wrong or invented', () => {
  const delta = { type: 'text_delta', text: 'a' };
  const event = { type: 'content_block_delta', index: 0, delta };
  const found = (value: unknown) => published.findings(value, 'RawMessageStreamEvent').join('; ');
  assert.equal(found(event), '');
  assert.match(found({ ...event, index: '0' }), /index: "0" is not number/);
  assert.match(found({ type: 'content_block_delta', delta }), /index is missing/);
  assert.match(found({ ...event, delta: { ...delta, mood: 1 } }), /mood is not published/);
  assert.match(found({ ...event, delta: { type: 'text_delta' } }), /text is missing/);
  assert.match(found({ type: 'message_end' }), /is not/);
});
