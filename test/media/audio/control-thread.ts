// A thread that serves one term after the other as it is told, and dawdles wherever it may lose a
// wake-up. It waits without a timeout: what is lost stays lost, for the test to see.
import { strict as assert } from 'node:assert';
import { parentPort, workerData } from 'node:worker_threads';
import { controlBytes, serve } from '../../../media/audio/lanes/control.ts';
import { openWords, type Words } from '../../../media/audio/lanes/words.ts';
import { createRandom } from '../../harness/seed.ts';

export interface Served {
  /** The control words, and behind them one for the output. */
  shared: SharedArrayBuffer;
  seed: number;
}

assert(parentPort !== null);
const port = parentPort;
const { shared, seed } = workerData as Served;
const random = createRandom(seed);
const output = new Int32Array(shared, controlBytes);

/** Most often not at all, now and then so long that another thread gets the core. */
function dawdle(): void {
  const chance = random();
  if (chance < 0.02) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, random());
  else if (chance < 0.3) for (let spin = 3_000 * random(); spin > 0; spin--);
}

function slow<Given extends unknown[], T>(act: (...given: Given) => T) {
  return (...given: Given): T => {
    dawdle();
    return act(...given);
  };
}

const real = openWords(shared, 0, controlBytes);
const words: Words = {
  ...real,
  load: slow(real.load),
  replace: slow(real.replace),
  notify: slow(real.notify),
  wait: slow((index, value) => real.wait(index, value, Number.POSITIVE_INFINITY)),
};

port.on('message', (term: number) => {
  serve(words, { term, termMs: Number.POSITIVE_INFINITY }, (jobs) => {
    dawdle();
    output[0] = jobs;
  });
  port.postMessage('left');
});
