// Voice sessions whose thread stands still: what the client has sent meanwhile is read before it is
// called late or silent, and that it comes at once is no flood of the client's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { standStill } from '../../harness/standstill.ts';
import { stagesOfFile } from './stage.ts';

// slow: It waits for the deadlines of a session in real time.

const open = stagesOfFile();

/** Done when the thread has read what arrived while it stood still. */
async function afterStandstill(ms: number, act: () => void): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  port2.once('message', act);
  await standStill(ms, () => port1.postMessage(null));
  // Sessions are looked at five times a second.
  await sleep(500);
  port1.close();
}

test('a start that came while we stood still is in time', async () => {
  const stage = await open();
  const client = stage.connect(await stage.account());
  await afterStandstill(6_000, () => client.start());
  assert.deepEqual(client.types(), ['connecting']);
  client.leave();
  await stage.over(client);
});

test('a client that spoke while we stood still is neither silent nor a flood', async () => {
  const stage = await open({ idleMs: 5_000 });
  const client = await stage.live(await stage.account());
  client.forget();
  const spokenMs = 13_000;
  await afterStandstill(spokenMs, () => {
    for (let atMs = 0; atMs < spokenMs; atMs += 32) client.frame(1_024, 1_000);
  });
  assert.deepEqual(client.types(), []);
  assert.equal(client.session.phase, 'live');
  client.send({ type: 'end' });
  await stage.over(client);
});

test('an upstream that is thinking while we stand still is not blamed for it', async () => {
  const stage = await open({ stalledMs: 5_000 });
  const client = await stage.live(await stage.account());
  const { call } = client;
  assert.ok(call !== null);
  call.says({ type: 'answer_started', itemId: 'a' });
  client.forget();
  await afterStandstill(6_000, () => call.says({ type: 'answer_done', outcome: 'completed' }));
  assert.deepEqual(client.types(), ['listening']);
  client.send({ type: 'end' });
  await stage.over(client);
});
