// What one key may do at once and in a minute, exact over all shards, with the headers by which a
// client can pace itself. A generation that nobody listens to any more still counts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Queryable } from '../../db/driver/sql.ts';
import type { TestAccount } from '../harness/account.ts';
import { askChat, chatBody, openChat, postChat, streamChat } from '../harness/chat.ts';
import { Contract, type Reply } from '../harness/contract.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

// slow: It waits for the minute of a limit in real time.

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed({
    shards: 2,
    env: { TOLLGATE_GENERATION_BYTES_MAX: '65536' },
  });
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

function models(account: TestAccount): Promise<Reply> {
  const headers = { authorization: `Bearer ${account.apiKey}` };
  return contract.call('GET', '/v1/models', { headers });
}

function limitHeaders(headers: Headers): Record<string, number> {
  const names = ['limit', 'remaining', 'reset'].flatMap((name) => [
    `${name}-requests`,
    `${name}-concurrency`,
  ]);
  return Object.fromEntries(
    names.map((name) => [name, Number(headers.get(`x-ratelimit-${name}`))]),
  );
}

async function until(done: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await done())) {
    assert.ok(performance.now() < deadline, 'it did not come to pass');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

test('the sixth request of five a minute is refused, whichever shard it meets', async () => {
  const account = await bed.account({ requestsPerMinute: 5 });
  const startedAt = performance.now();
  const refilled = () => Math.floor((performance.now() - startedAt) / 12_000);
  for (let left = 4; left >= 0; left -= 1) {
    const reply = await models(account);
    assert.equal(reply.status, 200);
    const seen = limitHeaders(reply.headers);
    const remaining = seen['remaining-requests'] ?? -1;
    assert.equal(seen['limit-requests'], 5);
    assert.ok(remaining >= left && remaining <= left + refilled(), `${remaining}, not ${left}`);
    assert.ok((seen['reset-requests'] ?? 0) >= 1);
    assert.equal(seen['limit-concurrency'], 1_000);
  }
  let refused = await models(account);
  for (let passed = 1; refused.status === 200; passed += 1) {
    assert.ok(passed <= refilled(), 'no more than what came meanwhile');
    refused = await models(account);
  }
  assert.equal(refused.status, 429);
  assert.equal((refused.json.error as { code: string }).code, 'rate_limited');
  const retryAfter = Number(refused.headers.get('retry-after'));
  assert.ok(retryAfter >= 1 && retryAfter <= 12, `${retryAfter} s for one of five a minute`);
  assert.equal(limitHeaders(refused.headers)['remaining-requests'], 0);
});

test('a hundred requests at once on thirty a minute: exactly thirty pass', async () => {
  const account = await bed.account({ requestsPerMinute: 30 });
  const startedAt = performance.now();
  const replies = await Promise.all(Array.from({ length: 100 }, () => models(account)));
  const passed = replies.filter(({ status }) => status === 200).length;
  const refilled = Math.floor((performance.now() - startedAt) / 2_000);
  assert.ok(passed >= 30 && passed <= 30 + refilled, `${passed}, ${refilled} came meanwhile`);
});

test('the third request of two at once is refused until one of them ends', async () => {
  const account = await bed.account({ concurrencyMax: 2 });
  const streams = await Promise.all(
    [1, 2].map(() => openChat(account, '[[sim tokens=150 gap_ms=20]]')),
  );
  await Promise.all(streams.map((stream) => stream.read(2)));
  const refused = await askChat(account, 'hello');
  assert.equal(refused.status, 429);
  assert.equal(refused.body.error?.code, 'concurrency_limited');
  assert.equal(refused.headers.get('retry-after'), '1');
  const seen = limitHeaders(refused.headers);
  assert.deepEqual([seen['limit-concurrency'], seen['remaining-concurrency']], [2, 0]);
  assert.equal(seen['reset-concurrency'], 1, 'nobody knows when, and not at once');
  await Promise.all(streams.map((stream) => stream.read()));
  const later = await askChat(account, 'hello');
  assert.equal(later.status, 200);
  const free = limitHeaders(later.headers);
  assert.deepEqual([free['remaining-concurrency'], free['reset-concurrency']], [1, 0]);
});

test('a place is free as soon as the client has its reply', async () => {
  const account = await bed.account({ concurrencyMax: 1 });
  for (let round = 0; round < 20; round += 1) {
    const [stream, whole] = [
      await streamChat(account, '[[sim tokens=2]]'),
      await askChat(account, '[[sim tokens=2]]'),
    ];
    assert.deepEqual([stream.status, whole.status], [200, 200], `round ${round}`);
    assert.equal((await models(account)).status, 200);
  }
});

test('refusals give their place back', async () => {
  const account = await bed.account({ concurrencyMax: 1, micros: 0n });
  for (let round = 0; round < 5; round += 1) {
    assert.equal((await askChat(account, 'hello')).status, 402);
    assert.equal((await askChat(account, 'hello', { n: 3 })).status, 400);
    assert.equal((await askChat(account, 'hello', { model: 'none' })).status, 404);
  }
});

test('a body over the configured bound of its class is refused', async () => {
  const account = await bed.account();
  assert.equal((await askChat(account, 'a'.repeat(60_000))).status, 200);
  const { status, body } = await askChat(account, 'a'.repeat(70_000));
  assert.equal(status, 413);
  assert.equal(body.error?.code, 'request_too_large');
});

test('a detached generation counts until it ends', async () => {
  const account = await bed.account({ concurrencyMax: 1 });
  const controller = new AbortController();
  const options = { signal: controller.signal, key: 'gone' };
  const prompt = '[[sim tokens=200 gap_ms=15]]';
  const stream = await openChat(account, prompt, {}, options);
  await stream.read(3);
  controller.abort();
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal((await askChat(account, 'hello')).status, 429);
  await until(async () => (await askChat(account, 'hello')).status === 200);
  const { body } = await askChat(account, prompt, {}, { key: 'gone' });
  assert.equal(body.svc_usage.output_tokens, 200);
});

for (const { path, body } of [
  { path: '/v1/chat/completions', body: chatBody('hello') },
  { path: '/v1/audio/speech', body: { model: 'svc-tts', voice: 'alloy', input: 'hello' } },
]) {
  test(`a client that leaves while ${path} is prepared begins nothing`, async () => {
    const account = await bed.account({ concurrencyMax: 4 });
    const remaining = async () => limitHeaders((await models(account)).headers);
    const send = (signal?: AbortSignal) =>
      postChat(account, body, { key: 'left', path, ...(signal === undefined ? {} : { signal }) });
    // Also makes the key known, so that the request below waits for the lock and nothing else.
    assert.equal((await remaining())['remaining-concurrency'], 3);
    await bed.sql.begin(async (sql) => {
      await sql`lock table generations in access exclusive mode`;
      const controller = new AbortController();
      const asking = send(controller.signal).catch(() => null);
      await until(async () => (await waitingForLocks(sql)) === 1);
      controller.abort();
      assert.equal(await asking, null);
      await until(async () => (await remaining())['remaining-concurrency'] === 3);
    });
    await (await send()).arrayBuffer();
    assert.equal((await remaining())['remaining-concurrency'], 3);
    const [count] = await bed.sql`select count(*)::int as begun from generations
      where account_id = ${account.accountId}`;
    assert.equal(count?.begun, 1);
  });
}

async function waitingForLocks(sql: Queryable): Promise<number> {
  const [row] = await sql`select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return row?.waiting as number;
}

test('a request that waits at the generation of its key counts too', async () => {
  const account = await bed.account({ concurrencyMax: 2 });
  const prompt = '[[sim tokens=3 first_ms=3000]]';
  const both = [1, 2].map(() => streamChat(account, prompt, {}, { key: 'shared' }));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assert.equal((await askChat(account, 'hello')).status, 429);
  for (const stream of await Promise.all(both)) assert.equal(stream.text, ' t0 t1 t2');
  assert.equal((await askChat(account, 'hello')).status, 200);
});
