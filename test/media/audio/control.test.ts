// How a batch is handed over in shared memory, both sides on one thread: what is left undone is
// done first, nobody answers beyond his term, and who is asked for nothing leaves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlBytes, openControl, serve } from '../../../media/audio/lanes/control.ts';

function pair() {
  const memory = new SharedArrayBuffer(controlBytes);
  const computed: number[] = [];
  return {
    control: openControl(memory, 0),
    computed,
    serve(term: number, whileComputing?: () => void) {
      serve(memory, 0, { term, idleMs: 1 }, (jobs) => {
        if (whileComputing === undefined) computed.push(jobs);
        else whileComputing();
      });
    },
  };
}

test('a batch that was left is computed once by whoever begins, and wakes who asked', async () => {
  const { control, computed, serve } = pair();
  const answer = control.ask(7);
  assert.equal(control.isAnswered, false);
  serve(control.beginTerm());
  await answer;
  assert.equal(control.isAnswered, true);
  serve(control.beginTerm());
  assert.deepEqual(computed, [7]);
  for (const jobs of [0, 9]) {
    void control.ask(jobs);
    serve(control.beginTerm());
  }
  assert.deepEqual(computed, [7, 0, 9]);
});

test('a thread whose term is over computes nothing, and answers nothing', async () => {
  const { control, computed, serve } = pair();
  const first = control.beginTerm();
  const answer = control.ask(3);
  // Dismissed while it computes: the next one has the batch.
  serve(first, () => control.dismiss());
  assert.equal(control.isAnswered, false);
  serve(first);
  assert.deepEqual(computed, []);
  serve(control.beginTerm());
  await answer;
  assert.deepEqual(computed, [3]);
});

test('a batch that is given up is left alone', async () => {
  const { control, computed, serve } = pair();
  const answer = control.ask(3);
  control.giveUp();
  await answer;
  serve(control.beginTerm());
  assert.deepEqual(computed, []);
});
