// Generations that run on without their client: at most half of the process's are one account's.
// Others find room, whatever it leaves, and none of what was left is aborted.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../harness/account.ts';
import { askChat, openChat } from '../harness/chat.ts';
import { askResponses, endOf, responseBody } from '../harness/responses.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

const detachedMax = 8;
const share = detachedMax / 2;

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_DETACHED_MAX: `${detachedMax}` } });
});
after(() => bed?.close());

async function detachedCount(): Promise<number> {
  const headers = { 'x-svc-session': bed.dev.admin_session_token };
  const reply = await fetch(`${bed.url}/api/admin/status`, { headers });
  return ((await reply.json()) as { detached_generations: number }).detached_generations;
}

async function untilDetached(count: number): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (let seen = await detachedCount(); seen !== count; seen = await detachedCount()) {
    assert.ok(performance.now() < deadline, `${seen} are detached, not ${count}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Opens so many streams and leaves them after their first words. */
async function leave(account: TestAccount, count: number): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const streams = await Promise.all(
    Array.from({ length: count }, () =>
      openChat(account, '[[sim tokens=200 gap_ms=20]]', {}, { signal }),
    ),
  );
  await Promise.all(streams.map((stream) => stream.read(3)));
  controller.abort();
}

test('an account that leaves more than half is refused, its neighbour is not', async () => {
  const [left, neighbour] = await Promise.all([bed.account(), bed.account()]);
  await bed.simulator.reset();
  await leave(left, detachedMax + 2);
  await untilDetached(detachedMax + 2);
  const refused = await askChat(left, 'hello');
  assert.equal(refused.status, 429);
  assert.equal(refused.body.error?.code, 'concurrency_limited');
  assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  assert.equal((await askChat(neighbour, 'hello')).status, 200);
  await leave(neighbour, share);
  await untilDetached(detachedMax + 2 + share);
  const third = await bed.account();
  const full = await askChat(third, 'hello');
  assert.equal(full.status, 503);
  assert.equal(full.body.error?.code, 'overloaded');
  assert.ok(Number(full.headers.get('retry-after')) >= 1);
  await untilDetached(0);
  const begun = detachedMax + 2 + share + 1;
  await bed.simulator.expect({ started: begun, finished: begun, aborted: 0 });
  assert.equal((await askChat(left, 'hello')).status, 200);
});

test('background responses count when they are accepted, on whichever shard', async () => {
  const [account, neighbour] = await Promise.all([bed.account(), bed.account()]);
  const start = (who: TestAccount) =>
    askResponses(who, '', responseBody('[[sim tokens=2000 gap_ms=20]]', { background: true }));
  const many = await Promise.all(Array.from({ length: 24 }, () => start(account)));
  const accepted = many.filter(({ status }) => status === 200);
  assert.equal(accepted.length, share);
  assert.equal(await detachedCount(), share, 'at once, not when their clients have left');
  for (const { status, body, headers } of many) {
    if (status === 200) continue;
    assert.deepEqual([status, body.error?.code], [429, 'concurrency_limited']);
    assert.ok(Number(headers.get('retry-after')) >= 1);
  }
  assert.equal((await askChat(account, 'hello')).status, 429);
  const other = await start(neighbour);
  assert.equal(other.status, 200);
  const cancel = (who: TestAccount, { body }: { body: { id: string } }) =>
    askResponses(who, `/${body.id}/cancel`, {});
  await Promise.all([...accepted.map((each) => cancel(account, each)), cancel(neighbour, other)]);
  await untilDetached(0);
  const again = await start(account);
  assert.equal(again.status, 200);
  await cancel(account, again);
});

test('one in the background that is refused, fails, or is cancelled leaves its place', async () => {
  const account = await bed.account();
  const poor = await bed.account({ micros: 0n });
  const start = (who: TestAccount, text: string) =>
    askResponses(who, '', responseBody(text, { background: true }));
  for (let count = 0; count <= share; count += 1) {
    assert.equal((await start(poor, 'hello')).status, 402);
    const failing = await start(account, '[[sim status=400]]');
    assert.equal(failing.status, 200);
    assert.equal((await endOf(account, failing.body.id)).status, 'failed');
    const { body } = await start(account, '[[sim tokens=200 gap_ms=50]]');
    assert.equal((await askResponses(account, `/${body.id}/cancel`, {})).status, 200);
  }
  await untilDetached(0);
});
