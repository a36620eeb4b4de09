// The chain of records: each names the link before. A record that was changed shows at the next
// one, so one record is held back from the tree until the next has been seen.
import { RightEdge } from '../merkle.ts';
import type { Fault } from './report.ts';

interface Suspect {
  /** The record whose `prev` is not the link before. */
  seq: number;
  link: Buffer;
  /** The tree if the record before it was changed, and if it was itself. */
  ifBefore: RightEdge;
  ifItself: RightEdge;
}

const badRecord = (seq: number): Fault => ({ message: `the record ${seq} was changed`, seq });

export class Chain {
  readonly edge = new RightEdge();
  /** The first record that was changed. */
  fault: Fault | null = null;
  #held: { seq: number; link: Buffer } | null = null;
  #suspect: Suspect | null = null;

  /** `prev`: what the first record has to name; null: nobody knows. */
  constructor(left: readonly { hash: Buffer; length: number }[]) {
    for (const { hash, length } of left) this.edge.push(hash, length);
  }

  /** The record in its place; `first`: what it has to name if it is the first one. */
  add(seq: number, link: Buffer, prev: Buffer, first: Buffer | null): void {
    if (this.#suspect !== null) {
      const suspect = this.#suspect;
      this.#suspect = null;
      // Whoever comes next knows the suspect's true link.
      this.fault = badRecord(prev.equals(suspect.link) ? suspect.seq - 1 : suspect.seq);
      return;
    }
    const before = this.#held;
    this.#held = { seq, link };
    const expected = before?.link ?? first;
    if (expected === null || expected.equals(prev)) {
      if (before !== null) this.edge.push(before.link);
      return;
    }
    if (before === null) {
      this.fault = badRecord(seq);
      return;
    }
    const [ifBefore, ifItself] = [this.edge.copy(), this.edge.copy()];
    ifBefore.push(prev);
    ifItself.push(before.link);
    for (const edge of [ifBefore, ifItself]) edge.push(link);
    this.#suspect = { seq, link, ifBefore, ifItself };
  }

  /** How many leaves there are, the held one too. */
  get size(): number {
    return this.edge.size + (this.#held === null ? 0 : 1);
  }

  root(): Buffer {
    return this.#held === null ? this.edge.root() : this.edge.rootWith(this.#held.link);
  }

  get isBroken(): boolean {
    return this.fault !== null || this.#suspect !== null;
  }

  /** The root with what lies behind the last record. */
  finish(right: readonly { hash: Buffer; length: number }[], root: Buffer | null): Buffer {
    const grow = (edge: RightEdge) => {
      for (const { hash, length } of right) edge.push(hash, length);
      return edge.root();
    };
    if (this.#suspect !== null) {
      const { seq, ifBefore } = this.#suspect;
      const isBefore = root?.equals(grow(ifBefore)) === true;
      this.fault = badRecord(isBefore ? seq - 1 : seq);
      return grow(this.#suspect.ifItself);
    }
    if (this.#held !== null) this.edge.push(this.#held.link);
    return grow(this.edge);
  }
}
