// Models as clients of OpenAI ask for them, one and all: an alias is found by itself, and its time
// is that of its record, not of the process.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { Contract } from '../harness/contract.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { type AdminApi, openAdminApi } from './admin/admin-api.ts';

let bed: Testbed;
let adminApi: AdminApi;
let contract: Contract;
let headers: Record<string, string>;
let client: OpenAI;
before(async () => {
  bed = await openTestbed({ own: 'it changes the catalog' });
  adminApi = await openAdminApi(bed);
  contract = await Contract.load(bed.url);
  const { apiKey } = await bed.account();
  headers = { authorization: `Bearer ${apiKey}` };
  client = new OpenAI({ baseURL: `${bed.url}/v1`, apiKey, maxRetries: 0 });
});
after(() => bed?.close());

test('every model of the list is found by its alias', async () => {
  const page = await client.models.list();
  assert.ok(page.data.some(({ id }) => id === 'svc-intelligent'));
  for (const listed of page.data) {
    const { json } = await contract.call('GET', `/v1/models/${listed.id}`, { headers });
    assert.deepEqual(json, listed);
    assert.deepEqual({ ...(await client.models.retrieve(listed.id)) }, listed);
  }
  const alias = await contract.call('GET', '/v1/models/svc-sim-chat', { headers });
  const other = await fetch(`${bed.url}/api/v1/models/svc-sim-chat`, { headers });
  assert.equal(await other.text(), alias.text);
});

test('an unknown model is model_not_found, without a key nothing is told', async () => {
  for (const name of ['nope', 'SVC-SIM-CHAT', 'a/b', '__proto__']) {
    await assert.rejects(client.models.retrieve(name), (error) => {
      assert.ok(error instanceof OpenAI.NotFoundError, `${error}`);
      assert.equal(error.code, 'model_not_found');
      assert.equal(error.param, 'model');
      return true;
    });
  }
  const none = await fetch(`${bed.url}/v1/models/svc-sim-chat`);
  assert.equal(none.status, 401);
  assert.equal((await fetch(`${bed.url}/v1/models/${'x'.repeat(101)}`, { headers })).status, 400);
});

test('an unknown name is answered with the nearest alias that can be called', async () => {
  const hint = 'The nearest is "svc-sim-responses".';
  const asked = 'sim-responsse';
  const message = `There is no model "${asked}". ${hint} GET /v1/models lists them.`;
  const chat = { model: asked, messages: [{ role: 'user', content: 'x' }] };
  const calls: [string, object | null][] = [
    [`/v1/models/${asked}`, null],
    ['/v1/chat/completions', chat],
    ['/v1/messages', { ...chat, max_tokens: 10 }],
    ['/v1/messages/count_tokens', chat],
    ['/v1/responses', { model: asked, input: 'x' }],
  ];
  const ask = async (path: string, body: object | null) => {
    const reply = await fetch(bed.url + path, {
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === null ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    assert.equal(reply.status, 404);
    return ((await reply.json()) as { error: { message: string } }).error.message;
  };
  for (const [path, body] of calls) assert.equal(await ask(path, body), message, path);
  // Another kind of model is no help there.
  const speech = { model: asked, voice: 'alloy', input: 'x' };
  const spoken = `There is no model "${asked}". GET /v1/models lists them.`;
  assert.equal(await ask('/v1/audio/speech', speech), spoken);
  const disabled = await adminApi('PATCH', '/models/svc-sim-responses', {
    body: { enabled: false },
  });
  assert.equal(disabled.status, 200, disabled.text);
  for (const [path, body] of calls) {
    assert.ok(!(await ask(path, body)).includes('svc-sim-responses'), path);
  }
  await adminApi('PATCH', '/models/svc-sim-responses', { body: { enabled: true } });
});

test('a model is as old as its record, also one that was made since the start', async () => {
  const provider = { provider: 'simulator', upstream_model: 'simulated-chat-large-2026-01-15' };
  const price = { input_per_million: '1', output_per_million: '1' };
  // So that the second in which it is made is another one than that of the start.
  const sim = await adminApi('GET', '/models/svc-sim-chat');
  const startedAt = Date.parse((sim.json.model as { created_at: string }).created_at);
  while (Math.floor(Date.now() / 1_000) === Math.floor(startedAt / 1_000)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const made = await adminApi('POST', '/models', {
    body: { alias: 'younger', routes: [provider], price },
  });
  assert.equal(made.status, 201, made.text);
  const pool = [{ model: 'younger', quality: 50 }];
  assert.equal(
    (await adminApi('POST', '/routes', { body: { alias: 'pooled', pool } })).status,
    201,
  );
  const kinds = [
    ['models', 'svc-sim-chat'],
    ['models', 'younger'],
    ['routes', 'svc-coder'],
    ['routes', 'pooled'],
  ];
  for (const [kind, alias = ''] of kinds) {
    const { json } = await adminApi('GET', `/${kind}/${alias}`);
    const record = (json.model ?? json.route) as { created_at: string };
    const created = Math.floor(Date.parse(record.created_at) / 1_000);
    assert.equal((await client.models.retrieve(alias)).created, created, alias);
  }
  const [young, old] = [await client.models.retrieve('younger'), 'svc-sim-chat'];
  assert.ok(young.created > (await client.models.retrieve(old)).created);
  const change = { display_name: 'Other' };
  assert.equal((await adminApi('PATCH', '/models/younger', { body: change })).status, 200);
  assert.equal((await client.models.retrieve('younger')).created, young.created);
  assert.equal((await adminApi('POST', '/models/younger/disable')).status, 200);
  await assert.rejects(client.models.retrieve('younger'), OpenAI.NotFoundError);
});

test('no cache keeps what is read with a credential', async () => {
  const stored = await client.responses.create({ model: 'svc-sim-chat', input: 'hi' });
  const { response } = await client.chat.completions
    .create({ model: 'svc-sim-chat', messages: [{ role: 'user', content: 'hi' }] })
    .withResponse();
  const paths = [
    '/v1/models',
    '/v1/models/svc-sim-chat',
    '/api/v1/llm/models',
    `/v1/responses/${stored.id}`,
    `/v1/responses/${stored.id}/input_items`,
    `/v1/generations/${response.headers.get('x-svc-request-id')}`,
    '/v1/voice/voices',
    '/api/me/billing/summary',
  ];
  for (const path of paths) {
    const reply = await contract.call('GET', path, { headers });
    assert.equal(reply.status, 200, path);
    assert.equal(reply.headers.get('cache-control'), 'no-store', path);
  }
  const session = { 'x-svc-session': bed.dev.session_token };
  const keys = await contract.call('GET', '/api/me/api-keys', { headers: session });
  assert.equal(keys.headers.get('cache-control'), 'no-store');
});

test('clients of Messages get models in the members of their format', async () => {
  const apiKey = headers.authorization?.replace('Bearer ', '') ?? '';
  const anthropic = new Anthropic({ baseURL: bed.url, apiKey, maxRetries: 0 });
  const page = await anthropic.models.list();
  assert.equal(page.has_more, false);
  assert.equal(page.first_id, page.data[0]?.id);
  assert.equal(page.last_id, page.data.at(-1)?.id);
  const listed: Anthropic.ModelInfo[] = [];
  for await (const model of anthropic.models.list({ limit: 1 })) listed.push(model);
  assert.deepEqual(listed, page.data, 'there is one page');
  const ids = listed.map(({ id }) => id);
  assert.ok(ids.includes('svc-sim-chat') && ids.includes('svc-coder'));
  assert.ok(!ids.includes('svc-tts'), 'no message can name it');
  for (const model of listed) {
    assert.deepEqual({ ...(await anthropic.models.retrieve(model.id)) }, model);
    const { type, display_name, created_at, lifecycle, max_input_tokens, max_tokens } = model;
    assert.deepEqual([type, lifecycle], ['model', 'active']);
    assert.ok(display_name.length > 0);
    assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 3_600_000, created_at);
    assert.ok(Number(max_tokens) > 0 && Number(max_tokens) < Number(max_input_tokens), model.id);
    for (const name of ['capabilities', 'deprecated_at', 'retires_at', 'line'] as const) {
      assert.equal(model[name], null);
    }
  }
  const version = { ...headers, 'anthropic-version': '2023-06-01' };
  await contract.call('GET', '/v1/models', { headers: version });
  const speech = await contract.call('GET', '/v1/models/svc-tts', { headers: version });
  assert.equal(speech.json.max_tokens, null);
});

test('clients of other formats get no more members than theirs', async () => {
  const { json } = await contract.call('GET', '/v1/models', { headers });
  assert.deepEqual(Object.keys(json), ['object', 'data']);
  for (const model of json.data as object[]) {
    assert.deepEqual(Object.keys(model), ['id', 'object', 'created', 'owned_by']);
  }
});
