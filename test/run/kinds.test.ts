// Which test files share a process: decided from what they say and reach, not from a list.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindOf } from './kinds.ts';
import { parseModule, type ReadModule, reachOf } from './reach.ts';

/** Sources that exist for a test only. */
function reader(texts: Record<string, string>): ReadModule {
  return (path) => (texts[path] === undefined ? null : parseModule(path, texts[path]));
}

function kind(text: string, others: Record<string, string> = {}): string {
  const path = 'test/some/file.test.ts';
  return kindOf(reachOf(path, reader({ [path]: text, ...others }))).kind;
}

test('imports are followed as far as they go, once each', () => {
  const reached = reachOf(
    'test/a.test.ts',
    reader({
      'test/a.test.ts': "import { b } from '../runtime/b.ts';\nimport './c.ts';",
      'test/c.ts': "export const c = await import('../runtime/b.ts');",
      'runtime/b.ts': "import fs from 'node:fs';\nimport '../test/a.test.ts';",
    }),
  );
  const paths = reached.map(({ path }) => path);
  assert.deepEqual(paths, ['test/a.test.ts', 'runtime/b.ts', 'test/c.ts']);
});

test('what only a comment names is not imported', () => {
  const { specifiers } = parseModule('a.ts', "// from './b.ts'\n/* from './c.ts' */\n");
  assert.deepEqual(specifiers, []);
});

test('a file without database and product shares a process', () => {
  assert.equal(kind("import { test } from 'node:test';"), 'batch');
  const text = "import '../harness/seed.ts';";
  assert.equal(kind(text, { 'test/harness/seed.ts': 'process.env.SEED === "x";' }), 'batch');
});

test('a file that changes or measures its whole process has one of its own', () => {
  for (const text of [
    "process.on('exit', end);",
    "process.env.NAME = 'x';",
    "process.env[name] ??= 'x';",
    'delete process.env.NAME;',
    'const { rss } = process.memoryUsage();',
    'monitorEventLoopDelay();',
    'globalThis.fetch = own;',
    "import { Worker } from 'node:worker_threads';",
    "import { spawn } from 'node:child_process';",
  ]) {
    assert.equal(kind(text), 'own', text);
    const helper = { 'test/some/helper.ts': text };
    assert.equal(kind("import './helper.ts';", helper), 'own', `a helper: ${text}`);
  }
});

test('a file with a database shares a process, unless it starts the server of it', () => {
  const others = {
    'test/harness/database.ts': "import '../../runtime/embedded/database.ts';",
    'runtime/embedded/database.ts': "import { spawn } from 'node:child_process';",
  };
  assert.equal(kind("import '../harness/database.ts';", others), 'batch');
  const starts = "import '../harness/database.ts';\nimport '../../runtime/embedded/database.ts';";
  assert.equal(kind(starts, others), 'own');
});

test('a file with a gateway has a process of its own', () => {
  const others = { 'test/harness/gateway.ts': '' };
  assert.equal(kind("import '../harness/gateway.ts';", others), 'own');
  const product = { 'runtime/launch.ts': "import { spawn } from 'node:child_process';" };
  assert.equal(kind("import '../../runtime/launch.ts';", product), 'own');
});

test('a file that asks for the default product shares it, unless it says why not', () => {
  const others = {
    'test/harness/testbed.ts': "import './gateway.ts';\nexport function openTestbed() {}",
    'test/harness/gateway.ts': "import { spawn } from 'node:child_process';",
  };
  const opened = (call: string) => kind(`import '../harness/testbed.ts';\n${call}`, others);
  assert.equal(opened('bed = await openTestbed();'), 'shared');
  assert.equal(opened("bed = await openTestbed({ own: 'it kills it' });"), 'own');
  assert.equal(opened('bed = await openTestbed({ shards: 1 });'), 'own');
  assert.equal(opened('await openTestbed(); await openTestbed({ env });'), 'own');
  assert.equal(opened("await openTestbed(); process.on('exit', end);"), 'own');
});
