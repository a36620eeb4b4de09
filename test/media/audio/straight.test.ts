// Lanes that do not resample, under a clock of the test's own: what goes on at once, and how a
// burst is spread over ticks. By counts, whatever the machine does meanwhile.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Lane } from '../../../media/audio/lanes/lanes.ts';
import { createStraightLanes, type StraightLanes } from '../../../media/audio/lanes/straight.ts';

const frameBytes = 1_024;

interface Clock {
  lanes: StraightLanes;
  /** One tick of 2 ms. */
  tick(): void;
}

function openClock(t: TestContext): Clock {
  let nowMs = 1_000;
  t.mock.method(performance, 'now', () => nowMs);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lanes = createStraightLanes();
  t.after(() => lanes.stop());
  return {
    lanes,
    tick() {
      nowMs += 2;
      t.mock.timers.tick(2);
    },
  };
}

interface Client {
  lane: Lane;
  /** Of each message, the first byte of every frame in it. */
  heard: number[][];
  faults: unknown[];
  bug: Error | null;
}

function connect(lanes: StraightLanes): Client {
  const client: Omit<Client, 'lane'> = { heard: [], faults: [], bug: null };
  const lane = lanes.open({
    output(pcm) {
      if (client.bug !== null) throw client.bug;
      const frames = Math.ceil(pcm.byteLength / frameBytes);
      client.heard.push(
        Array.from({ length: frames }, (_, index) => pcm[index * frameBytes] ?? -1),
      );
    },
    fault: (error) => void client.faults.push(error),
  });
  return Object.assign(client, { lane });
}

const lent = new Uint8Array(frameBytes);

/** The bytes are lent: whoever keeps them needs a copy. */
function send({ lane }: Client, value: number, bytes = frameBytes): boolean {
  lent.fill(value);
  const isTaken = lane.push(lent.subarray(0, bytes));
  lent.fill(255);
  return isTaken;
}

test('frames at real time go on at once, each by itself', (t) => {
  const { lanes, tick } = openClock(t);
  const client = connect(lanes);
  for (let value = 0; value < 20; value += 1) {
    assert.ok(send(client, value));
    assert.deepEqual(client.heard.at(-1), [value]);
    tick();
  }
  assert.equal(client.heard.length, 20);
});

test('a burst of 5 s goes on in 4 frames a tick, in order, and nobody waits behind it', (t) => {
  const { lanes, tick } = openClock(t);
  const client = connect(lanes);
  const neighbour = connect(lanes);
  for (let value = 0; value < 157; value += 1) assert.ok(send(client, value));
  assert.equal(client.heard.flat().length, 4, 'what a tick may have goes on at once');
  for (let ticks = 1; client.heard.flat().length < 157; ticks += 1) {
    send(neighbour, ticks);
    assert.deepEqual(neighbour.heard.at(-1), [ticks]);
    tick();
    assert.equal(client.heard.flat().length, Math.min(157, 4 + 4 * ticks));
    assert.equal(client.heard.length, 4 + ticks, 'one message a tick');
  }
  assert.deepEqual(
    client.heard.flat(),
    Array.from({ length: 157 }, (_, value) => value),
  );
  tick();
  assert.ok(send(client, 7));
  assert.deepEqual(client.heard.at(-1), [7], 'and then at once again');
});

test('what comes while a backlog drains stays behind it, shorter frames too', (t) => {
  const { lanes, tick } = openClock(t);
  const client = connect(lanes);
  for (let value = 0; value < 10; value += 1) send(client, value);
  tick();
  send(client, 10);
  send(client, 11, 100);
  for (let ticks = 0; ticks < 5; ticks += 1) tick();
  assert.deepEqual(client.heard, [[0], [1], [2], [3], [4, 5, 6, 7], [8, 9, 10, 11]]);
});

test('many bursts share the ticks in turn', (t) => {
  const { lanes, tick } = openClock(t);
  const clients = Array.from({ length: 100 }, () => connect(lanes));
  for (const client of clients) for (let value = 0; value < 24; value += 1) send(client, value);
  const counts = () => clients.map(({ heard }) => heard.flat().length);
  for (let ticks = 1; counts().some((count) => count < 24); ticks += 1) {
    const before = counts().reduce((sum, count) => sum + count, 0);
    tick();
    const after = counts();
    assert.ok(after.reduce((sum, count) => sum + count, 0) - before <= 64 * 4);
    assert.ok(Math.max(...after) - Math.min(...after) <= 4, 'nobody is a turn ahead');
    assert.ok(ticks < 20);
  }
});

test('what is beyond the backlog is refused and counted; a close drops the rest', (t) => {
  const { lanes, tick } = openClock(t);
  const client = connect(lanes);
  let refused = 0;
  for (let value = 0; value < 260; value += 1) if (!send(client, value)) refused += 1;
  assert.deepEqual([refused, client.lane.droppedFrames], [260 - 244, 260 - 244]);
  client.lane.close();
  client.lane.close();
  tick();
  assert.equal(client.heard.length, 4);
  assert.equal(send(client, 1), false);
});

test('who throws at its sound loses its lane, and the others of the tick nothing', (t) => {
  const { lanes, tick } = openClock(t);
  const clients = [connect(lanes), connect(lanes), connect(lanes)];
  for (const client of clients) for (let value = 0; value < 12; value += 1) send(client, value);
  const [first, broken, last] = clients;
  assert.ok(first !== undefined && broken !== undefined && last !== undefined);
  broken.bug = new Error('no sound for you');
  tick();
  tick();
  assert.deepEqual(broken.faults, [broken.bug]);
  assert.equal(send(broken, 1), false);
  for (const { heard } of [first, last]) assert.equal(heard.flat().length, 12);
});
