// What a figure is multiplied with, from what the kernel counted over the interval.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertLinear,
  busyFactorBetween,
  busyFactorMax,
  cpuMsOf,
  type MachineReading,
  startStopwatch,
  stolenMsOf,
  waitedMsOf,
} from './stopwatch.ts';

const start: MachineReading = {
  atMs: 1_000,
  cores: 2,
  waitedMs: 500,
  stolenMs: 70,
  loadAverage: 0.1,
};

/** The factor of two seconds that end like this. */
function factorOf(end: Partial<MachineReading>, begin: Partial<MachineReading> = {}): number {
  return busyFactorBetween({ ...start, ...begin }, { ...start, atMs: 3_000, ...end });
}

test('a machine that nobody else used allows the figure and no more', () => {
  assert.equal(factorOf({}), 1);
  assert.equal(factorOf({ loadAverage: 50 }), 1, 'the past minute is not this interval');
});

test('tasks that waited for a core allow more, by their share of the interval', () => {
  assert.equal(factorOf({ waitedMs: 1_500 }), 2.5);
  assert.equal(factorOf({ waitedMs: 2_500 }), 4);
  assert.equal(factorOf({ waitedMs: 2_900 }), 4, 'readings are not of the same moment');
});

test('what the host stole allows more, up to the bound', () => {
  assert.equal(factorOf({ stolenMs: 2_070 }), 2);
  assert.equal(factorOf({ stolenMs: 70 + 4_000 }), busyFactorMax);
  assert.equal(factorOf({ stolenMs: 2_070, waitedMs: 2_500 }), busyFactorMax);
});

test('where the kernel does not count, the load average has to do', () => {
  const unknown = { waitedMs: null };
  assert.equal(factorOf({ ...unknown, loadAverage: 1 }, unknown), 1);
  assert.equal(factorOf({ ...unknown, loadAverage: 1 }, { ...unknown, loadAverage: 5 }), 2.5);
  assert.equal(factorOf({ ...unknown, loadAverage: 90 }, unknown), 4);
});

test('counters that stand still or an interval of nothing divide nothing by zero', () => {
  assert.equal(busyFactorBetween(start, start), 1);
  assert.equal(factorOf({ waitedMs: 0, stolenMs: 0 }), 1);
});

test('the files of the kernel are read', () => {
  const pressure =
    'some avg10=20.48 avg60=9.50 avg300=18.03 total=3881565813\nfull avg10=0.00 total=7';
  assert.equal(waitedMsOf(pressure), 3_881_565.813);
  assert.equal(waitedMsOf(''), null);
  const stat =
    'cpu  629636 300800 317294 950228 54707 0 39695 5446 0 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n';
  assert.equal(stolenMsOf(stat), 54_460);
  assert.equal(stolenMsOf(''), 0);
});

test('a figure that is missed by more than the machine explains fails', async () => {
  const watch = startStopwatch();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(watch.elapsedMs() >= 49);
  assert.ok(watch.assertWithin(60_000, 'sleep') >= 49);
  assert.throws(() => watch.assertWithin(1, 'sleep'), /^AssertionError.*sleep: \d+ ms, not 1 ms/);
});

test('work costs its processor time, waiting costs none', async () => {
  const waited = await cpuMsOf(() => new Promise((resolve) => setTimeout(resolve, 300)));
  const worked = await cpuMsOf(() => {
    const before = process.cpuUsage().user;
    while (process.cpuUsage().user - before < 300_000);
  });
  assert.ok(worked >= 300 && waited < 150, `${worked} ms of work, ${waited} ms of waiting`);
});

test('work by the square of its size is told from work by its size', async () => {
  const turns = (count: number) => () => {
    let sum = 0;
    for (let at = 0; at < count; at++) sum = (sum + Math.imul(at, sum + 7)) | 0;
    return sum;
  };
  await assertLinear(32_000_000, turns, 'a loop', 10);
  const square = (size: number) => turns(size * size);
  await assert.rejects(
    assertLinear(16_000, square, 'a square', 10),
    /^AssertionError.*a square: 8 times as much costs (\d\d+, ){2}\d\d+ times as much/,
  );
  await assertLinear(6_000, square, 'what is over at once', 60_000);
});
