// The tree of an audit (RFC 6962, section 2.1): its right edge as it grows, its roots, and proofs
// of inclusion and consistency. The verifier has these rules too.
import { createHash } from 'node:crypto';

const leafPrefix = Buffer.from([0]);
const nodePrefix = Buffer.from([1]);
/** The tree without leaves. */
const emptyRoot = createHash('sha256').digest();

export function leafHash(leaf: string | Uint8Array): Buffer {
  return createHash('sha256').update(leafPrefix).update(leaf).digest();
}

function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return createHash('sha256').update(nodePrefix).update(left).update(right).digest();
}

/** The root of subtrees that lie side by side, the larger before the smaller. */
export function foldRoot(subtrees: readonly Buffer[]): Buffer {
  const last = subtrees.at(-1);
  if (last === undefined) return emptyRoot;
  return subtrees.slice(0, -1).reduceRight((right, left) => nodeHash(left, right), last);
}

export interface Subtree {
  /** Its first leaf. */
  from: number;
  /** How many leaves it has: a power of two. */
  length: number;
}

/** The largest perfect subtrees of the leaves from one up to, not including, another. */
export function perfectSubtrees(from: number, to: number): Subtree[] {
  const found: Subtree[] = [];
  for (let at = from; at < to; ) {
    let length = 1;
    while (at % (2 * length) === 0 && at + 2 * length <= to) length *= 2;
    found.push({ from: at, length });
    at += length;
  }
  return found;
}

/** The right edge of a tree that grows by perfect subtrees, each as its place allows. */
export class RightEdge {
  size = 0;
  #hashes: Buffer[] = [];
  #lengths: number[] = [];

  push(hash: Buffer, length = 1): void {
    let node = hash;
    let height = length;
    while (this.#lengths.at(-1) === height) {
      this.#lengths.pop();
      node = nodeHash(this.#hashes.pop() as Buffer, node);
      height *= 2;
    }
    this.#hashes.push(node);
    this.#lengths.push(height);
    this.size += length;
  }

  root(): Buffer {
    return foldRoot(this.#hashes);
  }

  /** The root as it would be with one more leaf. */
  rootWith(leaf: Buffer): Buffer {
    const grown = this.copy();
    grown.push(leaf);
    return grown.root();
  }

  copy(): RightEdge {
    const same = new RightEdge();
    same.size = this.size;
    same.#hashes = [...this.#hashes];
    same.#lengths = [...this.#lengths];
    return same;
  }

  /** The hashes of the largest perfect subtrees, in the order of their leaves. */
  hashes(): readonly Buffer[] {
    return this.#hashes;
  }
}

/** The hash of a perfect subtree. */
export type SubtreeHash = (subtree: Subtree) => Buffer;

/** The root of the leaves from one up to, not including, another. */
function rootOf(from: number, to: number, hashOf: SubtreeHash): Buffer {
  return foldRoot(perfectSubtrees(from, to).map(hashOf));
}

/** The largest power of two below a size of at least two. */
function splitOf(size: number): number {
  let split = 1;
  while (2 * split < size) split *= 2;
  return split;
}

/** PATH(index, D[size]) of RFC 6962: from the leaf's sibling up. */
export function inclusionProof(index: number, size: number, hashOf: SubtreeHash): Buffer[] {
  const path = (from: number, to: number): Buffer[] => {
    if (to - from === 1) return [];
    const middle = from + splitOf(to - from);
    return index < middle
      ? [...path(from, middle), rootOf(middle, to, hashOf)]
      : [...path(middle, to), rootOf(from, middle, hashOf)];
  };
  return path(0, size);
}

/** The root that an inclusion proof leads to; null: it has not the length of one. */
export function rootOfInclusion(
  leaf: Buffer,
  index: number,
  size: number,
  proof: readonly Buffer[],
): Buffer | null {
  if (index < 0 || index >= size) return null;
  let place = 0;
  const climb = (at: number, width: number): Buffer | null => {
    if (width === 1) return leaf;
    const split = splitOf(width);
    const inLeft = at < split;
    const below = inLeft ? climb(at, split) : climb(at - split, width - split);
    const sibling = proof[place];
    place += 1;
    if (below === null || sibling === undefined) return null;
    return inLeft ? nodeHash(below, sibling) : nodeHash(sibling, below);
  };
  const root = climb(index, size);
  return place === proof.length ? root : null;
}

/** PROOF(before, D[size]) of RFC 6962, for 0 < before <= size. */
export function consistencyProof(before: number, size: number, hashOf: SubtreeHash): Buffer[] {
  const path = (from: number, to: number, isWhole: boolean): Buffer[] => {
    if (before === to) return isWhole ? [] : [rootOf(from, to, hashOf)];
    const middle = from + splitOf(to - from);
    return before <= middle
      ? [...path(from, middle, isWhole), rootOf(middle, to, hashOf)]
      : [...path(middle, to, false), rootOf(from, middle, hashOf)];
  };
  return path(0, size, true);
}

/** Whether a proof leads from the root of the smaller tree to that of the larger one. */
export function isConsistent(
  before: { size: number; root: Buffer },
  after: { size: number; root: Buffer },
  proof: readonly Buffer[],
): boolean {
  if (before.size < 1 || before.size > after.size) return false;
  let place = 0;
  const next = () => {
    const hash = proof[place];
    place += 1;
    return hash ?? null;
  };
  /** Both roots of a part of the tree: as it was, and as it is. */
  const climb = (from: number, to: number, isWhole: boolean): [Buffer, Buffer] | null => {
    if (before.size === to) {
      const same = isWhole ? before.root : next();
      return same === null ? null : [same, same];
    }
    const middle = from + splitOf(to - from);
    const inLeft = before.size <= middle;
    const below = inLeft ? climb(from, middle, isWhole) : climb(middle, to, false);
    const sibling = next();
    if (below === null || sibling === null) return null;
    if (inLeft) return [below[0], nodeHash(below[1], sibling)];
    return [nodeHash(sibling, below[0]), nodeHash(sibling, below[1])];
  };
  const roots = climb(0, after.size, true);
  if (roots === null || place !== proof.length) return false;
  return roots[0].equals(before.root) && roots[1].equals(after.root);
}
