// Turns of the event loop for steps that take milliseconds: a long body is parsed, hashed and
// encoded in a turn of its own each, and two of them never share one, however many come at once.

/** A step that has worked this long hands the loop on: on a shared core it lasts longer yet. */
const turnMsMax = 2;
const waiting: (() => void)[] = [];

/** Resolves at the start of a turn that no other long step of this thread has. In order. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}

function next(): void {
  const begin = waiting.shift();
  if (waiting.length > 0) setImmediate(next);
  begin?.();
}

let atEnd: (() => void)[] = [];

/** Runs it in the check phase of this turn, behind the batches that actors have gathered so far. */
export function atTurnEnd(task: () => void): void {
  atEnd.push(task);
  if (atEnd.length === 1) setImmediate(runAtEnd);
}

function runAtEnd(): void {
  const tasks = atEnd;
  atEnd = [];
  for (const task of tasks) task();
}

let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs `work`, which is long and takes many turns, when what was begun before it is done: of many
 * that come at once only one is in two forms in memory. It must wait for nothing but turns.
 */
export function afterOthers<T>(work: () => Promise<T>): Promise<T> {
  const result = previous.then(work);
  previous = result.catch(() => undefined);
  return result;
}

/**
 * For work in pieces: the returned function is called before each, and waits for a turn where the
 * running one has been long enough, or where a new one is a must.
 */
export function pausing(): (must?: boolean) => Promise<void> {
  let begunMs = performance.now();
  return async (must = false) => {
    if (!must && performance.now() - begunMs < turnMsMax) return;
    await ownTurn();
    begunMs = performance.now();
  };
}
