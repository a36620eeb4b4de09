// How a shard and its resampling thread wake each other in shared memory. Whoever changes what the
// thread looks at raises a signal; the thread reads the signal first, then looks, and then waits
// for another signal: nothing is missed in between (an eventcount, see futex(2)).
import { strict as assert } from 'node:assert';
import type { Words } from './words.ts';

/** Indexes of 32-bit words. The thread writes the last two, 64 bytes from those of the shard. */
export const word = { signal: 0, asked: 1, jobs: 2, term: 3, answered: 16, begun: 17 } as const;
export const controlBytes = 2 * 64;

/** Both sides look again after this: a wake-up that is lost all the same costs no more. */
export const lookMs = 100;

/** A thread serves for one term: until it is over by the clock, or another one has begun. */
export interface Term {
  term: number;
  termMs: number;
}

/** Batches are numbered: one is asked for by its number, and answered by repeating it. */
export interface Control {
  /** Asks for the first `jobs` rows of the table; what was asked before is answered. */
  ask(jobs: number): void;
  readonly isAnswered: boolean;
  /** Resolves when an answer may have come, or for nothing; null: it has. */
  change(): Promise<unknown> | null;
  /** What was asked for is not wanted any more. */
  giveUp(): void;
  /** Dismisses the thread that serves, if there is one, and gives the number for the next one. */
  beginTerm(): number;
  /** The thread of this term is there. */
  readonly hasBegun: boolean;
  dismiss(): void;
}

/** The side of the shard. */
export function openControl(words: Words): Control {
  const signal = () => {
    words.increment(word.signal);
    words.notify(word.signal);
  };
  const isAnswered = () => words.load(word.answered) === words.load(word.asked);
  const beginTerm = () => {
    words.increment(word.term);
    signal();
    return words.load(word.term);
  };
  return {
    ask(jobs) {
      assert(isAnswered(), 'one batch at a time');
      words.store(word.jobs, jobs);
      words.increment(word.asked);
      signal();
    },
    get isAnswered() {
      return isAnswered();
    },
    change() {
      const answered = words.load(word.answered);
      if (answered === words.load(word.asked)) return null;
      return words.waitAsync(word.answered, answered) ?? Promise.resolve();
    },
    giveUp() {
      words.store(word.answered, words.load(word.asked));
      // Who still waits for it is let go.
      words.notify(word.answered);
    },
    beginTerm,
    get hasBegun() {
      return words.load(word.begun) === words.load(word.term);
    },
    dismiss: () => void beginTerm(),
  };
}

/**
 * The side of the thread: computes what is asked for during a term. Blocks. A batch that a thread
 * before it has left is computed first.
 */
export function serve(
  words: Words,
  { term, termMs }: Term,
  compute: (jobs: number, isOver: () => boolean) => void,
): void {
  const endMs = performance.now() + termMs;
  const isOver = () => words.load(word.term) !== term;
  words.store(word.begun, term);
  for (;;) {
    // Before anything else is looked at: that is the whole point of it.
    const signal = words.load(word.signal);
    const leftMs = endMs - performance.now();
    if (isOver() || leftMs <= 0) return;
    const answered = words.load(word.answered);
    const asked = words.load(word.asked);
    if (asked === answered) {
      words.wait(word.signal, signal, Math.min(lookMs, leftMs));
      continue;
    }
    compute(words.load(word.jobs), isOver);
    // Else somebody else has this batch by now; or it was given up, and another one is asked for.
    if (!isOver() && words.replace(word.answered, answered, asked)) words.notify(word.answered);
  }
}
