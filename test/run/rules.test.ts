// What a run fails for besides its tests, and what a slow machine excuses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { budgets } from './budgets.ts';
import { rowOf } from './cpu.ts';
import { writtenDurations } from './durations.ts';
import { type Sample, slownessOf } from './machine.ts';
import {
  atLeast,
  domainOf,
  domainTimes,
  overBudgets,
  runSlowness,
  slowFiles,
  slowReasonOf,
} from './rules.ts';

const file = (path: string, ms: number, slowness = 1) => ({ path, ms, slowness });

test('a file over 20 seconds fails the run unless it says why', () => {
  const files = [file('test/db/a.test.ts', 19_900), file('test/db/b.test.ts', 20_100)];
  const [broken, ...others] = slowFiles(files, () => null);
  assert.match(broken ?? '', /^test\/db\/b\.test\.ts took 20\.1 s/);
  assert.deepEqual(others, []);
  assert.deepEqual(
    slowFiles(files, () => 'It waits for real deadlines.'),
    [],
  );
});

test('a machine that was slow meanwhile excuses a file', () => {
  assert.deepEqual(
    slowFiles([file('test/db/a.test.ts', 39_000, 2)], () => null),
    [],
  );
  assert.equal(slowFiles([file('test/db/a.test.ts', 41_000, 2)], () => null).length, 1);
});

test('a run whose files all took longer excuses each by their middle, and no slower one', () => {
  const paths = Array.from({ length: 25 }, (_, index) => `test/db/${index}.test.ts`);
  const measured = Object.fromEntries(paths.map((path) => [path, { ms: 12_000, cpuMs: 0 }]));
  const took = (factor: number) => paths.map((path) => file(path, 12_000 * factor));
  assert.equal(runSlowness(took(1.75), measured), 1.75);
  assert.equal(runSlowness(took(0.5), measured), 1, 'a faster run makes no bound narrower');
  assert.equal(runSlowness(took(9), measured), 4, 'bounded');
  assert.equal(runSlowness(took(1.75).slice(6), measured), 1, 'too few say nothing');
  assert.equal(runSlowness([...took(1), file('test/db/new.test.ts', 90_000)], measured), 1);
  const files = atLeast([...took(1.75).slice(1), file(paths[0] ?? '', 36_000)], 1.75);
  const [broken, ...others] = slowFiles(files, () => null);
  assert.match(broken ?? '', /^test\/db\/0\.test\.ts took 36\.0 s .* 1\.8 times as slow/);
  assert.deepEqual(others, []);
});

test('the reason stands on a line of the file, and is not empty', () => {
  assert.equal(slowReasonOf("import 'x';\n\n// slow: It waits.\nlet a;\n"), 'It waits.');
  assert.equal(slowReasonOf('// slow: \n'), null);
  assert.equal(slowReasonOf("const text = '// slow: no comment';\n"), null);
});

test('a domain is two folders at most', () => {
  assert.equal(domainOf('test/actors/voice/ends.test.ts'), 'actors/voice');
  assert.equal(domainOf('test/media/model/choose/news.test.ts'), 'media/model');
  assert.equal(domainOf('test/routes/keys.test.ts'), 'routes');
  assert.equal(domainOf('test/tidy.test.ts'), 'test');
});

test('a domain over its budget fails the run, also one without a budget', () => {
  const files = [
    file('test/db/a.test.ts', 6_000),
    file('test/db/b.test.ts', 5_000),
    file('test/chaos/c.test.ts', 22_000, 2),
    file('test/new/d.test.ts', 21_000),
  ];
  const domains = domainTimes(files, { db: 10, chaos: 11 });
  const broken = overBudgets(domains);
  assert.equal(broken.length, 2);
  assert.match(broken[0] ?? '', /^db took 11\.0 s .* is 10\.0 s$/);
  assert.match(broken[1] ?? '', /^new took 21\.0 s .* is 20\.0 s$/);
});

test('every budget is a number of seconds that a run can exceed', () => {
  for (const [domain, seconds] of Object.entries(budgets)) {
    assert.ok(seconds > 0 && seconds < 600, `${domain}: ${seconds}`);
  }
});

test('the machine is as slow as its work and its crowd say, never faster than measured', () => {
  const measured = { workMs: 2, tasks: 4 };
  const samples = (workMs: number, tasks: number): Sample[] => [{ atMs: 0, workMs, tasks }];
  assert.equal(slownessOf(samples(2, 4), measured), 1);
  assert.equal(slownessOf(samples(1, 1), measured), 1);
  assert.equal(slownessOf(samples(3, 4), measured), 1.5);
  assert.equal(slownessOf(samples(3, 8), measured), 2);
  assert.equal(slownessOf(samples(100, 400), measured), 4, 'bounded');
  assert.equal(slownessOf([], measured), 1);
  assert.equal(slownessOf(samples(3, 8), null), 1);
});

test('durations are written one line a file, and are read again', () => {
  const files = { 'test/b.test.ts': { ms: 2.4, cpuMs: 1 }, 'test/a.test.ts': { ms: 1, cpuMs: 0 } };
  const text = writtenDurations({ pace: { workMs: 1.5, tasks: 3 }, files });
  const rounded = { 'test/a.test.ts': { ms: 1, cpuMs: 0 }, 'test/b.test.ts': { ms: 2, cpuMs: 1 } };
  assert.deepEqual(JSON.parse(text), { pace: { workMs: 1.5, tasks: 3 }, files: rounded });
  assert.equal(text.split('\n').filter((line) => line.includes('.test.ts')).length, 2);
});

test('the time of a process is read from its line, whatever its name', () => {
  const rest = 'S 7 12 12 0 -1 4194560 1 0 0 0 150 50 9 9 20 0 1 0 1 1 1';
  assert.deepEqual(rowOf(`12 (a) b) ${rest}\n`), { pid: 12, parent: 7, ms: 2_000 });
  assert.equal(rowOf(''), null);
});
