// CPU and memory as read from /proc, against a process that is known to work or to sleep.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { cpuMicrosOf, descendantsOf, parseStat, rssBytesOf } from '../../bench/proc.ts';

test('a command with spaces and brackets does not shift the fields', () => {
  const fields = ['S', '42', ...Array.from({ length: 9 }, () => '0'), '150', '50', '7', '3', '20'];
  const stat = parseStat(`9 (a b) (c) ${fields.join(' ')}`);
  assert.deepEqual(stat, { parentPid: 42, cpuMicros: 2_000_000, reapedCpuMicros: 100_000 });
});

test('a working process costs what it worked, on its threads as well', async () => {
  const script = `
    const { Worker } = require('node:worker_threads');
    const spin = 'while (process.cpuUsage().user < 300_000);';
    new Worker(spin, { eval: true }).once('exit', () => {
      console.log('done');
      setTimeout(() => undefined, 5000);
    });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    await once(child.stdout, 'data');
    const pid = child.pid ?? 0;
    const micros = cpuMicrosOf([pid]);
    assert.ok(micros >= 100_000, `300 ms of work cost ${micros} µs`);
    assert.ok(rssBytesOf([pid]) > 10 * 2 ** 20);
    assert.ok(descendantsOf(process.pid).includes(pid));
  } finally {
    child.kill('SIGKILL');
  }
});

test('a process that is gone costs nothing and is no error', () => {
  assert.equal(cpuMicrosOf([2 ** 22 + 1]), 0);
  assert.equal(rssBytesOf([2 ** 22 + 1]), 0);
});
