// What a simulator remembers of searches: how often a directive has held, and which ones wait. A
// directive waits for calls that carry no query, as those for flights.
import { readSearchDirective, type SearchDirective } from './directive.ts';

const keysMax = 50_000;

export class SearchTurns {
  #held = new Map<string, number>();
  /** The names are models and families; the empty one is for all. */
  #armed = new Map<string, SearchDirective>();

  /** Counts a call; false: the directive has held as often as it may. */
  holds(key: string, { times }: SearchDirective): boolean {
    if (times === Number.POSITIVE_INFINITY) return true;
    const held = this.#held.get(key) ?? 0;
    if (held >= times) return false;
    if (this.#held.size >= keysMax) this.#held.clear();
    this.#held.set(key, held + 1);
    return true;
  }

  /** `{directive, model?}`: it waits for calls of that model, without `times` for all of them. */
  arm({ directive, model }: Record<string, unknown>): boolean {
    const name = typeof model === 'string' ? model : '';
    if (typeof directive !== 'string') return false;
    this.#held.delete(`armed:${name}`);
    if (directive === '') this.#armed.delete(name);
    else this.#armed.set(name, readSearchDirective(directive));
    return true;
  }

  /** The first of these names that has one which still holds. */
  armedFor(names: readonly string[]): SearchDirective | null {
    for (const name of names) {
      const directive = this.#armed.get(name);
      if (directive !== undefined && this.holds(`armed:${name}`, directive)) return directive;
    }
    return null;
  }

  reset(): void {
    this.#held = new Map();
    this.#armed = new Map();
  }
}
