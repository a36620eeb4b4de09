// A tool that the provider runs and bills passes only at a price. Without one it is refused at its
// place, before the provider is called. With one it is held for, and charged by the call.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type MessagesUpstream,
  startMessagesUpstream,
} from '../../conformance/own/messages-upstream.ts';
import { type OwnUpstream, startOwnUpstream } from '../../conformance/own/upstream.ts';
import type { TestAccount } from '../../harness/account.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let responses: OwnUpstream;
let messages: MessagesUpstream;
let account: TestAccount;

const tokens = { input_per_million: '2', output_per_million: '10' };
const priced = {
  ...tokens,
  per_search_call: '0.02',
  per_tool_call: { code_interpreter: '0.03', file_search: '0', code_execution_20250825: '0.05' },
};

before(async () => {
  responses = await startOwnUpstream();
  messages = await startMessagesUpstream();
  const model = (alias: string, provider: string, rest: Record<string, unknown>) => ({
    alias,
    routes: [{ provider, upstream_model: 'up' }],
    capabilities: ['chat', 'tools', 'reasoning'],
    ...rest,
  });
  bed = await openTestbed({
    catalog: {
      providers: [
        { name: 'r', family: 'openai-responses', base_url: responses.url },
        { name: 'm', family: 'anthropic-messages', base_url: `${messages.url}/v1` },
        { name: 'c', family: 'openai-chat', base_url: responses.url },
      ],
      models: [
        model('r-bare', 'r', { price: tokens }),
        model('r-priced', 'r', { price: priced }),
        model('r-fewer', 'r', { price: priced, hosted_tools: ['file_search'] }),
        model('m-bare', 'm', { price: tokens }),
        model('m-priced', 'm', { price: priced }),
        model('c-bare', 'c', { price: tokens }),
      ],
      routes: [
        { alias: 'route', pool: [{ model: 'r-bare', quality: 90 }, { model: 'r-priced' }] },
        { alias: 'route-bare', pool: [{ model: 'r-bare' }] },
      ],
    },
  });
  account = await bed.account();
});
after(async () => {
  await bed?.close();
  await responses?.close();
  await messages?.close();
});

interface Told {
  status: number;
  json: {
    error?: { code?: string; param?: string; message: string };
    svc_usage?: { charge_microcredits: number; search_calls: number; tool_calls?: unknown };
  };
}

async function post(path: string, body: Record<string, unknown>): Promise<Told> {
  const response = await fetch(`${bed.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: (await response.json()) as Told['json'] };
}

const coded = 'code that is run, and a file of it';
const searched = 'searches of the web and of files';
const auto = { type: 'auto' };

test('without a price a tool is refused at its place, and the provider hears nothing', async () => {
  const before = responses.lastBody();
  const tools = [
    { type: 'function', name: 'f', parameters: {} },
    { type: 'image_generation' },
    { type: 'code_interpreter', container: auto },
  ];
  const refused = await post('/v1/responses', { model: 'r-bare', input: 'draw', tools });
  assert.equal(refused.status, 400);
  assert.equal(refused.json.error?.code, 'invalid_request');
  assert.equal(refused.json.error?.param, 'tools[1].type');
  for (const tool of [
    { type: 'web_search' },
    { type: 'file_search', vector_store_ids: ['vs'] },
    { type: 'shell', environment: { type: 'container_auto' } },
    { type: 'a_tool_of_tomorrow' },
  ]) {
    const { status, json } = await post('/v1/responses', {
      model: 'r-bare',
      input: 'x',
      tools: [tool],
    });
    assert.equal(status, 400, tool.type);
    assert.equal(json.error?.param, 'tools[0].type', tool.type);
  }
  assert.deepEqual(responses.lastBody(), before);
  const messagesTools = [
    { type: 'code_execution_20250825', name: 'code_execution' },
    { type: 'web_search_20250305', name: 'web_search' },
  ];
  for (const tool of messagesTools) {
    const body = { model: 'm-bare', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };
    const { status, json } = await post('/v1/messages', { ...body, tools: [tool] });
    assert.equal(status, 400, tool.type);
    assert.match(json.error?.message ?? '', /'(code_execution|web_search)'/);
  }
  const search = {
    model: 'c-bare',
    messages: [{ role: 'user', content: 'x' }],
    web_search_options: {},
  };
  const { status, json } = await post('/v1/chat/completions', search);
  assert.equal(status, 400);
  assert.equal(json.error?.param, 'web_search_options');
  assert.equal((await account.quiet()).heldMicros, 0n);
});

test('a tool that is declared goes out, and needs a price, also if it is not allowed', async () => {
  const before = responses.lastBody();
  const known = { type: 'function', name: 'f', parameters: {} };
  const drawing = { type: 'image_generation' };
  const interpreter = { type: 'code_interpreter', container: auto };
  const group = { type: 'namespace', name: 'n', description: 'd', tools: [known, drawing] };
  const allowed = (entry: object) => ({ type: 'allowed_tools', mode: 'auto', tools: [entry] });
  const own = { type: 'function', name: 'f' };
  const ask = (model: string, tools: object[], entry: object, more = {}) =>
    post('/v1/responses', {
      model,
      input: 'x',
      tools,
      tool_choice: allowed(entry),
      ...more,
    });
  const searching = [{ type: 'web_search' }, interpreter, drawing];
  const unpriced: [Promise<Told>, string][] = [
    [ask('r-bare', [known, drawing], own), 'tools[1].type'],
    [ask('r-bare', [group], { ...own, namespace: 'n' }), 'tools[0].tools[1].type'],
    // Without the search the others stand in other places.
    [
      ask('r-priced', searching, { type: 'code_interpreter' }, { web_search: false }),
      'tools[1].type',
    ],
  ];
  for (const [told, path] of unpriced) {
    const { status, json } = await told;
    assert.equal(status, 400, path);
    assert.equal(json.error?.param, path);
  }
  assert.deepEqual(responses.lastBody(), before);
  const passed = await ask('r-priced', [known, interpreter], own, { input: coded });
  assert.equal(passed.status, 200, JSON.stringify(passed.json.error));
  // Its provider has not kept to the list.
  assert.deepEqual(passed.json.svc_usage?.tool_calls, { code_interpreter: 1 });
});

test('a search that the request forbids is not declared in its input either', async () => {
  const search = { type: 'web_search' };
  const late = { type: 'additional_tools', role: 'developer', tools: [search] };
  const body = { model: 'r-priced', web_search: false };
  const input = [late, { role: 'user', content: 'x' }];
  const { status, json } = await post('/v1/responses', { ...body, input });
  assert.equal(status, 400);
  assert.equal(json.error?.param, 'input[0].tools[0].type');
  const tools = [{ type: 'namespace', name: 'n', description: 'd', tools: [search] }];
  const grouped = await post('/v1/responses', { ...body, input: 'x', tools });
  assert.equal(grouped.json.error?.param, 'tools[0].tools[0].type');
});

test('a search that the input declares is held for as any other', async () => {
  const poor = await bed.account({ micros: 9_000_000n });
  const searches = { type: 'additional_tools', role: 'developer', tools: [{ type: 'web_search' }] };
  const response = await fetch(`${bed.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${poor.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'r-priced',
      max_output_tokens: 16,
      input: [searches, { role: 'user', content: 'x' }],
    }),
  });
  // Five of them are ten cents.
  assert.equal(response.status, 402, await response.text());
});

test('with a price it passes, is held for, and is charged by the call', async () => {
  const tools = [{ type: 'code_interpreter', container: auto }];
  const { status, json } = await post('/v1/responses', { model: 'r-priced', input: coded, tools });
  assert.equal(status, 200, JSON.stringify(json.error));
  assert.deepEqual((responses.lastBody() as { tools: unknown }).tools, tools);
  // 7 input and 9 output tokens, and one call at 3 cents, with the 5 %.
  assert.equal(json.svc_usage?.charge_microcredits, 7 * 210 + 9 * 1_050 + 3_150_000);
  assert.deepEqual(json.svc_usage?.tool_calls, { code_interpreter: 1 });
  // Five calls are held for, unless the client says less.
  const poor = await bed.account({ micros: 10_000_000n });
  const asked = async (max: Record<string, unknown>) => {
    const response = await fetch(`${bed.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${poor.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'r-priced',
        input: coded,
        tools,
        max_output_tokens: 16,
        ...max,
      }),
    });
    await response.text();
    return response.status;
  };
  assert.equal(await asked({}), 402);
  assert.equal(await asked({ max_tool_calls: 1 }), 200);
});

test('a streamed answer and its replay tell the same calls', async () => {
  const body = { model: 'r-priced', input: coded, stream: true };
  const read = async () => {
    const response = await fetch(`${bed.url}/v1/responses`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${account.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'hosted-stream',
      },
      body: JSON.stringify({ ...body, tools: [{ type: 'code_interpreter', container: auto }] }),
    });
    return response.text();
  };
  const first = await read();
  assert.match(first, /"tool_calls":\{"code_interpreter":1\}/);
  const again = await read();
  assert.match(again, /"tool_calls":\{"code_interpreter":1\}/);
  assert.match(again, /"replayed":true/);
});

test('"0" is a price, and a record may let fewer tools pass than have one', async () => {
  const files = [{ type: 'file_search', vector_store_ids: ['vs'] }];
  const body = { input: searched, tools: files };
  const { status, json } = await post('/v1/responses', { model: 'r-fewer', ...body });
  assert.equal(status, 200, JSON.stringify(json.error));
  assert.deepEqual(json.svc_usage?.tool_calls, { file_search: 1 });
  const code = [{ type: 'code_interpreter', container: auto }];
  const refused = await post('/v1/responses', { model: 'r-fewer', input: coded, tools: code });
  assert.equal(refused.status, 400);
  assert.equal(refused.json.error?.param, 'tools[0].type');
});

test('all versions of a tool have one price, and Messages counts what is shown', async () => {
  const { status, json } = await post('/v1/messages', {
    model: 'm-priced',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'code, files, and servers of the model context protocol' }],
    tools: [{ type: 'code_execution_20260120', name: 'code_execution' }],
  });
  assert.equal(status, 200, JSON.stringify(json.error));
  assert.deepEqual(json.svc_usage?.tool_calls, { code_execution: 1 });
});

test('a managed route asks models that price the tool, and refuses where none does', async () => {
  const tools = [{ type: 'code_interpreter', container: auto }];
  const chosen = await post('/v1/responses', { model: 'route', input: coded, tools });
  assert.equal(chosen.status, 200, JSON.stringify(chosen.json.error));
  assert.deepEqual(chosen.json.svc_usage?.tool_calls, { code_interpreter: 1 });
  const refused = await post('/v1/responses', { model: 'route-bare', input: coded, tools });
  assert.equal(refused.status, 400);
  assert.equal(refused.json.error?.param, 'tools[0].type');
});

test('tools that cost nothing beside tokens pass at any card', async () => {
  const free = [
    { type: 'mcp', server_label: 's', server_url: 'https://mcp.example.com/mcp' },
    { type: 'custom', name: 'c' },
    { type: 'apply_patch' },
    { type: 'local_shell' },
    { type: 'shell', environment: { type: 'local' } },
    { type: 'tool_search' },
  ];
  const { status, json } = await post('/v1/responses', {
    model: 'r-bare',
    input: coded,
    tools: free,
  });
  assert.equal(status, 200, JSON.stringify(json.error));
  assert.equal(json.svc_usage?.tool_calls, undefined);
});

test('the public catalog tells what a call costs', async () => {
  const response = await fetch(`${bed.url}/api/public/models`);
  const { models } = (await response.json()) as {
    models: { alias: string; credits_per_tool_call?: Record<string, number> }[];
  };
  const of = (alias: string) =>
    models.find((entry) => entry.alias === alias)?.credits_per_tool_call;
  assert.deepEqual(of('r-priced'), {
    web_search: 2.1,
    code_interpreter: 3.15,
    file_search: 0,
    code_execution: 5.25,
  });
  assert.deepEqual(of('r-fewer'), { file_search: 0 });
  assert.equal(of('r-bare'), undefined);
});
