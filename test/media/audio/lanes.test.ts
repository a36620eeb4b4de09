// The lanes with a real Piscina thread: what many sessions get is, sample by sample, what one
// resampler gives, whatever order, lengths, bursts and closes they come in.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import pino from 'pino';
import {
  createLanes,
  type Lane,
  type LaneListener,
  type Lanes,
  type LanesOptions,
} from '../../../media/audio/lanes/lanes.ts';
import { createResampler } from '../../../media/audio/resample/resampler.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';

const log = pino({ level: 'silent' });

/** Also a test that fails must take its threads along: they would keep the process. */
function openLanes(t: TestContext, options: Omit<LanesOptions, 'log'>): Lanes {
  const lanes = createLanes({ ...options, log });
  t.after(() => lanes.stop());
  return lanes;
}

interface Client {
  lane: Lane;
  sent: number[];
  heard: number[];
  failed: boolean;
  faults: unknown[];
  /** Thrown at each report. */
  bug: Error | null;
}

const nobody: LaneListener = { output() {}, failed() {}, fault() {} };

function connect(lanes: Lanes): Client {
  const client: Omit<Client, 'lane'> = {
    sent: [],
    heard: [],
    failed: false,
    faults: [],
    bug: null,
  };
  const lane = lanes.open({
    output(pcm) {
      if (client.bug !== null) throw client.bug;
      client.heard.push(...new Int16Array(pcm.slice().buffer));
    },
    failed() {
      client.failed = true;
      if (client.bug !== null) throw client.bug;
    },
    fault: (error) => void client.faults.push(error),
  });
  assert.ok(lane !== null);
  return Object.assign(client, { lane });
}

function frame(random: () => number, samples: number): Int16Array {
  return Int16Array.from({ length: samples }, () => Math.floor(random() * 65_536) - 32_768);
}

function send(client: Client, samples: Int16Array): boolean {
  const isKept = client.lane.push(new Uint8Array(samples.buffer));
  // Taken at once: the caller's buffer may be reused.
  const copy = [...samples];
  samples.fill(0);
  if (isKept) client.sent.push(...copy);
  return isKept;
}

async function settled(client: Client, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  const wanted = Math.floor(client.sent.length / 2) * 3;
  while (client.heard.length < wanted && performance.now() < deadline) await sleep(5);
  assert.equal(client.heard.length, wanted);
}

/** Until no backlog is half full: a busy machine must not be sent more than a live caller's. */
async function caughtUp(clients: readonly Client[], timeoutMs = 10_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  const isBehind = ({ sent, heard }: Client) => sent.length - heard.length / 1.5 > 38 * 512;
  while (clients.some(isBehind) && performance.now() < deadline) await sleep(5);
}

function assertExact({ sent, heard }: Client): void {
  const expected = createResampler('up').push(Int16Array.from(sent));
  assert.deepEqual(Int16Array.from(heard), expected);
}

test('many sessions of any pace get exactly what one resampler gives', async (t) => {
  const seed = testSeed;
  t.diagnostic(`seed ${seed}`);
  const random = createRandom(seed);
  const lanes = openLanes(t, { lanesMax: 40 });
  const clients = Array.from({ length: 40 }, () => connect(lanes));
  for (let turn = 0; turn < 60; turn++) {
    for (const client of clients) {
      if (random() < 0.3) continue;
      const burst = random() < 0.05 ? 20 : 1;
      for (let count = 0; count < burst; count++) {
        const length = random() < 0.8 ? 512 : 1 + Math.floor(random() * 512);
        assert.ok(send(client, frame(random, length)));
      }
    }
    await sleep(random() < 0.5 ? 1 : 12);
    await caughtUp(clients);
  }
  for (const client of clients) {
    await settled(client);
    assertExact(client);
  }
  assert.equal(lanes.status.droppedFrames, 0);
});

test('5 s at once go through; what is beyond the backlog is refused and counted', async (t) => {
  const lanes = openLanes(t, { lanesMax: 2 });
  const client = connect(lanes);
  const random = createRandom(1);
  for (let count = 0; count < 157; count++) assert.ok(send(client, frame(random, 512)));
  await settled(client);
  let refused = 0;
  for (let count = 0; count < 260; count++) if (!send(client, frame(random, 512))) refused += 1;
  assert.equal(refused, 260 - 244);
  assert.equal(client.lane.droppedFrames, refused);
  await settled(client);
  assertExact(client);
});

test('lanes are bounded, and one that was closed leaves nothing to the next one', async (t) => {
  const lanes = openLanes(t, { lanesMax: 1 });
  const first = connect(lanes);
  assert.equal(lanes.open(nobody), null);
  const random = createRandom(2);
  send(first, frame(random, 512));
  await settled(first);
  send(first, frame(random, 512));
  first.lane.close();
  first.lane.close();
  assert.equal(send(first, frame(random, 512)), false);
  const second = connect(lanes);
  for (let count = 0; count < 10; count++) send(second, frame(random, 300));
  await settled(second);
  assertExact(second);
  assert.equal(first.heard.length, 768);
  assert.equal(lanes.status.open, 1);
});

test('who throws at its sound loses its lane, and the others of the batch nothing', async (t) => {
  const lanes = openLanes(t, { lanesMax: 3 });
  const clients = Array.from({ length: 3 }, () => connect(lanes));
  const [first, broken, last] = clients;
  assert.ok(first !== undefined && broken !== undefined && last !== undefined);
  broken.bug = new Error('no sound for you');
  const random = createRandom(5);
  for (const client of clients) assert.ok(send(client, frame(random, 512)));
  await settled(first);
  await settled(last);
  assert.deepEqual(broken.faults, [broken.bug]);
  assert.equal(send(broken, frame(random, 512)), false);
  assert.equal(lanes.status.open, 2);
  for (const client of [first, last]) {
    assert.ok(send(client, frame(random, 512)));
    await settled(client);
    assertExact(client);
  }
});

test('terms that end under the batches are begun again, and nobody hears it', async (t) => {
  for (const termMs of [1, 7]) {
    const lanes = openLanes(t, { lanesMax: 4, termMs });
    const clients = Array.from({ length: 4 }, () => connect(lanes));
    const random = createRandom(testSeed);
    for (let turn = 0; turn < 150; turn++) {
      for (const client of clients) assert.ok(send(client, frame(random, 512)));
      await sleep(random() < 0.5 ? 0 : 3);
      await caughtUp(clients);
    }
    for (const client of clients) {
      await settled(client);
      assertExact(client);
    }
    assert.equal(lanes.status.retries, 0);
  }
});

/** The threads that are started while `work` runs. */
async function withThreads(work: (threads: Worker[]) => Promise<void>): Promise<void> {
  const threads: Worker[] = [];
  const remember = (thread: Worker) => void threads.push(thread);
  process.on('worker', remember);
  try {
    await work(threads);
  } finally {
    process.off('worker', remember);
  }
}

test('threads that die under the batches cost nothing but time', async (t) => {
  const seed = testSeed;
  t.diagnostic(`seed ${seed}`);
  const random = createRandom(seed);
  await withThreads(async (threads) => {
    // Whatever time a busy machine takes to start a thread: this is about threads that die.
    const lanes = openLanes(t, { lanesMax: 10, timeoutMs: 8_000 });
    const clients = Array.from({ length: 10 }, () => connect(lanes));
    const ended: Promise<number>[] = [];
    let batches = 0;
    const oneMoreBatch = async (timeoutMs = 10_000) => {
      const deadline = performance.now() + timeoutMs;
      while (lanes.status.batches <= batches && performance.now() < deadline) await sleep(1);
      ({ batches } = lanes.status);
    };
    for (let turn = 0; turn < 250; turn++) {
      for (const client of clients) {
        if (random() < 0.2) assert.ok(send(client, frame(random, 512)));
      }
      // While a batch is being computed, as often as not; but no batch has more than one death.
      if (turn % 60 === 30) {
        await oneMoreBatch();
        const thread = threads.at(-1);
        assert.ok(thread !== undefined);
        ended.push(thread.terminate());
      }
      await sleep(random() < 0.5 ? 0 : 3);
    }
    for (const client of clients) {
      await settled(client, 60_000);
      assertExact(client);
      assert.equal(client.failed, false);
    }
    assert.equal(lanes.status.droppedFrames, 0);
    assert.ok(threads.length > 1);
    await Promise.all(ended);
  });
});

test('when threads do not answer every lane is told, and the next one begins anew', async (t) => {
  await withThreads(async (threads) => {
    // No thread starts in a millisecond.
    const lanes = openLanes(t, { lanesMax: 3, timeoutMs: 1 });
    const clients = [connect(lanes), connect(lanes)];
    const [broken] = clients;
    assert.ok(broken !== undefined);
    broken.bug = new Error('no news for you');
    const random = createRandom(3);
    while (threads.length === 0) await sleep(5);
    await sleep(300);
    await threads[0]?.terminate();
    for (const client of clients) send(client, frame(random, 512));
    // Piscina forgets whom it starts: a thread that died so early is waited for, for 10 s.
    const deadline = performance.now() + 60_000;
    while (clients.some(({ failed }) => !failed) && performance.now() < deadline) await sleep(5);
    for (const client of clients) {
      assert.equal(client.failed, true);
      assert.equal(send(client, frame(random, 512)), false);
    }
    assert.deepEqual(broken.faults, [broken.bug]);
    assert.equal(lanes.status.open, 0);
    assert.notEqual(lanes.open(nobody), null);
  });
});

test('threads whose task waits are stopped at once', async (t) => {
  for (const pauseMs of [0, 1, 5, 50]) {
    const lanes = openLanes(t, { lanesMax: 1 });
    const client = connect(lanes);
    send(client, frame(createRandom(4), 512));
    await settled(client);
    await sleep(pauseMs);
    const watch = startStopwatch();
    await lanes.stop();
    watch.assertWithin(2_000, 'stopped');
  }
});

test('a shard that dies takes its thread along', {
  skip: process.platform !== 'linux',
}, async () => {
  const threads = () => readdirSync('/proc/self/task').length;
  const random = createRandom(testSeed);
  const before = threads();
  for (let count = 0; count < 8; count++) {
    const shard = new Worker(new URL('./lanes-thread.js', import.meta.url));
    await new Promise((resolve) => shard.once('message', resolve));
    assert.ok(threads() >= before + 2);
    await sleep(20 * random());
    await shard.terminate();
  }
  const deadline = performance.now() + 30_000;
  while (threads() > before && performance.now() < deadline) await sleep(5);
  assert.equal(threads(), before);
});
