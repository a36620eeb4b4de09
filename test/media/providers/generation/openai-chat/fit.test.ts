// What leaves for a server of Chat Completions, in the form that it is not known to refuse.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tellMeant } from '../../../../../media/providers/generation/fitting/names.ts';
import {
  asked,
  called,
  calledInChat,
  hi,
  longNames,
  type Members,
  oddPattern,
  pdfBase64,
  pngBase64,
  type Sent,
  sent,
  tool,
} from '../fitting/asked.ts';

const family = 'openai-chat';
const vendor = { baseUrl: 'https://api.openai.com/v1' };
const object = (field: Members) => ({ type: 'object', properties: { field } });

interface Sending {
  messages: (Members & { content: string })[];
  tools: { function: { name: string; parameters: Members } }[];
  tool_choice: Members;
}

function told({ body }: Sent): Sending & Members {
  return body as unknown as Sending & Members;
}

test('patterns that it cannot compile are left out, and the rest stays', () => {
  const schema = object({ type: 'string', description: 'd', pattern: oddPattern });
  const tools = [tool('messages', 'Artifact', schema)];
  for (const target of [{}, vendor]) {
    const { tools: sentTools } = told(
      sent(family, asked('messages', { messages: hi, tools }), target),
    );
    assert.deepEqual(
      sentTools[0]?.function.parameters,
      object({ type: 'string', description: 'd' }),
    );
  }
});

test('the vendor is told what Python compiles, others what is a grammar as well', () => {
  const schema = object({ type: 'string', pattern: '^(?!__)[a-z]+' });
  const request = asked('messages', { messages: hi, tools: [tool('messages', 'f', schema)] });
  const [atVendor] = told(sent(family, request, vendor)).tools;
  assert.deepEqual(atVendor?.function.parameters, schema);
  const [elsewhere] = told(sent(family, request)).tools;
  assert.deepEqual(elsewhere?.function.parameters, object({ type: 'string' }));
});

test('a client of the same format is not told otherwise than it said', () => {
  const schema = { anyOf: [object({ pattern: oddPattern }), { required: ['x'] }] };
  const tools = [tool('chat', longNames[0], schema)];
  const messages = calledInChat(longNames[0], 'i'.repeat(70));
  const { fitted, body } = sent(family, asked('chat', { messages, tools }));
  assert.equal(fitted.names, null);
  assert.deepEqual(body.tools, tools);
  assert.deepEqual(body.messages, messages);
});

test('combinations at the top of a schema become one object', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  };
  const request = asked('responses', { input: 'hi', tools: [tool('responses', 'f', schema)] });
  const { anyOf: _anyOf, ...plain } = schema;
  assert.deepEqual(told(sent(family, request)).tools[0]?.function.parameters, plain);
});

test('names that are too long are told shorter, and meant again', () => {
  const tools = [...longNames, 'short'].map((name) => tool('messages', name));
  const messages = called(longNames[1], 'toolu_1');
  const tool_choice = { type: 'tool', name: longNames[1] };
  const request = asked('messages', { messages, tools, tool_choice });
  const way = sent(family, request);
  const { names } = way.fitted;
  const body = told(way);
  const [first, second, third] = body.tools.map((each) => each.function.name);
  assert.equal(third, 'short');
  assert.notEqual(first, second);
  for (const name of [first, second]) assert.match(name ?? '', /^a_tool_with[a-z_]*_[\da-f]{8}$/);
  assert.ok((first?.length ?? 99) <= 64 && (second?.length ?? 99) <= 64);
  assert.deepEqual(body.tool_choice, { type: 'function', function: { name: second } });
  const [call] = (body.messages[1]?.tool_calls ?? []) as { function: Members }[];
  assert.equal(call?.function.name, second);
  assert.ok(names !== null);
  const events = [first, second, 'short', 'unknown'].map((name = '', index) => {
    return { type: 'tool_call' as const, index, id: 'c', name };
  });
  const meant = tellMeant(events, names).map((event) => 'name' in event && event.name);
  assert.deepEqual(meant, [...longNames, 'short', 'unknown']);
  // The same in each turn, whatever else is declared: caches hold.
  const alone = sent(family, asked('messages', { messages, tools: tools.slice(1) }));
  assert.equal(told(alone).tools[0]?.function.name, second);
});

test('names with other characters, and one that looks like what is made of another', () => {
  const tools = ['files.read', 'files read'].map((name) => tool('messages', name));
  const request = asked('messages', { messages: hi, tools });
  const [first, second] = told(sent(family, request)).tools.map((each) => each.function.name);
  assert.match(first ?? '', /^files_read_[\da-f]{8}$/);
  assert.match(second ?? '', /^files_read_[\da-f]{8}$/);
  assert.notEqual(first, second);
  const twice = asked('messages', {
    messages: hi,
    tools: [...tools, tool('messages', first ?? '')],
  });
  const names = told(sent(family, twice)).tools.map((each) => each.function.name);
  assert.equal(new Set(names).size, 3);
  assert.equal(names[2], first, 'what can be told as it is has its name');
});

test('ids of calls that are too long are shorter ones, for the call and its result', () => {
  const id = `toolu_${'x'.repeat(80)}`;
  const { messages } = told(sent(family, asked('messages', { messages: called('f', id) })));
  const [call] = (messages[1]?.tool_calls ?? []) as { id: string }[];
  assert.match(call?.id ?? '', /^call_[\w-]{24}$/);
  assert.equal(messages[2]?.tool_call_id, call?.id);
  // The vendor refuses them of its own clients as well.
  const own = asked('chat', { messages: calledInChat('f', id) });
  const [ofOwn] = (told(sent(family, own, vendor)).messages[1]?.tool_calls ?? []) as {
    id: string;
  }[];
  assert.equal(ofOwn?.id, call?.id);
});

test('Mistral’s models get ids of nine letters and digits', () => {
  for (const id of ['toolu_01AbC', 'call_1', 'D681PevKs']) {
    const request = asked('chat', { messages: calledInChat('f', id) });
    const { messages } = told(sent(family, request, { upstreamModel: 'mistral-large-latest' }));
    const [call] = (messages[1]?.tool_calls ?? []) as { id: string }[];
    assert.match(call?.id ?? '', /^[a-zA-Z0-9]{9}$/);
    assert.equal(messages[2]?.tool_call_id, call?.id);
    if (id === 'D681PevKs') assert.equal(call?.id, id, 'its own id is its own');
  }
});

test('a developer is the system where the server is not the vendor’s own', () => {
  const messages = [{ role: 'developer', content: [{ type: 'text', text: 'x' }] }, ...hi];
  const request = asked('chat', { messages });
  assert.deepEqual(told(sent(family, request, vendor)).messages, messages);
  const other = told(sent(family, request)).messages;
  assert.deepEqual(other, [{ ...messages[0], role: 'system' }, ...hi]);
  const input = [{ role: 'developer', content: 'x' }, ...hi];
  const [first] = told(sent(family, asked('responses', { input }))).messages;
  assert.deepEqual(first, { role: 'system', content: 'x' });
});

test('instructions between turns stay, or stand where the provider’s quirk wants them', () => {
  const messages = [
    { role: 'user', content: 'one' },
    { role: 'system', content: 'be brief' },
    { role: 'assistant', content: 'two' },
    { role: 'system', content: 'be kind' },
    { role: 'user', content: 'three' },
  ];
  const request = asked('messages', { system: 'be honest', messages });
  const at = (systemMessages: 'in_place' | 'first' | 'as_user') =>
    told(sent(family, request, { quirks: { systemMessages } })).messages.map(
      ({ role, content }) => `${role}: ${content}`,
    );
  const inPlace = ['system: be honest', ...messages.map((each) => `${each.role}: ${each.content}`)];
  assert.deepEqual(at('in_place'), inPlace);
  assert.deepEqual(at('first'), [
    'system: be honest\nbe brief\nbe kind',
    'user: one',
    'assistant: two',
    'user: three',
  ]);
  const said = '(An instruction of the system:)';
  assert.deepEqual(at('as_user'), [
    'system: be honest',
    `user: one\n${said}\nbe brief`,
    'assistant: two',
    `user: ${said}\nbe kind\nthree`,
  ]);
});

test('the ceiling has the name that the operator declared, or that the model knows', () => {
  const request = asked('chat', { messages: hi, max_tokens: 50 });
  const names = (target: Parameters<typeof sent>[2]) =>
    Object.keys(sent(family, request, target).body).filter((name) => name.startsWith('max_'));
  assert.deepEqual(names({}), ['max_tokens']);
  assert.deepEqual(names({ quirks: { outputCeiling: 'max_completion_tokens' } }), [
    'max_completion_tokens',
  ]);
  assert.deepEqual(names({ upstreamModel: 'o4-mini' }), ['max_completion_tokens']);
  assert.deepEqual(names({ upstreamModel: 'openai/gpt-5.2' }), ['max_completion_tokens']);
});

const drawing = { temperature: 0.2, top_p: 1, presence_penalty: 0.5, logit_bias: { 1: 5 } };
const models: readonly (readonly [model: string, effort: string | null, isKept: boolean])[] = [
  ['gpt-4.1', null, true],
  ['gpt-oss-120b', 'high', true],
  ['gpt-5-chat-latest', null, true],
  ['o3', null, false],
  ['gpt-5-mini', 'minimal', false],
  ['gpt-5.1', null, true],
  ['gpt-5.1', 'low', false],
  ['gpt-5.1-codex', null, false],
  ['gpt-6', null, false],
  ['gpt-6', 'none', true],
];

for (const [upstreamModel, effort, isKept] of models) {
  const how = effort === null ? '' : ` at effort ${effort}`;
  test(`${upstreamModel}${how} is ${isKept ? '' : 'not '}told how to draw tokens`, () => {
    const reasoning_effort = effort;
    const request = asked('chat', { messages: hi, ...drawing, reasoning_effort });
    const { fitted, body } = sent(family, request, { upstreamModel });
    const given = Object.keys(drawing).filter((name) => name in body);
    assert.deepEqual(given, isKept ? Object.keys(drawing) : []);
    // What asks for what happens anyway is not missed.
    assert.deepEqual(
      fitted.dropped,
      isKept ? [] : ['temperature', 'presence_penalty', 'logit_bias'],
    );
    const other = asked('messages', { messages: hi, temperature: 0.2 });
    const options = effort === null ? other : { ...other, reasoning: request.reasoning };
    const way = sent(family, options, { upstreamModel });
    assert.equal('temperature' in way.body, isKept);
    assert.deepEqual(way.fitted.dropped, isKept ? [] : ['temperature']);
  });
}

test('pictures and documents are of the type that their bytes show', () => {
  const source = { type: 'base64', media_type: 'image/jpeg', data: pngBase64 };
  const content = [
    { type: 'image', source },
    { type: 'document', source: { ...source, media_type: 'text/plain', data: pdfBase64 } },
    { type: 'document', source: { ...source, media_type: 'application/pdf' } },
  ];
  const request = asked('messages', { messages: [{ role: 'user', content }] });
  const [message] = told(sent(family, request)).messages;
  const png = { type: 'image_url', image_url: { url: `data:image/png;base64,${pngBase64}` } };
  const pdf = { filename: 'file.pdf', file_data: `data:application/pdf;base64,${pdfBase64}` };
  assert.deepEqual(message?.content, [png, { type: 'file', file: pdf }, png]);
});

test('sound has the format of its bytes, also of a client of the same format', () => {
  const data = Buffer.from('RIFF\0\0\0\0WAVEfmt ').toString('base64');
  const part = (format: string) => ({ type: 'input_audio', input_audio: { data, format } });
  const request = (format: string) =>
    asked('chat', { messages: [{ role: 'user', content: [part(format)] }] });
  assert.deepEqual(told(sent(family, request('mp3'))).messages[0]?.content, [part('wav')]);
  const right = request('wav');
  assert.equal(sent(family, right).fitted.request, right);
});

test('what it has no form for is refused by its path', () => {
  const tools = [{ type: 'computer_20250124', name: 'computer' }];
  const request = asked('messages', { messages: hi, tools });
  assert.throws(() => sent(family, request), /"refused":"tools"/);
});

test('what has nothing to fit is the same request', () => {
  const tools = [tool('messages', 'f')];
  const request = asked('messages', { messages: called('f', 'toolu_1'), tools, temperature: 0.5 });
  const { fitted } = sent(family, request);
  assert.equal(fitted.request, request);
  assert.deepEqual(fitted.dropped, []);
});
