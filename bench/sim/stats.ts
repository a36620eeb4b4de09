// What tests ask the simulator about itself: how many requests of each model began, ended, or were
// given up by the client. That is the proof that an upstream was called once, or cancelled.

interface Counters {
  started: number;
  finished: number;
  aborted: number;
  open: number;
}

export interface StatsView extends Counters {
  models: Record<string, Counters>;
}

function zero(): Counters {
  return { started: 0, finished: 0, aborted: 0, open: 0 };
}

export class Stats {
  #total = zero();
  #models = new Map<string, Counters>();
  /** Body of the last model request, as parsed. */
  lastBody: unknown = null;
  /** What its family kept of its headers. */
  lastKept: Readonly<Record<string, string>> = {};

  started(model: string): void {
    const counters = this.#of(model);
    counters.started += 1;
    counters.open += 1;
    this.#total.started += 1;
    this.#total.open += 1;
  }

  /** `how`: the simulator ended it (also with an error or a cut), or the client went away. */
  ended(model: string, how: 'finished' | 'aborted'): void {
    const counters = this.#of(model);
    counters[how] += 1;
    counters.open = Math.max(0, counters.open - 1);
    this.#total[how] += 1;
    this.#total.open = Math.max(0, this.#total.open - 1);
  }

  view(): StatsView {
    return { ...this.#total, models: Object.fromEntries(this.#models) };
  }

  /** Counts start again from zero; requests that are open stay counted as open. */
  reset(): void {
    const fresh = (counters: Counters) => ({ ...zero(), open: counters.open });
    this.#total = fresh(this.#total);
    this.#models = new Map([...this.#models].map(([name, value]) => [name, fresh(value)]));
    this.lastBody = null;
    this.lastKept = {};
  }

  #of(model: string): Counters {
    let counters = this.#models.get(model);
    if (counters === undefined) {
      counters = zero();
      this.#models.set(model, counters);
    }
    return counters;
  }
}
