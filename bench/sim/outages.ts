// Outages that somebody asked for: for a while everything, one model, or a family of searches is
// answered with a status, or not at all.
import type { Refusal } from './directive.ts';

/** `stall`: the request is taken, and nothing comes. */
export type Outage = Refusal | 'stall';

export class Outages {
  /** The names are models; the empty one is for all. */
  readonly #outages = new Map<string, { status: Outage; untilMs: number }>();

  /** What a request for this model gets, or null. `group`: the family, where it has a name here. */
  statusOf(model: string, group: string): Outage | null {
    if (this.#outages.size === 0) return null;
    for (const name of [model, group, '']) {
      const outage = this.#outages.get(name);
      if (outage === undefined) continue;
      if (performance.now() < outage.untilMs) return outage.status;
      this.#outages.delete(name);
    }
    return null;
  }

  /** `{status, for_ms, model?}`; a status that is none of an error, `unpaid`, `stall` ends one. */
  set({ status, for_ms: forMs, model }: Record<string, unknown>): void {
    const name = typeof model === 'string' ? model : '';
    const untilMs = performance.now() + (typeof forMs === 'number' ? forMs : 0);
    const isError = typeof status === 'number' && status >= 400;
    if (isError || status === 'unpaid' || status === 'stall')
      this.#outages.set(name, { status, untilMs });
    else this.#outages.delete(name);
  }

  clear(): void {
    this.#outages.clear();
  }
}
