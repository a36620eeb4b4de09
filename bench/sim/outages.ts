// Outages that somebody asked for: for a while everything, or one model, is answered with a status.
import type { Refusal } from './directive.ts';

export class Outages {
  /** By model; under the empty name for all. */
  readonly #outages = new Map<string, { status: Refusal; untilMs: number }>();

  /** The status that a request for this model gets, or null. */
  statusOf(model: string): Refusal | null {
    if (this.#outages.size === 0) return null;
    for (const name of [model, '']) {
      const outage = this.#outages.get(name);
      if (outage === undefined) continue;
      if (performance.now() < outage.untilMs) return outage.status;
      this.#outages.delete(name);
    }
    return null;
  }

  /** `{status, for_ms, model?}`; a status that is neither an error nor `unpaid` ends an outage. */
  set({ status, for_ms: forMs, model }: Record<string, unknown>): void {
    const name = typeof model === 'string' ? model : '';
    const untilMs = performance.now() + (typeof forMs === 'number' ? forMs : 0);
    const isError = typeof status === 'number' && status >= 400;
    if (isError || status === 'unpaid') this.#outages.set(name, { status, untilMs });
    else this.#outages.delete(name);
  }

  clear(): void {
    this.#outages.clear();
  }
}
