// What owners and administrators say of keys: with which models, how often, until when, and whether
// at all. What is said holds on every shard once it is answered, and stands in the audit trail.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { scopes } from '../../actors/credentials/scope.ts';
import type { TestAccount } from '../harness/account.ts';
import { Contract, type Reply } from '../harness/contract.ts';
import { wav } from '../harness/recordings.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { Refused, VoiceClient } from '../harness/voice-client.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

const path = '/api/me/api-keys';

function manage(account: TestAccount, operation: string, body: Members): Promise<Reply> {
  const headers = { 'x-svc-session': account.sessionToken };
  return contract.call('POST', path + operation, { headers, body });
}

interface Made {
  token: string;
  id: string;
  body: Members;
}

async function newKey(account: TestAccount, members: Members = {}): Promise<Made> {
  const reply = await manage(account, '', { label: 'key', scopes, ...members });
  assert.equal(reply.status, 201, reply.text);
  const body = reply.json.api_key as Members;
  return { token: reply.json.raw_token as string, id: body.id as string, body };
}

function call(token: string, method: string, route: string, body?: Members): Promise<Reply> {
  const headers = { authorization: `Bearer ${token}` };
  return contract.call(method, route, { headers, ...(body === undefined ? {} : { body }) });
}

function codeOf(reply: Reply): unknown {
  const { error } = reply.json as { error?: { code?: unknown; type?: unknown } };
  return error?.code ?? error?.type;
}

/** Several connections: some of each shard. */
async function everywhere(token: string): Promise<Set<number>> {
  const replies = Array.from({ length: 8 }, () => call(token, 'GET', '/v1/models'));
  return new Set((await Promise.all(replies)).map(({ status }) => status));
}

test('a new key has the terms that were asked for, and says so', async () => {
  const account = await bed.account();
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const terms = {
    spend_limit: { amount_microcredits: 5_000_000, period: 'week' },
    expires_at: soon,
    allowed_models: ['svc-sim-chat', 'svc-intelligent'],
    requests_per_minute: 100,
    concurrency_max: 3,
  };
  const { body, id } = await newKey(account, {
    ...terms,
    allowed_models: [...terms.allowed_models, 'svc-sim-chat'],
  });
  for (const [name, value] of Object.entries(terms)) assert.deepEqual(body[name], value, name);
  assert.equal(body.status, 'active');
  const spent = body.spent as { microcredits: number; exact: string; resets_at: string };
  assert.deepEqual([spent.microcredits, spent.exact], [0, '0']);
  assert.equal(new Date(spent.resets_at).getUTCDay(), 1, 'a week begins on Monday');
  const plain = await newKey(account);
  for (const name of ['spend_limit', 'spent', 'expires_at', 'allowed_models']) {
    assert.equal(plain.body[name], null, name);
  }
  const cleared = Object.fromEntries(
    Object.keys(terms)
      .slice(0, 3)
      .map((name) => [name, null]),
  );
  const changed = await manage(account, '/update', { api_key_id: id, label: 'new', ...cleared });
  const after = changed.json.api_key as Members;
  assert.deepEqual([after.label, after.requests_per_minute], ['new', 100]);
  for (const name of Object.keys(cleared)) assert.equal(after[name], null, name);
  const [event] = await bed.sql<{ details: Members }[]>`
    SELECT details FROM audit_events WHERE subject = ${`key:${id}`} AND action = 'key.update'`;
  assert.ok(event !== undefined);
  const { before: was, after: is } = event.details as { before: Members; after: Members };
  assert.deepEqual(was.allowed_models, terms.allowed_models);
  assert.deepEqual(is, { label: 'new', ...cleared });
});

test('terms that cannot be are refused at their path', async () => {
  const account = await bed.account();
  const { id } = await newKey(account);
  const far = new Date(Date.now() + 6 * 366 * 86_400_000).toISOString();
  const cases: [Members, string][] = [
    [
      { spend_limit: { amount_microcredits: -1, period: 'day' } },
      'spend_limit.amount_microcredits',
    ],
    [{ spend_limit: { amount_microcredits: 1.5, period: 'day' } }, 'spend_limit'],
    [{ spend_limit: { amount_microcredits: 1, period: 'year' } }, 'spend_limit.period'],
    [{ spend_limit: { amount_microcredits: 1, period: 'day', more: 1 } }, 'spend_limit'],
    [{ expires_at: new Date(Date.now() - 1_000).toISOString() }, 'expires_at'],
    [{ expires_at: far }, 'expires_at'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ allowed_models: [] }, 'allowed_models'],
    [{ allowed_models: Array.from({ length: 101 }, (_, index) => `m${index}`) }, 'allowed_models'],
    [{ requests_per_minute: 601 }, 'requests_per_minute'],
    [{ concurrency_max: 65 }, 'concurrency_max'],
    [{ concurrency_max: 0 }, 'concurrency_max'],
    [{ status: 'active' }, 'status'],
  ];
  for (const [members, field] of cases) {
    for (const [operation, body] of [
      ['', { label: 'x', ...members }],
      ['/update', { api_key_id: id, ...members }],
    ] as const) {
      const reply = await manage(account, operation, body);
      assert.equal(reply.status, 400, `${operation} ${JSON.stringify(members)}: ${reply.text}`);
      assert.ok(reply.text.includes(field), `${reply.text} names ${field}`);
    }
  }
  for (const grace_seconds of [-1, 604_801, 1.5]) {
    const reply = await manage(account, '/rotate', { api_key_id: id, grace_seconds });
    assert.equal(reply.status, 400, reply.text);
  }
  const other = await bed.account();
  for (const operation of ['/update', '/rotate', '/revoke']) {
    assert.equal((await manage(other, operation, { api_key_id: id })).status, 404, operation);
  }
});

test('a key rests and works again on every shard as soon as its owner is answered', async () => {
  const account = await bed.account();
  const { token, id } = await newKey(account);
  assert.deepEqual(await everywhere(token), new Set([200]));
  for (const disabled of [true, false, true]) {
    const reply = await manage(account, '/update', { api_key_id: id, disabled });
    assert.equal((reply.json.api_key as Members).status, disabled ? 'disabled' : 'active');
    assert.deepEqual(await everywhere(token), new Set([disabled ? 401 : 200]));
  }
  const rotated = await manage(account, '/rotate', { api_key_id: id });
  assert.equal((rotated.json.api_key as Members).status, 'disabled', 'another token wakes nobody');
  assert.deepEqual(await everywhere(rotated.json.raw_token as string), new Set([401]));
  assert.equal((await manage(account, '/revoke', { api_key_id: id })).status, 200);
  for (const [operation, more] of [
    ['/update', { disabled: false }],
    ['/rotate', {}],
  ] as const) {
    const refused = await manage(account, operation, { api_key_id: id, ...more });
    assert.deepEqual([refused.status, codeOf(refused)], [409, 'invalid_state'], operation);
  }
});

test('a key ends at its time, and what runs goes on', async () => {
  const account = await bed.account();
  const expires_at = new Date(Date.now() + 1_500).toISOString();
  const { token, id } = await newKey(account, { expires_at });
  assert.deepEqual(await everywhere(token), new Set([200]));
  const body = {
    model: 'svc-sim-chat',
    messages: [{ role: 'user', content: '[[sim tokens=2 first_ms=2500]]' }],
  };
  const running = call(token, 'POST', '/v1/chat/completions', body);
  const ticket = await call(token, 'POST', '/v1/voice/tickets');
  await new Promise((resolve) => setTimeout(resolve, 1_700));
  assert.deepEqual(await everywhere(token), new Set([401]));
  assert.equal(codeOf(await call(token, 'GET', '/v1/models')), 'invalid_api_key');
  const query = `ticket=${ticket.json.ticket as string}`;
  await assert.rejects(VoiceClient.connect(bed.url, { query }), { status: 401 });
  assert.equal((await running).status, 200);
  const headers = { 'x-svc-session': account.sessionToken };
  const list = await contract.call('GET', path, { headers });
  const own = (list.json.data as Members[]).find((key) => key.id === id);
  assert.equal(own?.status, 'expired');
  const later = new Date(Date.now() + 60_000).toISOString();
  const again = await manage(account, '/update', { api_key_id: id, expires_at: later });
  assert.equal((again.json.api_key as Members).status, 'active');
  assert.deepEqual(await everywhere(token), new Set([200]));
});

const messages = [{ role: 'user', content: '[[sim tokens=1]]' }];
const naming: [string, Members][] = [
  ['/v1/chat/completions', { model: 'svc-sim-chat', messages }],
  ['/v1/chat/completions', { model: 'svc-intelligent', messages }],
  ['/v1/responses', { model: 'svc-sim-chat', input: 'x' }],
  ['/v1/responses', { model: 'svc-sim-chat', input: 'x', previous_response_id: 'resp_0' }],
  ['/v1/responses/input_tokens', { model: 'svc-sim-chat', input: 'x' }],
  ['/v1/messages', { model: 'svc-sim-messages', max_tokens: 9, messages }],
  ['/v1/messages/count_tokens', { model: 'svc-sim-messages', messages }],
  ['/api/v1/llm/responses', { model: 'svc-sim-chat', messages }],
  ['/v1/audio/speech', { model: 'svc-tts', voice: 'alloy', input: 'Hello' }],
  [
    '/v1/video/generations',
    { prompt: 'A boat', duration_seconds: 4, video_model: 'svc-sim-video' },
  ],
  ['/v1/video/generations', { prompt: 'A boat', duration_seconds: 4 }],
  ['/v1/video/analyses', { source_url: 'https://example.com/a.mp4', model: 'svc-sim-chat' }],
];

test('a key with a list of models may name no other, on any route', async () => {
  const account = await bed.account();
  const { token, id } = await newKey(account, { allowed_models: ['svc-none-of-these'] });
  for (const [route, body] of naming) {
    const reply = await call(token, 'POST', route, body);
    assert.equal(reply.status, 403, `${route}: ${reply.text}`);
    if (!route.startsWith('/v1/messages')) assert.equal(codeOf(reply), 'policy_blocked', route);
  }
  const form = new FormData();
  form.set('model', 'svc-transcribe');
  form.set('file', new File([wav(1)], 'a.wav', { type: 'audio/wav' }));
  const headers = { authorization: `Bearer ${token}` };
  const sent = { method: 'POST', headers, body: form };
  assert.equal((await fetch(`${bed.url}/v1/audio/transcriptions`, sent)).status, 403);
  for (const route of ['/v1/models/svc-sim-chat', '/v1/voice/voices']) {
    assert.equal((await call(token, 'GET', route)).status, 403, route);
  }
  const refused = await VoiceClient.connect(bed.url, { apiKey: token }).catch((error) => error);
  assert.ok(refused instanceof Refused && refused.status === 403);
  assert.equal((await call(token, 'POST', '/v1/voice/tickets')).status, 403);
  assert.equal(Number((await account.quiet()).heldMicros), 0);
  const [row] = await bed.sql`SELECT 1 FROM generations WHERE api_key_id = ${id}`;
  assert.equal(row, undefined, 'nothing was begun');
});

test('the lists of models have those of the key alone, and they can be called', async () => {
  const account = await bed.account();
  const allowed_models = ['svc-sim-chat', 'svc-intelligent', 'svc-voice-1', 'svc-none-of-these'];
  const { token, id } = await newKey(account, { allowed_models });
  const list = await call(token, 'GET', '/v1/models');
  const ids = (list.json.data as { id: string }[]).map((model) => model.id).sort();
  assert.deepEqual(ids, ['svc-intelligent', 'svc-sim-chat', 'svc-voice-1']);
  const desktop = await call(token, 'GET', '/api/v1/llm/models');
  const aliases = (desktop.json.models as { alias: string }[]).map(({ alias }) => alias).sort();
  assert.deepEqual(aliases, ids);
  for (const model of ['svc-sim-chat', 'svc-intelligent']) {
    const reply = await call(token, 'POST', '/v1/chat/completions', { model, messages });
    assert.equal(reply.status, 200, reply.text);
  }
  const made = await call(token, 'POST', '/v1/voice/tickets');
  const narrowed = { api_key_id: id, allowed_models: ['svc-sim-chat'] };
  assert.equal((await manage(account, '/update', narrowed)).status, 200);
  const query = `ticket=${made.json.ticket as string}`;
  // A ticket has what its key has when it is used.
  await assert.rejects(VoiceClient.connect(bed.url, { query }), { status: 403 });
});

test('administrators give more than owners may, and owners may take it back', async () => {
  const account = await bed.account();
  const chief = await bed.account({ admin: true });
  const { token, id } = await newKey(account);
  const route = `/api/admin/users/${account.accountId}/keys/${id}/update`;
  const headers = { 'x-svc-session': chief.sessionToken };
  const body = {
    requests_per_minute: 5_000,
    spend_limit: { amount_microcredits: 0, period: 'day' },
  };
  const reply = await contract.call('POST', route, { headers, body });
  assert.equal(reply.status, 200, reply.text);
  assert.equal((reply.json.api_key as Members).requests_per_minute, 5_000);
  const models = await call(token, 'GET', '/v1/models');
  assert.equal(models.headers.get('x-ratelimit-limit-requests'), '5000');
  const chat = { model: 'svc-sim-chat', messages };
  assert.equal((await call(token, 'POST', '/v1/chat/completions', chat)).status, 402);
  const lowered = await manage(account, '/update', { api_key_id: id, requests_per_minute: 2 });
  assert.equal(lowered.status, 200);
  const again = await call(token, 'GET', '/v1/models');
  assert.equal(again.headers.get('x-ratelimit-limit-requests'), '2');
  const events = await bed.sql<{ actor: string }[]>`
    SELECT actor FROM audit_events WHERE subject = ${`key:${id}`} AND action = 'key.update'
    ORDER BY id`;
  assert.deepEqual(
    events.map(({ actor }) => actor),
    [chief.accountId, account.accountId],
  );
  const nobody = `/api/admin/users/${account.accountId}/keys/key_none/update`;
  assert.equal((await contract.call('POST', nobody, { headers, body })).status, 404);
});
