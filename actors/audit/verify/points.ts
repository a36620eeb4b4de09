// Checkpoints that a verification compares with: those of the export, and those that its reader
// has kept outside, which no operator can have changed.
import type { Fault } from './report.ts';

export interface Point {
  size: number;
  root: Buffer;
  isOutside: boolean;
}

export class Points {
  readonly #waiting = new Map<number, Point[]>();
  readonly #good: Point[] = [];
  readonly #bad: Point[] = [];

  /** It is compared once the tree has its size. */
  expect(point: Point): void {
    this.#waiting.set(point.size, [...(this.#waiting.get(point.size) ?? []), point]);
  }

  isExpected(size: number): boolean {
    return this.#waiting.has(size);
  }

  /** The tree had this root at this size. */
  reached(size: number, root: Buffer): void {
    for (const point of this.#waiting.get(size) ?? []) this.judge(point, point.root.equals(root));
    this.#waiting.delete(size);
  }

  judge(point: Point, isGood: boolean): void {
    (isGood ? this.#good : this.#bad).push(point);
  }

  /** What nothing was compared with. */
  left(): Point[] {
    return [...this.#waiting.values()].flat();
  }

  /** Where history was rewritten; null: every checkpoint fits. */
  rewritten(): Fault | null {
    const ofSize = (left: Point, right: Point) => left.size - right.size;
    const outside = this.#bad.filter(({ isOutside }) => isOutside);
    // The export's own may have been signed anew with what was rewritten.
    const [first] = (outside.length > 0 ? outside : this.#bad).sort(ofSize);
    if (first === undefined) return null;
    const before = this.#good
      .filter(({ size, isOutside }) => size < first.size && (isOutside || !first.isOutside))
      .map(({ size }) => size);
    const from = Math.max(0, ...before);
    return {
      message: `history was rewritten between the checkpoints of size ${from} and ${first.size}`,
      between: [from, first.size],
    };
  }
}
