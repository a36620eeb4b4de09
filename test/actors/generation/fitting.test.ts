// A server of Chat that refuses what strict ones refuse, and clients that do not know it. Their
// requests are fitted, and calls come back by the names that they gave. What is refused all the
// same is told with its place in their own words.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ask, type Format, type Told } from '../../harness/formats.ts';
import { type ScriptedServer, startScriptedServer } from '../../harness/scripted-server.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

type Members = Record<string, unknown>;
/** A place that is refused; null: what a strict server refuses. */
type Refused = { message: string; param?: string | null } | null;

interface Body {
  model: string;
  messages: { role: string; tool_calls?: { id: string }[]; content: unknown }[];
  tools?: { function: { name: string; parameters: Members } }[];
  temperature?: number;
  max_tokens?: number;
}

let server: ScriptedServer<Refused>;
let bed: Testbed;
let lastBody: Body;

/** As servers with strict templates, Python's patterns and models that reason word it. */
function refusalOf({ model, messages, tools = [], ...settings }: Body): Refused {
  const schemas = JSON.stringify(tools);
  const names = tools.map((tool) => tool.function.name);
  const ids = messages.flatMap((each) => (each.tool_calls ?? []).map(({ id }) => id));
  if (schemas.includes('\\\\p{')) return { message: 'not a regex', param: 'tools[0].function' };
  if (tools.some(({ function: { parameters } }) => parameters.anyOf !== undefined)) {
    return { message: 'no anyOf at the top', param: 'tools[0].function.parameters' };
  }
  if (names.some((name) => name.length > 64)) return { message: 'name too long' };
  if (ids.some((id) => id.length > 40)) return { message: 'id too long' };
  if (messages.some(({ role }) => role === 'developer')) return { message: 'Unexpected role.' };
  const late = messages.slice(1).some(({ role }) => role === 'system');
  if (model === 'template' && late) return { message: 'System message must be at the beginning.' };
  if (model === 'o3' && settings.temperature !== undefined) return { message: 'no temperature' };
  if (model === 'o3' && settings.max_tokens !== undefined) return { message: 'no max_tokens' };
  return null;
}

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c', choices })}\n\n`;
}

function answerOf({ tools = [], messages }: Body): string {
  const isAnswered = messages.some(({ role }) => role === 'tool');
  const name = tools.at(-1)?.function.name;
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const end = `data: ${JSON.stringify({ id: 'c', choices: [], usage })}\n\ndata: [DONE]\n\n`;
  if (name === undefined || isAnswered) return chunk({ content: 'done' }, 'stop') + end;
  const called = { name, arguments: '{}' };
  const calls = [{ index: 0, id: 'call_1', type: 'function', function: called }];
  return chunk({ tool_calls: calls }) + chunk({}, 'tool_calls') + end;
}

before(async () => {
  server = await startScriptedServer<Refused>(null, (refused, { body, response }) => {
    lastBody = JSON.parse(body.toString()) as Body;
    const error = refused ?? refusalOf(lastBody);
    if (error !== null) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { type: 'invalid_request_error', ...error } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(answerOf(lastBody));
  });
  const record = { family: 'openai-chat', base_url: server.url };
  bed = await openTestbed({
    shards: 1,
    catalog: {
      providers: [
        { name: 'plain', ...record },
        { name: 'strict', ...record, quirks: { system_messages: 'first' } },
      ],
      models: [
        { alias: 'plain', routes: [{ provider: 'plain', upstream_model: 'plain' }] },
        { alias: 'reasons', routes: [{ provider: 'plain', upstream_model: 'o3' }] },
        { alias: 'strict', routes: [{ provider: 'strict', upstream_model: 'template' }] },
      ].map((model) => ({
        ...model,
        capabilities: ['chat', 'tools', 'reasoning'],
        price: { input_per_million: '2', output_per_million: '10' },
      })),
    },
  });
});
after(async () => {
  await bed?.close();
  server?.close();
});

const stem = 'a_tool_with_a_name_that_says_all_of_what_it_does_and_of_where_it_i';
const names = [`${stem}s_on`, `${stem}s_it`];
const pattern = '^(?!__.*__$)[^\\p{Cc}\\p{Cf}"]{1,200}$';
const field = { type: 'string', description: 'what it is', pattern };
const schema = { type: 'object', properties: { field }, anyOf: [{ required: ['field'] }] };

/** Two tools as the format declares them. */
function toolsOf(format: Format): Members[] {
  return names.map((name) => {
    if (format === 'messages') return { name, input_schema: schema };
    if (format === 'responses') return { type: 'function', name, parameters: schema };
    return { type: 'function', function: { name, parameters: schema } };
  });
}

/** Names of the calls that were told, streamed or whole. */
function calledIn({ raw }: Told): string[] {
  const found = [...raw.matchAll(/"name":"(a_tool[^"]*)"/g)].map(([, name]) => name ?? '');
  return [...new Set(found)];
}

for (const format of ['messages', 'responses'] as const) {
  test(`${format}: a first turn is answered, and called by the names it gave`, async () => {
    const account = await bed.account();
    const members = { tools: toolsOf(format) };
    const question = { model: 'plain', text: 'hi', members };
    for (const stream of [true, false]) {
      const key = `first-${format}-${stream}`;
      const first = await ask(format, account, { ...question, stream, key });
      assert.equal(first.status, 200, first.raw);
      const own = lastBody.tools?.map((tool) => tool.function);
      assert.deepEqual(own?.[0]?.parameters, {
        type: 'object',
        properties: { field: { type: 'string', description: 'what it is' } },
        required: ['field'],
      });
      assert.ok(own.every(({ name }) => name.length <= 64 && name !== stem));
      const shown = calledIn(first);
      assert.ok(shown.includes(names[1] ?? ''), first.raw);
      assert.ok(!shown.includes(own[1]?.name ?? ''), first.raw);
      const again = await ask(format, account, { ...question, stream, key });
      assert.deepEqual(calledIn(again), shown, 'replayed as it was told');
      assert.equal(again.svcUsage?.replayed, true);
    }
  });
}

test('a second turn with the same names and an id of another model is answered', async () => {
  const account = await bed.account();
  const id = `toolu_${'x'.repeat(60)}`;
  const [, name] = names;
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
  ];
  const members = { tools: toolsOf('messages'), messages };
  const told = await ask('messages', account, { model: 'plain', text: '', members });
  assert.equal(told.text, 'done', told.raw);
});

test('a developer, late instructions and a temperature are told as they are taken', async () => {
  const account = await bed.account();
  const messages = [
    { role: 'developer', content: 'be brief' },
    { role: 'user', content: 'hi' },
    { role: 'system', content: 'be kind' },
    { role: 'user', content: 'well?' },
  ];
  const plain = await ask('chat', account, { model: 'plain', text: '', members: { messages } });
  assert.equal(plain.text, 'done', plain.raw);
  const roles = lastBody.messages.map(({ role }) => role);
  assert.deepEqual(roles, ['system', 'user', 'system', 'user']);
  const strict = await ask('chat', account, { model: 'strict', text: '', members: { messages } });
  assert.equal(strict.text, 'done', strict.raw);
  assert.deepEqual(lastBody.messages[0], { role: 'system', content: 'be brief\nbe kind' });
  const members = { temperature: 0.5, max_tokens: 50 };
  for (const format of ['chat', 'messages'] as const) {
    const told = await ask(format, account, { model: 'reasons', text: 'hi', members });
    assert.equal(told.text, 'done', told.raw);
    assert.equal(told.headers.get('x-svc-dropped-members'), 'temperature');
  }
});

const secret = 'words of the provider';
const refusals: readonly (readonly [format: Format, param: string | null, place: string | null])[] =
  [
    ['messages', 'tools[1].function.parameters', 'tools[1].input_schema'],
    ['responses', 'tools[1].function.name', 'tools[1].name'],
    ['chat', 'tools[1].function.parameters', 'tools[1].function.parameters'],
    ['chat', 'messages[0].content', 'messages[0].content'],
    ['messages', 'messages[0].content', 'messages'],
    ['messages', 'stream_options', null],
    ['chat', null, null],
  ];

for (const [format, param, place] of refusals) {
  test(`${format}: a refusal at ${param} is told at ${place}`, async () => {
    const account = await bed.account();
    for (const stream of [true, false]) {
      server.first = [{ message: secret, param }];
      const tools = toolsOf(format);
      const told = await ask(format, account, {
        model: 'plain',
        text: 'hi',
        stream,
        members: { tools },
      });
      assert.equal(told.status, 400, told.raw);
      if (format !== 'messages') assert.equal(told.error?.param, place);
      assert.equal(told.error?.message.includes(`'${place}'`), place !== null, told.raw);
      assert.ok(!told.raw.includes(secret));
    }
  });
}
