// Files that fail, crash, hang or run nothing, in a process with others: each is told by its name,
// and none hides what the others did.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Outcome, ProcessRecord, runProcess } from './process.ts';
import type { Told } from './reporter-task.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-run-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const GOOD = `
  import { after, before, test } from 'node:test';
  let ready = false;
  before(() => { ready = true; });
  after(() => { ready = false; });
  test('first', async (t) => {
    if (!ready) throw new Error('its hook did not run');
    await t.test('part', () => {});
  });
  test('second', { skip: 'not here' }, () => {});`;

const SOURCES: Record<string, string> = {
  good: GOOD,
  other: GOOD,
  bad: `
    import { test } from 'node:test';
    test('throws', () => { throw new Error('as it must'); });
    test('holds', () => {});`,
  hook: `
    import { before, test } from 'node:test';
    before(() => { throw new Error('no server'); });
    test('needs it', () => {});`,
  crash: `
    import { test } from 'node:test';
    test('before it', () => {});
    test('leaves', async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      process.exit(3);
    });`,
  empty: 'export {};',
  broken: `throw new Error('cannot be loaded');`,
  endless: `
    import { test } from 'node:test';
    test('never ends', () => new Promise(() => setInterval(() => {}, 1_000)));`,
  forgotten: `
    import { test } from 'node:test';
    test('waits for nothing', () => new Promise(() => {}));`,
  late: `
    import { test } from 'node:test';
    test('leaves something behind', () => {
      setTimeout(() => { throw new Error('too late'); }, 30);
    });
    test('is there meanwhile', () => new Promise((resolve) => setTimeout(resolve, 100)));`,
};

/** `result name: reason` of all that was told, by file, over as many processes as it takes. */
async function run(names: string[], isBatch = true, fileTimeoutMs = 20_000) {
  let left: string[] = [];
  for (const name of names) {
    const path = join(folder, `${name}.mjs`);
    await writeFile(path, SOURCES[name] ?? '');
    left.push(path);
  }
  const told: Record<string, string[]> = {};
  const ended: string[] = [];
  let processes = 0;
  const onOutcome = ({ file, name, result, reason }: Outcome) => {
    const of = basename(file, '.mjs');
    told[of] ??= [];
    told[of].push(`${result} ${name}${reason === '' ? '' : `: ${reason.split('\n')[0]}`}`);
  };
  const onFileEnd = ({ file }: { file: string }) => ended.push(basename(file, '.mjs'));
  while (left.length > 0) {
    const plan = { files: left, isBatch, isShared: false, fileTimeoutMs };
    processes += 1;
    left = await runProcess(plan, { onOutcome, onFileEnd, onOutput: () => {} });
  }
  assert.deepEqual(ended, names, 'every file has an end');
  return { told, processes };
}

const good = ['pass part', 'pass first', 'skip second: not here'];

test('files of a batch run one after the other, with hooks of their own', async () => {
  const { told, processes } = await run(['good', 'forgotten', 'other']);
  assert.deepEqual(told.good, good);
  assert.deepEqual(told.other, good);
  assert.equal(processes, 2, 'after a failure the others get a process that is clean');
  assert.match(told.forgotten?.[0] ?? '', /^fail waits for nothing: .*still pending/);
});

test('what fails in a batch is told by file and test, and the others run', async () => {
  const { told } = await run(['bad', 'hook', 'empty', 'broken', 'good']);
  assert.deepEqual(told.bad, ['fail throws: Error: as it must', 'pass holds']);
  assert.match(told.hook?.at(-1) ?? '', /^fail the file itself: Error: no server/);
  assert.deepEqual(told.empty, ['fail the file itself: the file ran no test']);
  assert.deepEqual(told.broken, ['fail the file itself: Error: cannot be loaded']);
  assert.deepEqual(told.good, good);
});

test('a crash names the file and what ran in it, and the others run', async () => {
  const { told } = await run(['good', 'crash', 'other']);
  const [before, end, ...others] = told.crash ?? [];
  assert.equal(before, 'pass before it');
  assert.match(end ?? '', /^fail the file itself: the process ended with 3, in: leaves$/);
  assert.deepEqual(others, []);
  assert.deepEqual(told.other, good);
});

test('a file that hangs is ended in its time, and the others run', async () => {
  const { told } = await run(['endless', 'good'], true, 1_500);
  assert.match(told.endless?.[0] ?? '', /no end after 2 s, in: never ends$/);
  assert.deepEqual(told.good, good);
});

test('what a test leaves behind fails the file', async () => {
  const { told } = await run(['late']);
  assert.match(told.late?.join('\n') ?? '', /^fail .*too late/m);
});

test('alone, a file is told in the same words', async () => {
  for (const name of ['good', 'bad', 'hook', 'empty', 'broken', 'crash']) {
    const [alone, together] = [await run([name], false), await run([name])];
    const failed = (list: string[] = []) => list.filter((line) => line.startsWith('fail')).length;
    assert.equal(failed(alone.told[name]) > 0, failed(together.told[name]) > 0, name);
  }
  assert.deepEqual((await run(['good'], false)).told.good, good);
});

const told = (members: Partial<Told>): Told => ({
  type: 'pass',
  name: '',
  nesting: 1,
  ms: 1,
  isSuite: false,
  skipped: null,
  error: '',
  failureType: '',
  ...members,
});

/** A record of two files in one process, and what it says. */
function record() {
  const said: string[] = [];
  const plan = { files: ['a', 'b'], isBatch: true, isShared: false, fileTimeoutMs: 1_000 };
  const state = { nowMs: 0 };
  const watcher = {
    onOutcome: ({ file, name, result }: Outcome) => said.push(`${file} ${result} ${name}`),
    onFileEnd: ({ file, ms }: { file: string; ms: number }) => said.push(`${file} ${ms} ms`),
    onOutput: () => {},
  };
  return { said, state, kept: new ProcessRecord(plan, watcher, () => state.nowMs) };
}

test('a file takes from its beginning to its end, and the next one has its own time', () => {
  const { said, state, kept } = record();
  kept.take(told({ type: 'file', name: 'a' }));
  kept.take(told({ name: 'x' }));
  state.nowMs = 900;
  assert.equal(kept.msLeft(), 100);
  kept.take(told({ name: 'a', nesting: 0, isSuite: true }));
  kept.take(told({ type: 'file', name: 'b' }));
  assert.equal(kept.msLeft(), 1_000);
  assert.deepEqual(kept.left, ['b']);
  assert.deepEqual(said, ['a pass x', 'a 900 ms']);
});

test('a process that dies before its first file takes that one with it', () => {
  const { said, kept } = record();
  kept.exit(1, null);
  assert.deepEqual(said, ['a fail the file itself', 'a 0 ms']);
  assert.deepEqual(kept.left, ['b']);
});

test('a bad end after the last file is a failure of its own', () => {
  const { said, kept } = record();
  for (const name of ['a', 'b']) {
    kept.take(told({ type: 'file', name }));
    kept.take(told({ name: 'x' }));
    kept.take(told({ name, nesting: 0, isSuite: true }));
  }
  kept.exit(null, 'SIGSEGV');
  assert.equal(said.at(-1), 'b fail the end of a process');
  assert.deepEqual(kept.left, []);
});
