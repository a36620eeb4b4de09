// Spend limits of keys over HTTP, on every route that costs. They are met exactly by many at once,
// and told with what they are. They are kept through rotation, and changed while answers run.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { scopes } from '../../actors/credentials/scope.ts';
import { auditLedger } from '../../db/audit.ts';
import type { TestAccount } from '../harness/account.ts';
import { askChat, streamChat } from '../harness/chat.ts';
import { Contract, type Reply } from '../harness/contract.ts';
import { wav } from '../harness/recordings.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { VoiceClient } from '../harness/voice-client.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_SLICE_TOKENS: '16' } });
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

const path = '/api/me/api-keys';
interface KeyBody {
  id: string;
  status: string;
  spend_limit: { amount_microcredits: number; period: string } | null;
  spent: { microcredits: number; exact: string; resets_at: string | null } | null;
}

function manage(account: TestAccount, operation: string, body: Members): Promise<Reply> {
  const headers = { 'x-svc-session': account.sessionToken };
  return contract.call('POST', path + operation, { headers, body });
}

interface Key {
  baseUrl: string;
  apiKey: string;
  id: string;
}

async function newKey(account: TestAccount, members: Members): Promise<Key> {
  const reply = await manage(account, '', { label: 'limited', scopes, ...members });
  assert.equal(reply.status, 201, reply.text);
  const { id } = reply.json.api_key as KeyBody;
  return { baseUrl: bed.url, apiKey: reply.json.raw_token as string, id };
}

async function keyBody(account: TestAccount, id: string): Promise<KeyBody> {
  const headers = { 'x-svc-session': account.sessionToken };
  const reply = await contract.call('GET', path, { headers });
  const found = (reply.json.data as KeyBody[]).find((key) => key.id === id);
  assert.ok(found !== undefined);
  return found;
}

function limit(amount: number, period = 'total'): Members {
  return { spend_limit: { amount_microcredits: amount, period } };
}

async function assertBooks(): Promise<void> {
  const broken = (await auditLedger(bed.sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
}

interface Refusal {
  code: string;
  message: string;
  details: { cap: string; resets_at: string | null };
}

/** What one small answer costs, and holds. */
const prompt = '[[sim tokens=1]]';

test('of 60 requests at once on a limit for 20, 20 are answered', async () => {
  const account = await bed.account();
  const delayed = '[[sim tokens=1 first_ms=1200]]';
  const refused = await askChat(await newKey(account, limit(0)), delayed, { max_tokens: 1 });
  const hold = Number(refused.headers.get('x-svc-required-microcredits'));
  // While 20 run none of them has been charged less than it holds.
  const key = await newKey(account, { ...limit(20 * hold, 'month'), concurrency_max: 64 });
  const asked = Array.from({ length: 60 }, () => askChat(key, delayed, { max_tokens: 1 }));
  const replies = await Promise.all(asked);
  const counts = new Map<number, number>();
  for (const { status } of replies) counts.set(status, (counts.get(status) ?? 0) + 1);
  assert.deepEqual([counts.get(200), counts.get(402)], [20, 40], JSON.stringify([...counts]));
  await account.quiet();
  const charge =
    replies.find(({ status }) => status === 200)?.body.svc_usage.charge_microcredits ?? 0;
  const body = await keyBody(account, key.id);
  assert.equal(body.spent?.microcredits, 20 * charge);
  assert.equal(body.spent?.exact, `${20 * charge}`);
  const resets = Date.parse(body.spent?.resets_at ?? '');
  assert.ok(resets > Date.now() && new Date(resets).getUTCDate() === 1, 'the first of next month');
  await assertBooks();
});

test('a refusal names the limit and when it begins anew, in every format', async () => {
  const account = await bed.account();
  const key = await newKey(account, limit(1, 'day'));
  const messages = [{ role: 'user', content: 'x' }];
  const tomorrow = new Date();
  tomorrow.setUTCHours(24, 0, 0, 0);
  const calls: [string, Members][] = [
    ['/v1/chat/completions', { model: 'svc-sim-chat', messages }],
    ['/v1/chat/completions', { model: 'svc-intelligent', messages }],
    ['/v1/responses', { model: 'svc-sim-chat', input: 'x' }],
    ['/v1/messages', { model: 'svc-sim-messages', max_tokens: 9, messages }],
    ['/api/v1/llm/responses', { model: 'svc-sim-chat', messages }],
    [
      '/v1/video/generations',
      { prompt: 'A boat', duration_seconds: 4, video_model: 'svc-sim-video' },
    ],
    ['/v1/audio/speech', { model: 'svc-tts', voice: 'alloy', input: 'Hello' }],
  ];
  await bed.simulator.reset();
  for (const [route, body] of calls) {
    const headers = { authorization: `Bearer ${key.apiKey}` };
    const reply = await contract.call('POST', route, { headers, body });
    assert.equal(reply.status, 402, `${route}: ${reply.text}`);
    const error = reply.json.error as Partial<Refusal>;
    assert.match(error.message ?? '', /spend limit of the key/, route);
    assert.ok(error.message?.includes(tomorrow.toISOString()), route);
    assert.ok(reply.text.includes('spend_limit_exceeded') || route === '/v1/messages', reply.text);
    assert.equal(reply.headers.get('x-should-retry') ?? 'false', 'false', route);
    assert.equal(reply.headers.get('x-svc-available-microcredits'), '1', route);
    // Formats of vendors have no place for details.
    if (!route.startsWith('/api/')) continue;
    assert.equal(error.details?.cap, 'key', `${route}: ${reply.text}`);
    assert.equal(error.details?.resets_at, tomorrow.toISOString());
  }
  const form = new FormData();
  form.set('model', 'svc-transcribe');
  form.set('file', new File([wav(1)], 'a.wav', { type: 'audio/wav' }));
  const headers = { authorization: `Bearer ${key.apiKey}` };
  const sent = { method: 'POST', headers, body: form };
  assert.equal((await fetch(`${bed.url}/v1/audio/transcriptions`, sent)).status, 402);
  await bed.simulator.expect({ started: 0 });
});

test('a limit that is met while streaming ends the answer as an empty wallet does', async () => {
  const account = await bed.account();
  const key = await newKey(account, limit(60_000));
  const stream = await streamChat(key, '[[sim tokens=400 gap_ms=2]]');
  assert.equal(stream.finishReason, 'length');
  assert.equal(stream.svcUsage?.credits_exhausted, true);
  await account.quiet();
  const { spent } = await keyBody(account, key.id);
  assert.equal(spent?.microcredits, stream.svcUsage?.charge_microcredits);
  assert.ok((spent?.microcredits ?? 0) <= 60_000 && (spent?.microcredits ?? 0) > 40_000);
  await assertBooks();
});

test('the token of a key changes inside its limit', async () => {
  const account = await bed.account();
  const key = await newKey(account, limit(1_000_000));
  await askChat(key, prompt);
  await account.quiet();
  const before = await keyBody(account, key.id);
  const rotated = await manage(account, '/rotate', { api_key_id: key.id, grace_seconds: 2 });
  assert.equal(rotated.status, 200, rotated.text);
  const token = rotated.json.raw_token as string;
  assert.notEqual(token, key.apiKey);
  const body = rotated.json.api_key as KeyBody;
  assert.deepEqual(
    [body.id, body.spent, body.spend_limit],
    [key.id, before.spent, before.spend_limit],
  );
  const renewed = { ...key, apiKey: token };
  for (const each of [key, renewed]) assert.equal((await askChat(each, prompt)).status, 200);
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  assert.equal((await askChat(key, prompt)).status, 401);
  assert.equal((await askChat(renewed, prompt)).status, 200);
  await account.quiet();
  const counted = (await keyBody(account, key.id)).spent?.microcredits;
  assert.equal(counted, 4 * (before.spent?.microcredits ?? 0));
  const again = await manage(account, '/rotate', { api_key_id: key.id });
  assert.equal((await askChat(renewed, prompt)).status, 401, 'without grace: at once');
  assert.equal(
    (await askChat({ ...key, apiKey: again.json.raw_token as string }, prompt)).status,
    200,
  );
  await assertBooks();
});

test('a limit that is set while an answer runs counts what was charged and is held', async () => {
  const account = await bed.account();
  const key = await newKey(account, {});
  const charged = (await askChat(key, prompt)).body.svc_usage.charge_microcredits;
  await account.quiet();
  const running = streamChat(key, '[[sim tokens=300 first_ms=1500]]');
  await bed.simulator.reset();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const set = await manage(account, '/update', { api_key_id: key.id, ...limit(120_000, 'week') });
  assert.equal(set.status, 200, set.text);
  assert.equal((set.json.api_key as KeyBody).spent?.microcredits, charged);
  const stream = await running;
  assert.equal(stream.svcUsage?.credits_exhausted, true);
  await account.quiet();
  const { spent } = await keyBody(account, key.id);
  assert.equal(spent?.microcredits, charged + (stream.svcUsage?.charge_microcredits ?? 0));
  assert.ok((spent?.microcredits ?? 0) <= 120_000);
  await assertBooks();
  const summary = await contract.call('GET', '/api/me/billing/summary', {
    headers: { authorization: `Bearer ${key.apiKey}` },
  });
  const own = summary.json.api_key as { id: string; left: { microcredits: number } };
  assert.equal(own.id, key.id);
  assert.equal(own.left.microcredits, 120_000 - (spent?.microcredits ?? 0));
  const cleared = await manage(account, '/update', { api_key_id: key.id, spend_limit: null });
  assert.deepEqual((cleared.json.api_key as KeyBody).spent, null);
  assert.equal((await askChat(key, prompt)).status, 200);
});

test('a voice session is refused by the limit of its key, with its own ticket, too', async () => {
  const account = await bed.account();
  const key = await newKey(account, limit(10));
  const made = await contract.call('POST', '/v1/voice/tickets', {
    headers: { authorization: `Bearer ${key.apiKey}` },
  });
  assert.equal(made.status, 200, made.text);
  const query = `ticket=${made.json.ticket as string}`;
  for (const options of [{ apiKey: key.apiKey }, { query }]) {
    const client = await VoiceClient.connect(bed.url, options);
    client.start();
    const error = await client.event('error');
    assert.equal(error.code, 'insufficient_credits');
    assert.match(String(error.message), /spend limit of the key/);
    client.socket.terminate();
  }
  await assertBooks();
});
