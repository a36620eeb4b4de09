// Playout against a plain model, with a clock of the test: nothing lost, doubled or reordered,
// cadence and lead within their bounds, positions exact, the budget given back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AudioBudget,
  blockBytes,
  createBudgetCounters,
  openAudioBudget,
} from '../../../media/audio/budget.ts';
import {
  chunkMsMax,
  heldMs,
  leadMs,
  type OutputChunk,
  outputBytesPerMs,
  Playout,
} from '../../../media/audio/playout/playout.ts';
import { fc } from '../../harness/properties.ts';

const mebibyte = 1_024 * 1_024;

function budgetOf(bytesMax: number): AudioBudget {
  return openAudioBudget(createBudgetCounters(1), 0, bytesMax);
}

/** Samples that count up, so that each one is known by its value. */
function counting(first: number, samples: number): Uint8Array {
  const pcm = new Uint8Array(2 * samples);
  const view = new DataView(pcm.buffer);
  for (let n = 0; n < samples; n++) view.setUint16(2 * n, (first + n) % 65_536, true);
  return pcm;
}

function silence(ms: number): Uint8Array {
  return new Uint8Array(ms * outputBytesPerMs);
}

const lengthMs = (chunks: readonly OutputChunk[]) =>
  chunks.reduce((sum, { pcm }) => sum + pcm.byteLength, 0) / outputBytesPerMs;

type Step =
  | { do: 'push'; samples: number; views: boolean }
  | { do: 'end' }
  | { do: 'item' }
  | { do: 'wait'; ms: number }
  | { do: 'clear' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('push' as const),
      samples: fc.oneof(fc.integer({ min: 0, max: 700 }), fc.integer({ min: 700, max: 40_000 })),
      views: fc.boolean(),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.integer({ min: 0, max: 150 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'end' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'item' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'clear' as const }) },
);

/** The plain model: all samples in arrays, and what the client would have left to play. */
class Model {
  waiting: { itemId: string; value: number }[] = [];
  sent = new Map<string, number>();
  value = 0;
  item = 0;
  lastPushed: string | null = null;
  playedUpTo = Number.NEGATIVE_INFINITY;

  take({ itemId, pcm }: OutputChunk, now: number): void {
    const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    assert.ok(pcm.byteLength > 0 && pcm.byteLength % 2 === 0);
    assert.ok(pcm.byteLength <= chunkMsMax * outputBytesPerMs);
    const expected = this.waiting.splice(0, pcm.byteLength / 2);
    for (const [n, sample] of expected.entries()) {
      assert.equal(view.getUint16(2 * n, true), sample.value);
      assert.equal(sample.itemId, itemId);
    }
    assert.equal(expected.length, pcm.byteLength / 2);
    this.sent.set(itemId, (this.sent.get(itemId) ?? 0) + pcm.byteLength);
    this.playedUpTo = Math.max(this.playedUpTo, now) + pcm.byteLength / outputBytesPerMs;
    assert.ok(this.playedUpTo - now <= leadMs.max + 1e-6, 'ahead of the lead');
  }
}

function play(steps: readonly Step[]): void {
  const budget = budgetOf(64 * mebibyte);
  const playout = new Playout(budget);
  const model = new Model();
  let now = 1_000;
  const itemId = () => `item_${model.item}`;
  const tick = () => {
    for (const chunk of playout.due(now)) model.take(chunk, now);
    const lead = Math.max(0, model.playedUpTo - now);
    if (model.waiting.length > 0) {
      assert.ok(lead > leadMs.min - 1e-6, `lead ${lead} with audio waiting`);
      const dueMs = playout.nextDueMs ?? 0;
      assert.ok(dueMs > now && dueMs < now + leadMs.max);
    } else {
      assert.equal(playout.nextDueMs, null);
    }
    assert.ok(Math.abs(playout.leadMs(now) - lead) < 1e-6);
    assert.equal(playout.bufferedMs, (2 * model.waiting.length) / outputBytesPerMs);
    for (const [id, bytes] of [...model.sent].slice(-8)) {
      assert.equal(playout.heardMs(id), Math.floor(bytes / outputBytesPerMs));
    }
  };
  for (const each of steps) {
    if (each.do === 'push') {
      const pcm = counting(model.value, each.samples);
      // A part of a larger buffer, as decoders make them, or a buffer of its own.
      const given = each.views ? Buffer.concat([Buffer.alloc(6), pcm]).subarray(6) : pcm;
      assert.ok(playout.push(itemId(), given, now));
      for (let n = 0; n < each.samples; n++) {
        model.waiting.push({ itemId: itemId(), value: (model.value + n) % 65_536 });
      }
      model.value += each.samples;
      model.lastPushed = itemId();
      tick();
    } else if (each.do === 'wait') {
      now += each.ms;
      tick();
    } else if (each.do === 'end') {
      playout.endItem(itemId());
      model.item += 1;
    } else if (each.do === 'item') {
      model.item += 1;
    } else {
      const { droppedMs } = playout.clear();
      assert.equal(droppedMs, (2 * model.waiting.length) / outputBytesPerMs);
      // Late audio of what was interrupted is swallowed.
      if (model.lastPushed !== null) playout.push(model.lastPushed, counting(0, 10), now);
      model.waiting = [];
      model.playedUpTo = Number.NEGATIVE_INFINITY;
      model.item += 1;
    }
  }
  playout.close();
  assert.equal(budget.usedBytes, 0);
}

test('random pushes, waits, items and clears: exact, in order, within the lead', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => play(steps)),
    { numRuns: 150 },
  );
});

test('a burst of 60 s leaves at its pace, in even steps, and costs no copy', () => {
  const budget = budgetOf(64 * mebibyte);
  const playout = new Playout(budget);
  const delta = silence(100);
  for (let count = 0; count < 600; count++) assert.ok(playout.push('a', delta, 0));
  playout.endItem('a');
  assert.equal(playout.bufferedMs, 60_000);
  const first = playout.due(0);
  assert.equal(lengthMs(first), leadMs.max);
  // Ticks of 20 ms: a chunk of 80 ms every fourth.
  const sent: number[] = [];
  for (let now = 20; now <= 60_000; now += 20) sent.push(lengthMs(playout.due(now)));
  assert.equal(first.length + sent.filter((ms) => ms > 0).length, 60_000 / chunkMsMax);
  assert.equal(
    sent.findIndex((ms) => ms > 0),
    3,
  );
  assert.ok(sent.every((ms, tick) => ms === (tick % 4 === 3 && tick < 2_980 ? 80 : 0)));
  assert.equal(playout.heardMs('a'), 60_000);
  assert.equal(budget.usedBytes, 0);
});

test('after a late tick what was missed is sent, and no more than the lead', () => {
  const playout = new Playout(budgetOf(64 * mebibyte));
  assert.ok(playout.push('a', silence(20_000), 0));
  playout.due(0);
  assert.equal(lengthMs(playout.due(240)), 240);
  // The client runs dry at 640 ms; what nobody heard in between is not caught up by a burst.
  assert.equal(lengthMs(playout.due(2_640)), leadMs.max);
});

test('a slow upstream is passed on at once, also after a pause', () => {
  const playout = new Playout(budgetOf(64 * mebibyte));
  for (let now = 0; now < 1_000; now += 20) {
    assert.ok(playout.push('a', silence(20), now));
    assert.equal(lengthMs(playout.due(now)), 20);
  }
  assert.ok(playout.push('b', silence(20), 9_000));
  assert.deepEqual([playout.heardMs('a'), playout.heardMs('b')], [1_000, null]);
});

test('the rest of an item waits for more, until all of it came or the next one begins', () => {
  const begun = () => {
    const playout = new Playout(budgetOf(64 * mebibyte));
    assert.ok(playout.push('a', silence(leadMs.max + 30), 0));
    assert.equal(lengthMs(playout.due(0)), leadMs.max);
    assert.equal(playout.nextDueMs, leadMs.max - leadMs.min);
    return playout;
  };
  const ended = begun();
  ended.endItem('a');
  assert.equal(ended.nextDueMs, 30);
  const followed = begun();
  assert.ok(followed.push('b', silence(10), 0));
  assert.equal(followed.nextDueMs, 30);
});

test('the position of an item counts what was sent', () => {
  const playout = new Playout(budgetOf(64 * mebibyte));
  assert.equal(playout.heardMs('a'), null);
  assert.ok(playout.push('a', silence(200), 0));
  assert.ok(playout.push('b', silence(5_000), 0));
  assert.equal(playout.heardMs('a'), null);
  playout.due(0);
  assert.deepEqual([playout.heardMs('a'), playout.heardMs('b')], [200, 160]);
  assert.deepEqual([playout.isQuiet(359), playout.isQuiet(360)], [false, false]);
  playout.clear();
  assert.equal(playout.isQuiet(50), true);
  assert.deepEqual([playout.heardMs('a'), playout.heardMs('b')], [200, 160]);
});

test('30 s are guaranteed when the budget is spent, 240 s are the most', () => {
  const budget = budgetOf(4 * mebibyte);
  const playouts = Array.from({ length: 4 }, () => new Playout(budget));
  for (const playout of playouts) assert.ok(playout.push('a', silence(heldMs.guaranteed), 0));
  assert.ok(budget.usedBytes > budget.bytesMax);
  for (const playout of playouts) {
    assert.equal(playout.pressed, true);
    assert.equal(playout.push('a', silence(2_000), 0), false);
    assert.equal(playout.bufferedMs, heldMs.guaranteed);
  }
  for (const playout of playouts) playout.close();
  assert.equal(budget.usedBytes, 0);
  const alone = new Playout(budgetOf(64 * mebibyte));
  assert.ok(alone.push('a', silence(219_000), 0));
  assert.equal(alone.pressed, false);
  assert.ok(alone.push('a', silence(21_000), 0));
  assert.equal(alone.pressed, true);
  assert.equal(alone.push('a', silence(1), 0), false);
});

test('the budget is of the process; a shard that begins again begins at nothing', () => {
  const counters = createBudgetCounters(2);
  const first = openAudioBudget(counters, 0, 2 * blockBytes);
  const second = openAudioBudget(counters, 1, 2 * blockBytes);
  assert.ok(first.tryTake(1) && second.tryTake(1));
  assert.equal(first.tryTake(1), false);
  assert.equal(openAudioBudget(counters, 1, 2 * blockBytes).usedBytes, blockBytes);
  assert.equal(first.tryTake(1), true);
});
