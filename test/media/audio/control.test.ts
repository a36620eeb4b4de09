// How a batch is handed over in shared memory: first both sides on one thread, then every order of
// their steps, then two real threads, which have a deadline and are ended with their test.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { controlBytes, openControl, serve, word } from '../../../media/audio/lanes/control.ts';
import { openWords, type Words } from '../../../media/audio/lanes/words.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import type { Served } from './control-thread.ts';
import { tryAllOrders } from './interleavings.ts';

/** Ends a thread in place of a wait: on one thread nobody would end that. */
const idle = new Error('idle');

function pair(first = 0) {
  const words = openWords(new SharedArrayBuffer(controlBytes), 0, controlBytes);
  for (const index of Object.values(word)) words.store(index, first);
  const computed: number[] = [];
  return {
    control: openControl(words),
    computed,
    serve(term: number, whileComputing?: () => void) {
      const wait = () => {
        throw idle;
      };
      const compute = (jobs: number) => {
        if (whileComputing === undefined) computed.push(jobs);
        else whileComputing();
      };
      try {
        serve({ ...words, wait }, { term, termMs: Number.POSITIVE_INFINITY }, compute);
      } catch (error) {
        if (error !== idle) throw error;
      }
    },
  };
}

/**
 * A wait that nobody ends fails by name: there is no other timeout in these tests, and nothing else
 * that would keep the process, as what waits for a notification does not.
 */
async function inTime(work: (stage: (name: string) => void) => Promise<void>): Promise<void> {
  let stage = '';
  const ending = new AbortController();
  const late = sleep(30_000, undefined, { signal: ending.signal }).then(() =>
    assert.fail(`nothing came after ${stage}`),
  );
  try {
    const remember = (name: string) => {
      stage = name;
    };
    await Promise.race([work(remember), late]);
  } finally {
    ending.abort();
    await late.catch(() => {});
  }
}

test('a batch that was left is computed once by whoever begins, and wakes who asked', async () => {
  // Numbers wrap around after 49 days of a batch each 2 ms.
  for (const first of [0, -1, 2 ** 31 - 2]) {
    const { control, computed, serve } = pair(first);
    control.ask(7);
    assert.equal(control.isAnswered, false);
    const change = control.change();
    assert.ok(change !== null);
    serve(control.beginTerm());
    await inTime(async () => void (await change));
    assert.equal(control.isAnswered, true);
    assert.equal(control.change(), null);
    serve(control.beginTerm());
    assert.deepEqual(computed, [7]);
    for (const jobs of [0, 9]) {
      control.ask(jobs);
      serve(control.beginTerm());
    }
    assert.deepEqual(computed, [7, 0, 9]);
  }
});

test('a thread whose term is over computes nothing, and answers nothing', () => {
  const { control, computed, serve } = pair();
  const first = control.beginTerm();
  control.ask(3);
  // Dismissed while it computes: the next one has the batch.
  serve(first, () => control.dismiss());
  assert.equal(control.isAnswered, false);
  serve(first);
  assert.deepEqual(computed, []);
  serve(control.beginTerm());
  assert.equal(control.isAnswered, true);
  assert.deepEqual(computed, [3]);
});

test('a term ends by the clock, though nobody asks or dismisses', () => {
  const words = openWords(new SharedArrayBuffer(controlBytes), 0, controlBytes);
  const term = openControl(words).beginTerm();
  const begun = performance.now();
  serve(words, { term, termMs: 150 }, () => assert.fail('nothing was asked'));
  assert.ok(performance.now() - begun >= 149);
});

test('an answer that comes late does not undo the one after it', () => {
  const { control, computed, serve } = pair();
  const term = control.beginTerm();
  control.ask(3);
  serve(term, () => {
    control.giveUp();
    control.ask(4);
    serve(term);
  });
  assert.deepEqual(computed, [4]);
  assert.equal(control.isAnswered, true);
});

test('a batch that is given up is left alone', async () => {
  const { control, computed, serve } = pair();
  control.ask(3);
  const change = control.change();
  control.giveUp();
  await inTime(async () => void (await change));
  serve(control.beginTerm());
  assert.deepEqual(computed, []);
});

test('no order of steps leaves anybody asleep or a batch undone', (t) => {
  const stories = [
    { actions: ['ask', 'ask', 'ask', 'dismiss'], kills: 1 },
    { actions: ['ask', 'dismiss', 'ask', 'dismiss', 'ask'], kills: 1 },
    { actions: ['dismiss', 'dismiss', 'ask', 'ask'], kills: 2 },
  ] as const;
  for (const story of stories) {
    t.diagnostic(`${story.actions.join(', ')}: ${tryAllOrders(story)} states`);
  }
});

test('trying all orders finds the flaws that it is there for', () => {
  const actions = ['ask', 'dismiss', 'ask'] as const;
  const flaws: [RegExp, (words: Words) => Partial<Words>][] = [
    // What this began with: a dismissal that notifies, and changes nothing that is waited on.
    [
      /undone|missed/,
      ({ increment }) => ({ increment: (at) => at !== word.signal && increment(at) }),
    ],
    // Looking first, and reading the signal then.
    [/undone|missed/, ({ wait, load }) => ({ wait: (at, _, ms) => wait(at, load(at), ms) })],
    [/undone|missed/, ({ notify }) => ({ notify: (at) => at !== word.signal && notify(at) })],
    [/not told/, ({ notify }) => ({ notify: (at) => at !== word.answered && notify(at) })],
  ];
  for (const [message, flaw] of flaws) {
    assert.throws(() => tryAllOrders({ actions, flaw }), message);
  }
});

const threadFile = new URL('./control-thread.js', import.meta.url);

/** A shard and its threads, real ones, which are ended with the test. */
function openShard(t: TestContext) {
  const shared = new SharedArrayBuffer(controlBytes + Int32Array.BYTES_PER_ELEMENT);
  const control = openControl(openWords(shared, 0, controlBytes));
  const output = new Int32Array(shared, controlBytes);
  const threads = new Set<Worker>();
  t.after(() => Promise.all([...threads].map((thread) => thread.terminate())));
  return {
    control,
    output,
    start(seed: number): Worker {
      const thread = new Worker(threadFile, { workerData: { shared, seed } satisfies Served });
      threads.add(thread);
      thread.once('exit', () => threads.delete(thread));
      return thread;
    },
    async ask(jobs: number): Promise<void> {
      control.ask(jobs);
      for (let change = control.change(); change !== null; change = control.change()) await change;
      assert.equal(output[0], jobs);
    },
  };
}

test('thousands of terms and batches, with two threads that dawdle anywhere', async (t) => {
  t.diagnostic(`seed ${testSeed}`);
  const random = createRandom(testSeed);
  const { control, start, ask } = openShard(t);
  const thread = start(testSeed);
  await inTime(async (stage) => {
    let jobs = 0;
    for (let cycle = 0; cycle < 3_000; cycle++) {
      const left = new Promise((resolve) => thread.once('message', resolve));
      thread.postMessage(control.beginTerm());
      for (let batch = Math.floor(4 * random()); batch > 0; batch--) {
        jobs += 1;
        stage(`batch ${jobs} of cycle ${cycle}`);
        await ask(jobs);
      }
      if (random() < 0.2) await sleep(random());
      else for (let spin = 2_000 * random(); spin > 0; spin--);
      stage(`the dismissal of cycle ${cycle}`);
      control.dismiss();
      await left;
    }
  });
});

test('threads that are killed anywhere leave their batch to the next one', async (t) => {
  t.diagnostic(`seed ${testSeed}`);
  const random = createRandom(testSeed);
  const { control, output, start } = openShard(t);
  await inTime(async (stage) => {
    let jobs = 0;
    for (let kills = 0; kills < 25; kills++) {
      const thread = start(testSeed + kills);
      thread.postMessage(control.beginTerm());
      stage(`the thread before kill ${kills} had begun`);
      // What the last one left comes first; what it answered with its last breath, nobody was told.
      while (!control.isAnswered) await Promise.race([control.change(), sleep(20)]);
      assert.equal(output[0], jobs);
      let isDead = false;
      const dies = sleep(10 * random()).then(async () => {
        await thread.terminate();
        isDead = true;
      });
      while (!isDead) {
        jobs += 1;
        stage(`batch ${jobs}, or kill ${kills}`);
        control.ask(jobs);
        while (!control.isAnswered && !isDead) await Promise.race([control.change(), dies]);
      }
    }
  });
});
