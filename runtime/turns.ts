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
  runEach(tasks, call);
}

const call = (task: () => void) => task();

/** Runs `step` on every one of them, also behind one that throws; then throws the first error. */
export function runEach<T>(items: readonly T[], step: (item: T) => void): void {
  let hasFailed = false;
  let failure: unknown;
  for (const item of items) {
    try {
      step(item);
    } catch (error) {
      if (!hasFailed) failure = error;
      hasFailed = true;
    }
  }
  if (hasFailed) throw failure;
}

/** What waits, in order, of each tenant; the tenant whose turn is next stands first. */
const lines: { tenant: string; works: (() => Promise<void>)[] }[] = [];
let isServing = false;

/**
 * Runs `run`, which is long and takes many turns, when no other one runs: of many that come at
 * once only one is in two forms in memory. Tenants take turns, so that nobody waits behind all that
 * another one sends. It must wait for nothing but turns.
 */
export function afterOthers<T>(tenant: string, run: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const work = async () => {
      try {
        resolve(await run());
      } catch (error) {
        reject(error);
      }
    };
    const line = lines.find((each) => each.tenant === tenant);
    if (line === undefined) lines.push({ tenant, works: [work] });
    else line.works.push(work);
    if (!isServing) void serveLines();
  });
}

async function serveLines(): Promise<void> {
  isServing = true;
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const work = line.works.shift();
    if (line.works.length > 0) lines.push(line);
    await work?.();
  }
  isServing = false;
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
