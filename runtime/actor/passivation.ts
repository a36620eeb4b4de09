// Ends actors that were idle for their kind's timeout, with one coarse ticker for the whole node.
// A cell lies in the bucket of the tick at which it may be due, and moves on if it was busy since.
import type { Cell } from './cell.ts';
import type { Population } from './population.ts';

const tickMsMin = 10;
const tickMsMax = 1_000;

class IdleBuckets {
  readonly #population: Population;
  readonly #timeoutTicks: number;
  readonly #buckets = new Map<number, Cell[]>();

  constructor(population: Population, timeoutTicks: number) {
    this.#population = population;
    this.#timeoutTicks = timeoutTicks;
  }

  /** Puts the cell where it is due if nothing happens until then. */
  add(cell: Cell): void {
    // One tick more, as its last message may have come at the very end of `lastTick`.
    const due = Math.max(cell.lastTick + this.#timeoutTicks, this.#population.idleTick) + 1;
    const bucket = this.#buckets.get(due);
    if (bucket === undefined) this.#buckets.set(due, [cell]);
    else bucket.push(cell);
  }

  tick(): void {
    const population = this.#population;
    population.idleTick += 1;
    const cells = this.#buckets.get(population.idleTick);
    if (cells === undefined) return;
    this.#buckets.delete(population.idleTick);
    for (const cell of cells) {
      if (cell.phase === 'ended') continue;
      const due = cell.lastTick + this.#timeoutTicks < population.idleTick;
      if (due && cell.idle) cell.end('passivated');
      else this.add(cell);
    }
  }
}

/** Starts passivation for those of the populations that have an idle timeout; returns its end. */
export function startPassivation(populations: Iterable<Population>): () => void {
  const timed = [...populations].filter((each) => each.kind.idleTimeoutMs !== undefined);
  if (timed.length === 0) return () => {};
  const shortestMs = Math.min(...timed.map((each) => each.kind.idleTimeoutMs ?? tickMsMax));
  const tickMs = Math.min(Math.max(Math.floor(shortestMs / 4), tickMsMin), tickMsMax);
  const all = timed.map((population) => {
    const buckets = new IdleBuckets(
      population,
      Math.ceil((population.kind.idleTimeoutMs ?? 0) / tickMs),
    );
    population.onStart = (cell) => buckets.add(cell);
    return buckets;
  });
  const ticker = setInterval(() => {
    for (const buckets of all) buckets.tick();
  }, tickMs);
  ticker.unref();
  return () => clearInterval(ticker);
}
