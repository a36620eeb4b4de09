// How much may be written out while schemas are fitted. A reference is short, and what it names may
// be long: a kilobyte of them can stand for gigabytes, for which no funds are held.
import type { Members } from '../../../transport/members.ts';

/** For a small schema that is mostly references. */
const charactersMin = 16 * 1024;
/** What is written out is this many times as long as what was said, at most. */
const growthMax = 3;
const charactersMax = 512 * 1024;

export class Allowance {
  readonly #said: unknown;
  readonly #lengths = new Map<Members, number>();
  /** Null: nothing was written out. Most schemas refer to nothing, and are not measured. */
  #left: number | null = null;

  /** `said`: the schemas that share it. */
  constructor(said: unknown) {
    this.#said = said;
  }

  /** Takes what it takes to write the schema out once; false: there is not so much left. */
  spend(schema: Members): boolean {
    this.#left ??= Math.min(charactersMax, charactersMin + growthMax * lengthOf(this.#said));
    let length = this.#lengths.get(schema);
    if (length === undefined) {
      length = lengthOf(schema);
      this.#lengths.set(schema, length);
    }
    if (length > this.#left) return false;
    this.#left -= length;
    return true;
  }
}

function lengthOf(said: unknown): number {
  return JSON.stringify(said).length;
}
