// Time as far as a thread was awake: what has arrived while it stood still is read before anything
// is told to be late, and a standstill is nobody's delay.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { withDeadline } from '../../db/driver/sql.ts';
import { DeadlineWheel, PendingAsk } from '../../runtime/actor/deadline.ts';
import { AwakeTimer, awakeMs, stoodStillMs } from '../../runtime/awake.ts';
import { createPool } from '../../runtime/work/pool.ts';
import { standStill } from '../harness/standstill.ts';
import { startSteadyServer } from '../harness/steady-server.ts';

// slow: It stands still and waits in real time.

test('a standstill hardly counts, and all other time does', async () => {
  const beganMs = awakeMs();
  const beganAt = performance.now();
  const stood = stoodStillMs();
  await standStill(2_000);
  const ownMs = awakeMs() - beganMs;
  assert.ok(ownMs < performance.now() - beganAt - 1_000, `${ownMs} ms`);
  assert.ok(stoodStillMs() - stood > 1_000);
  const fromMs = awakeMs();
  await sleep(300);
  assert.ok(awakeMs() - fromMs >= 299);
});

test('a timer is late in its own time, and a cancelled one never', async () => {
  const beganAt = performance.now();
  let lateAfterMs = 0;
  let wasCancelledLate = false;
  const { promise, resolve } = pending<void>();
  new AwakeTimer(1_500, () => {
    lateAfterMs = performance.now() - beganAt;
    resolve();
  });
  const cancelled = new AwakeTimer(100, () => {
    wasCancelledLate = true;
  });
  setTimeout(() => cancelled.cancel(), 50);
  await standStill(2_500);
  await promise;
  assert.ok(lateAfterMs > 2_500 + 500, `after ${lateAfterMs} ms`);
  assert.equal(wasCancelledLate, false);
});

function pending<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}

/** Resolves with what another thread answers while this one stands still. */
async function answerDuring(ms: number, expected: (answered: Promise<void>) => Promise<void>) {
  const server = await startSteadyServer([{ afterMs: 300, text: 'x' }]);
  try {
    const socket = connect(server.port, '127.0.0.1');
    const answered = once(socket, 'data').then(() => socket.destroy());
    const asked = server.asked();
    socket.write('?');
    await asked;
    const done = expected(answered.then(() => {}));
    await standStill(ms);
    await done;
  } finally {
    await server.close();
  }
}

test('an ask whose answer lies unread after a standstill is answered', async () => {
  await answerDuring(2_000, async (answered) => {
    const wheel = new DeadlineWheel(awakeMs);
    const ask = new PendingAsk();
    void answered.then(() => ask.settle({ ok: true, value: 1 }));
    assert.deepEqual(await wheel.wait(ask, 1_000), { ok: true, value: 1 });
  });
});

test('by a clock that counts all time as well', async () => {
  await answerDuring(2_000, async (answered) => {
    const wheel = new DeadlineWheel(() => performance.now());
    const ask = new PendingAsk();
    void answered.then(() => ask.settle({ ok: true, value: 1 }));
    assert.deepEqual(await wheel.wait(ask, 1_000), { ok: true, value: 1 });
  });
});

test('a query whose rows lie unread after a standstill has them', async () => {
  await answerDuring(2_000, (answered) => withDeadline(answered, 1_000));
});

test('a task that was done while we stood still is not late', async () => {
  const log = pino({ level: 'silent' });
  const pool = createPool({
    threadsMax: 1,
    queueLengthMax: 1,
    idleMs: 9_000,
    timeoutMs: 9_000,
    log,
  });
  const file = new URL('./pool-task.js', import.meta.url);
  await pool.run<number>(file, { act: 'add' });
  const slow = pool.run<number>(
    file,
    { act: 'sleep', ms: 200, numbers: [7] },
    { timeoutMs: 1_500 },
  );
  await standStill(2_500);
  assert.deepEqual(await slow, { ok: true, value: 7 });
  await pool.stop();
});
