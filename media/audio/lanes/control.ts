// How a shard and its resampling thread wake each other: words in shared memory. A batch is asked
// for under a number, and answered by repeating it; a term says which thread is to serve.

/** Indexes of 32-bit words; those of the two sides are 64 bytes apart. */
const word = { asked: 0, jobs: 1, term: 2, answered: 16 } as const;
export const controlBytes = 2 * 64;

export interface Control {
  /**
   * Asks for the first `jobs` rows of the table. The promise resolves when `isAnswered` may have
   * become true; null: it has already.
   */
  ask(jobs: number): Promise<unknown> | null;
  readonly isAnswered: boolean;
  /** What was asked for is not wanted any more. */
  giveUp(): void;
  /** Dismisses the thread that serves, if there is one, and gives the number for the next one. */
  beginTerm(): number;
  dismiss(): void;
}

/** The side of the shard. */
export function openControl(memory: SharedArrayBuffer, offset: number): Control {
  const words = new Int32Array(memory, offset, controlBytes / Int32Array.BYTES_PER_ELEMENT);
  const beginTerm = () => {
    const term = Atomics.add(words, word.term, 1) + 1;
    Atomics.notify(words, word.asked);
    return term;
  };
  return {
    ask(jobs) {
      const before = Atomics.load(words, word.answered);
      words[word.jobs] = jobs;
      Atomics.store(words, word.asked, before + 1);
      Atomics.notify(words, word.asked);
      const answer = Atomics.waitAsync(words, word.answered, before);
      return answer.async ? answer.value : null;
    },
    get isAnswered() {
      return Atomics.load(words, word.answered) === Atomics.load(words, word.asked);
    },
    giveUp() {
      Atomics.store(words, word.answered, Atomics.load(words, word.asked));
      // Who still waits for it is let go.
      Atomics.notify(words, word.answered);
    },
    beginTerm,
    dismiss: () => void beginTerm(),
  };
}

/**
 * The side of the thread: computes what is asked for until its term is over, or nothing was asked
 * for `idleMs`. Blocks. A batch that a thread before it has left is computed first.
 */
export function serve(
  memory: SharedArrayBuffer,
  offset: number,
  { term, idleMs }: { term: number; idleMs: number },
  compute: (jobs: number) => void,
): void {
  const words = new Int32Array(memory, offset, controlBytes / Int32Array.BYTES_PER_ELEMENT);
  const isOver = () => Atomics.load(words, word.term) !== term;
  while (!isOver()) {
    const answered = Atomics.load(words, word.answered);
    const asked = Atomics.load(words, word.asked);
    if (asked === answered) {
      if (Atomics.wait(words, word.asked, asked, idleMs) === 'timed-out') return;
      continue;
    }
    compute(words[word.jobs] ?? 0);
    // Somebody else has this batch by now, and the next one after it.
    if (isOver()) return;
    Atomics.store(words, word.answered, asked);
    Atomics.notify(words, word.answered);
  }
}
