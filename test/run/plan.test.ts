// The order of test files: the longest first, neighbours in one process, chaos and waiting apart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Kind } from './kinds.ts';
import { type Lane, lanesOf, measuredOf, type TestFile, unitsOf } from './plan.ts';

function file(path: string, ms: number, kind: Kind = 'own', cpuMs = ms): TestFile {
  return { path, kind, ms, cpuMs };
}

const pathsOf = (files: TestFile[]) => files.map(({ path }) => path);

/** What a lane runs when it alone goes on. */
function drain(lane: Lane | undefined): string[] {
  const taken: string[] = [];
  for (let unit = lane?.(); unit !== undefined; unit = lane?.()) taken.push(...pathsOf(unit.files));
  return taken;
}

test('a file that was never measured counts as the average', () => {
  const durations = { a: { ms: 1_000, cpuMs: 100 }, b: { ms: 3_000, cpuMs: 300 } };
  assert.deepEqual(measuredOf('b', durations), { ms: 3_000, cpuMs: 300 });
  assert.deepEqual(measuredOf('new', durations), { ms: 2_000, cpuMs: 200 });
  assert.ok(measuredOf('new', {}).ms > 0);
});

test('units come longest first, each file once', () => {
  const files = [file('a', 10), file('b', 30), file('c', 20), file('d', 5, 'batch')];
  const units = unitsOf(files, false);
  assert.deepEqual(
    units.map(({ files: [first] }) => first?.path),
    ['b', 'c', 'a', 'd'],
  );
});

test('files of a batch go into as many processes as their time asks for', () => {
  const files = Array.from({ length: 60 }, (_, at) => file(`f${100 + at}`, 1_000, 'batch'));
  const units = unitsOf(files, false);
  assert.equal(units.length, 4);
  assert.deepEqual(units.flatMap((unit) => pathsOf(unit.files)).sort(), pathsOf(files));
  for (const { ms } of units) assert.ok(ms >= 14_000 && ms <= 16_000, `${ms}`);
  assert.equal(unitsOf([file('small', 1, 'batch')], false).length, 1);
});

test('those of one gateway are never in a process with others', () => {
  const files = [file('a', 5, 'shared'), file('b', 5, 'batch'), file('c', 5, 'shared')];
  const kinds = unitsOf(files, false).map((unit) => new Set(unit.files.map(({ kind }) => kind)));
  assert.ok(kinds.every(({ size }) => size === 1));
});

test('isolated, every file is alone', () => {
  const files = [file('a', 5, 'shared'), file('b', 5, 'batch'), file('c', 5)];
  const units = unitsOf(files, true);
  assert.deepEqual(
    units.map(({ kind, files: own }) => [kind, own.length]),
    [
      ['own', 1],
      ['own', 1],
      ['own', 1],
    ],
  );
});

test('the first lane takes chaos first, and no other lane takes any', () => {
  const files = [
    file('test/chaos/kill.test.ts', 10),
    file('test/db/long.test.ts', 90),
    file('test/chaos/stop.test.ts', 20),
  ];
  const [first, , third] = lanesOf(unitsOf(files, false), 2);
  assert.equal(first?.()?.files[0]?.path, 'test/chaos/stop.test.ts');
  assert.deepEqual(drain(third), ['test/db/long.test.ts']);
  assert.deepEqual(drain(first), ['test/chaos/kill.test.ts']);
});

test('what waits has a lane of its own, and is helped at the end', () => {
  const files = [
    file('waits', 50_000, 'own', 1_000),
    file('waits-less', 40_000, 'own', 1_000),
    file('works', 10_000),
  ];
  const units = unitsOf(files, false);
  assert.deepEqual(drain(lanesOf(units, 2)[1]), ['waits', 'waits-less']);
  assert.deepEqual(drain(lanesOf(units, 2)[2]), ['works', 'waits', 'waits-less']);
});

test('all lanes together run every file once', () => {
  const files = Array.from({ length: 40 }, (_, at) => {
    const folder = at % 7 === 0 ? 'chaos' : 'db';
    const cpuMs = at % 5 === 0 ? 10 : 5_000;
    return file(`test/${folder}/${at}.test.ts`, 5_000 + at, at % 3 === 0 ? 'batch' : 'own', cpuMs);
  });
  const lanes = lanesOf(unitsOf(files, false), 3);
  assert.equal(lanes.length, 4);
  assert.deepEqual(lanes.flatMap(drain).sort(), pathsOf(files).sort());
});
