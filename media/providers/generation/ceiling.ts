// An answer that is kept to fewer output tokens than its provider takes as a ceiling. The provider
// goes on to its own, which is near, so that usage is reported; the client pays for its own.
import type { ModelEvent } from '../../model/events.ts';
import { singles } from '../../model/text-run.ts';
import type { UsageReport } from '../../model/usage.ts';

export class CeilingCut {
  readonly #ceiling: number;
  #left: number;

  constructor(ceiling: number) {
    this.#ceiling = ceiling;
    this.#left = ceiling;
  }

  /** What of the next events is within the ceiling: providers send about one token a delta. */
  keep(events: readonly ModelEvent[]): ModelEvent[] {
    return singles(events).flatMap((event): ModelEvent[] => {
      if (event.type === 'usage') return [{ type: 'usage', usage: this.#bounded(event.usage) }];
      if (event.type === 'finish') {
        return this.#left < 0 ? [{ type: 'finish', reason: 'length' }] : [event];
      }
      if ('text' in event) this.#left -= 1;
      return this.#left < 0 ? [] : [event];
    });
  }

  #bounded(usage: UsageReport): UsageReport {
    const reasoningTokens = Math.min(usage.reasoningTokens, this.#ceiling);
    const outputTokens = Math.min(usage.outputTokens, this.#ceiling - reasoningTokens);
    return { ...usage, outputTokens, reasoningTokens };
  }
}
