// A burst on a resampled lane, with ticks that come when the test says so: by counts, whatever the
// machine does meanwhile.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { createLanes, type Lanes } from '../../../media/audio/lanes/lanes.ts';

const log = pino({ level: 'silent' });
const frame = new Uint8Array(1_024);
/** 32 ms at 24 kHz. */
const outputBytes = 1_536;
const realTimeout = setTimeout;
const pause = (ms: number) => new Promise((resolve) => realTimeout(resolve, ms));

function connect(lanes: Lanes) {
  const client = { frames: 0, push: () => assert.ok(lane?.push(frame)) };
  const lane = lanes.open({
    output(pcm) {
      client.frames += pcm.byteLength / outputBytes;
    },
    failed: () => assert.fail('the lanes failed'),
    fault: (error) => assert.fail(String(error)),
  });
  return client;
}

/** Waits for so many batches, and whether another one follows without a tick of its own. */
async function reach(lanes: Lanes, batches: number): Promise<void> {
  for (let turn = 0; lanes.status.batches < batches && turn < 10_000; turn += 1) await pause(1);
  await pause(10);
  assert.equal(lanes.status.batches, batches);
}

test('a burst gets 4 frames a tick, and who speaks meanwhile its own of that tick', async (t) => {
  const lanes = createLanes({ lanesMax: 2, log });
  t.after(() => lanes.stop());
  const [client, neighbour] = [connect(lanes), connect(lanes)];
  // The thread has started, and this tick is over.
  client.push();
  await reach(lanes, 1);
  // Whole: a tick is then exactly 4 ms later, not a rounding more.
  let nowMs = Math.ceil(performance.now()) + 10;
  t.mock.method(performance, 'now', () => nowMs);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (let count = 0; count < 157; count += 1) client.push();
  await reach(lanes, 2);
  for (let tick = 1; client.frames < 158; tick += 1) {
    neighbour.push();
    nowMs += 4;
    t.mock.timers.tick(4);
    await reach(lanes, 2 + tick);
    assert.equal(client.frames, Math.min(158, 1 + 4 + 4 * tick));
    assert.equal(neighbour.frames, tick);
  }
  t.mock.timers.reset();
});
