// Which moments are looked at, and how they are reached. Properties hold for any video.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type FramesPlan,
  type KeyFrame,
  momentsOf,
  planOf,
  ticksPerSecond,
} from '../../../media/video/sampling.ts';
import { fc } from '../../harness/properties.ts';

const hd = { pixels: 1_280 * 720, framesPerSecond: 25, dearness: 1 };
const whole = (endSeconds: number) => ({ startSeconds: 0, endSeconds });

function keysEach(seconds: number, until: number): KeyFrame[] {
  return Array.from({ length: Math.ceil(until / seconds) }, (_, index) => ({
    seconds: index * seconds,
    difference: 0.1,
  }));
}

function secondsOf({ groups }: FramesPlan): number[] {
  return groups.flatMap(({ seekSeconds, ticks }) =>
    ticks.map((tick) => Math.round((seekSeconds + tick / ticksPerSecond) * 1e3) / 1e3),
  );
}

test('moments are even over the part', () => {
  assert.deepEqual(momentsOf(whole(10), 4, []), [1.25, 3.75, 6.25, 8.75]);
  assert.deepEqual(momentsOf({ startSeconds: 30, endSeconds: 40 }, 1, []), [35]);
});

test('up to half of them are moved to the hardest cuts', () => {
  const cut = (seconds: number, difference: number) => ({ seconds, difference });
  const keys = [cut(0, 0), cut(1, 0.5), cut(2, 0.29), cut(4, 0.9), cut(4.5, 0.8), cut(8, 0.6)];
  // 4.5 lies in the same share as 4, which differs more; 1 is the least of the other three.
  assert.deepEqual(momentsOf(whole(10), 4, keys), [1.25, 4.2, 6.25, 8.2]);
  assert.deepEqual(momentsOf(whole(10), 1, keys), [5], 'half of one is none');
  const outside = momentsOf({ startSeconds: 5, endSeconds: 7.9 }, 2, keys);
  assert.deepEqual(
    outside.map((each) => Math.round(each * 1_000)),
    [5_725, 7_175],
  );
});

test('moments stay inside and in order, whatever the cuts are', () => {
  const cuts = fc.array(
    fc.record({
      seconds: fc.double({ min: 0, max: 700, noNaN: true }),
      difference: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  );
  const part = fc.tuple(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 1, max: 300 }));
  fc.assert(
    fc.property(part, fc.integer({ min: 1, max: 25 }), cuts, ([start, length], count, keys) => {
      const span = { startSeconds: start, endSeconds: start + length };
      const moments = momentsOf(span, count, keys);
      assert.equal(moments.length, count);
      for (const [index, moment] of moments.entries()) {
        assert.ok(moment >= start && moment < start + length);
        assert.ok(index === 0 || moment > (moments[index - 1] ?? 0));
      }
      const even = momentsOf(span, count, []);
      const moved = moments.filter((moment, index) => moment !== even[index]).length;
      assert.ok(moved <= count / 2);
      const ordered = keys.toSorted((one, other) => one.seconds - other.seconds);
      const plan = planOf(span, moments, ordered, hd);
      for (const seconds of secondsOf(plan)) {
        assert.ok(Math.abs(seconds * ticksPerSecond - Math.round(seconds * ticksPerSecond)) < 1e-6);
        assert.ok(seconds >= start - 1 / ticksPerSecond && seconds < start + length + 0.05);
      }
    }),
  );
});

test('moments behind one key frame are decoded in one go', () => {
  const plan = planOf(whole(60), momentsOf(whole(60), 4, []), keysEach(20, 60), hd);
  assert.equal(plan.isOfKeys, false);
  const [first, second, third] = plan.groups;
  assert.deepEqual(secondsOf(plan), [7.48, 22.48, 37.48, 52.48]);
  assert.equal(plan.groups.length, 3);
  assert.ok(first !== undefined && first.seekSeconds > 0.13 && first.seekSeconds < 0.2);
  assert.ok(second !== undefined && second.seekSeconds > 20.13 && second.ticks.length === 2);
  assert.ok(third !== undefined && third.ticks.length === 1);
});

test('what lies close together is not opened again', () => {
  const moments = [1, 2.9, 3.1, 9];
  const plan = planOf(whole(10), moments, keysEach(3, 10), hd);
  assert.deepEqual(
    plan.groups.map(({ ticks }) => ticks.length),
    [3, 1],
  );
});

test('large pictures have fewer decoders at once', () => {
  const moments = momentsOf(whole(60), 30, []);
  const keys = keysEach(2, 60);
  const slow = { ...hd, framesPerSecond: 1 };
  const groupsOf = (pixels: number) => planOf(whole(60), moments, keys, { ...slow, pixels }).groups;
  assert.equal(groupsOf(640 * 360).length, 30);
  assert.equal(groupsOf(3_840 * 2_160).length, 2);
  const [group] = planOf(whole(60), moments, keys, { ...slow, pixels: 4_096 ** 2 / 2 }).groups;
  assert.ok(group !== undefined && group.ticks.length >= 15);
});

test('a video that is too dear to decode is seen by its key frames', () => {
  const part = { startSeconds: 1, endSeconds: 600 };
  const moments = momentsOf(part, 64, []);
  const dear = { ...hd, pixels: 1_920 * 1_080, framesPerSecond: 60 };
  const plan = planOf(part, moments, keysEach(9, 600), dear);
  assert.equal(plan.isOfKeys, true);
  assert.equal(plan.groups.length, 1);
  for (const seconds of secondsOf(plan)) {
    const behindKey = seconds % 9;
    assert.ok(seconds >= 1 && behindKey < 1.01 / ticksPerSecond, `${seconds}`);
  }
  assert.ok(secondsOf(plan).length >= 60);
  assert.equal(planOf(part, moments, keysEach(100, 600), dear).isOfKeys, false, 'too few of them');
  assert.equal(planOf(part, moments, keysEach(9, 600), { ...hd, dearness: 0.1 }).isOfKeys, false);
});

test('without any key frame each moment is sought by itself', () => {
  const plan = planOf(whole(10), [1, 5, 9], [], hd);
  assert.deepEqual(plan.groups, [
    { seekSeconds: 1, ticks: [0] },
    { seekSeconds: 5, ticks: [0] },
    { seekSeconds: 9, ticks: [0] },
  ]);
});
