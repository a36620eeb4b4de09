// The tally of paid and unpaid answers: exact over threads, forgotten after an hour, and of one
// name alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { AnswerTally, createAnswerBuffers } from '../../../runtime/limiter/answers.ts';

const epochMs = 1_800_000_000_000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const unpaidMax = 100;

function open(): AnswerTally {
  return new AnswerTally(createAnswerBuffers(epochMs), unpaidMax);
}

function count(tally: AnswerTally, kind: 'paid' | 'unpaid', times: number, atMs = epochMs): void {
  for (let each = 0; each < times; each += 1) tally.count('name', kind, atMs);
}

test('a hundred unpaid answers are none too many, and one more is', () => {
  const tally = open();
  count(tally, 'unpaid', 100);
  assert.equal(tally.retryAfterSeconds('name', epochMs), null);
  count(tally, 'unpaid', 1);
  assert.ok((tally.retryAfterSeconds('name', epochMs) ?? 0) > 0);
  assert.equal(tally.retryAfterSeconds('other', epochMs), null);
});

test('they may be many while they are no more than half', () => {
  const tally = open();
  count(tally, 'unpaid', 300);
  count(tally, 'paid', 299);
  assert.ok((tally.retryAfterSeconds('name', epochMs) ?? 0) > 0);
  count(tally, 'paid', 1);
  assert.equal(tally.retryAfterSeconds('name', epochMs), null);
});

test('an hour later they are forgotten, when it was told', () => {
  const tally = open();
  count(tally, 'unpaid', 60);
  count(tally, 'unpaid', 60, epochMs + 30 * minuteMs);
  const atMs = epochMs + 31 * minuteMs;
  const seconds = tally.retryAfterSeconds('name', atMs) ?? 0;
  assert.ok(seconds > 29 * 60 && seconds <= 35 * 60, `${seconds}`);
  assert.notEqual(tally.retryAfterSeconds('name', atMs + (seconds - 1) * 1_000), null);
  assert.equal(tally.retryAfterSeconds('name', atMs + seconds * 1_000), null);
  count(tally, 'unpaid', 101, epochMs + 5 * hourMs);
  assert.notEqual(tally.retryAfterSeconds('name', epochMs + 5 * hourMs), null);
  assert.equal(tally.retryAfterSeconds('name', epochMs + 7 * hourMs), null);
});

test('more names than there are places count for nobody else', () => {
  const tally = open();
  count(tally, 'unpaid', 101);
  for (let each = 0; each < 40_000; each += 1) tally.count(`n${each}`, 'unpaid', epochMs);
  for (let each = 0; each < 40_000; each += 1) {
    assert.equal(tally.retryAfterSeconds(`n${each}`, epochMs), null);
  }
  assert.notEqual(tally.retryAfterSeconds('name', epochMs), null);
});

test('threads that count at once lose none, and add none', async () => {
  const buffers = createAnswerBuffers(epochMs);
  const module = new URL('../../../runtime/limiter/answers.js', import.meta.url).href;
  const code = `
    const { workerData } = require('node:worker_threads');
    import('${module}').then(({ AnswerTally }) => {
      const tally = new AnswerTally(workerData, 0);
      for (let each = 0; each < 5_000; each += 1) {
        tally.count('name', each % 2 === 0 ? 'paid' : 'unpaid', ${epochMs});
      }
    });`;
  const ended = Array.from({ length: 3 }, () => {
    const worker = new Worker(code, { eval: true, workerData: buffers });
    return new Promise((resolve) => worker.on('exit', resolve));
  });
  await Promise.all(ended);
  const tally = new AnswerTally(buffers, 0);
  assert.equal(tally.retryAfterSeconds('name', epochMs), null, 'as many are paid as are not');
  tally.count('name', 'unpaid', epochMs);
  assert.notEqual(tally.retryAfterSeconds('name', epochMs), null);
  const exact = new AnswerTally(buffers, 7_500);
  tally.count('name', 'paid', epochMs);
  tally.count('name', 'unpaid', epochMs);
  assert.notEqual(exact.retryAfterSeconds('name', epochMs), null);
  assert.equal(new AnswerTally(buffers, 7_502).retryAfterSeconds('name', epochMs), null);
});
