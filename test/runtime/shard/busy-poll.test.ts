// When a thread stays awake for the next message, and that it stops when none comes: the loop is
// the test's own, one microsecond a turn.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { BusyPoll } from '../../../runtime/shard/busy-poll.ts';

let nowMs: number;
let spins: number;
let waiting: (() => void) | null;
let poll: BusyPoll;
beforeEach(() => {
  [nowMs, spins, waiting] = [0, 0, null];
  poll = new BusyPoll({
    nowMs: () => nowMs,
    nextTurn: (call) => {
      waiting = call;
    },
  });
});

/** Lets the loop turn for this long; counts the turns in which it would not have slept. */
function turnFor(ms: number): number {
  const untilMs = nowMs + ms;
  const before = spins;
  while (nowMs < untilMs) {
    const call = waiting;
    nowMs += 0.001;
    if (call === null) continue;
    waiting = null;
    spins += 1;
    call();
  }
  return spins - before;
}

test('a conversation keeps its thread awake until it pauses, and a little longer', () => {
  poll.heard();
  assert.equal(turnFor(0.1), 0, 'one message is no conversation');
  for (let message = 0; message < 50; message += 1) {
    poll.heard();
    assert.ok(turnFor(0.01) >= 9, `awake after message ${message}`);
  }
  assert.ok(turnFor(10) <= 51, 'fifty microseconds after the last one it sleeps');
  assert.equal(waiting, null);
});

test('messages far apart never keep it awake', () => {
  for (let message = 0; message < 1_000; message += 1) {
    poll.heard();
    turnFor(0.2);
  }
  assert.equal(spins, 0);
});

test('waiting in vain is given up: attempts become rare, and a success makes them common', () => {
  for (let message = 0; message < 10_000; message += 1) {
    poll.heard();
    turnFor(0.1);
  }
  const share = spins / (10_000 * 100);
  assert.ok(share > 0 && share < 0.02, `awake ${share} of the time`);
  // The next attempt comes by itself, and finds that the conversation has become dense.
  for (let message = 0; message < 200; message += 1) {
    poll.heard();
    turnFor(0.02);
  }
  poll.heard();
  assert.ok(turnFor(0.02) >= 19);
});
