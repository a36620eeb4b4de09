// Halves of surrogate pairs in a JSON body. UTF-8 has none: only an escape can write one.
// Bodies without such escapes pay for a search in their bytes, and for nothing else.
import { pausing } from '../../turns.ts';

/** A whole pair, or what may be half of one. */
const escapes = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(\\u[dD][89a-fA-F])/g;
const windowBytes = 64 * 1_024;
/** An escape may stand across the end of a window. */
const overlapBytes = 12;
/** Values between two looks at the clock. */
const stepValues = 500;

/** Whether a JSON text may write half of a pair. A pair that it begins or ends in counts as one. */
export function mayHoldHalf(bytes: Buffer): boolean {
  escapes.lastIndex = 0;
  const text = bytes.toString('latin1');
  for (let found = escapes.exec(text); found !== null; found = escapes.exec(text)) {
    if (found[1] !== undefined) return true;
  }
  return false;
}

/** The same of a long text, in turns of the loop. */
export async function mayHoldHalfInTurns(bytes: Buffer): Promise<boolean> {
  const pause = pausing();
  for (let at = 0; at < bytes.length; at += windowBytes) {
    await pause();
    if (mayHoldHalf(bytes.subarray(at, at + windowBytes + overlapBytes))) return true;
  }
  return false;
}

/** The value with U+FFFD for each half of a pair. Changes it in place. */
export function withoutHalves(value: unknown): unknown {
  const walk = replaced(value);
  let step = walk.next();
  while (step.done !== true) step = walk.next();
  return step.value;
}

/** The same of a large value, in turns of the loop. */
export async function withoutHalvesInTurns(value: unknown): Promise<unknown> {
  const pause = pausing();
  const walk = replaced(value);
  let step = walk.next();
  for (; step.done !== true; step = walk.next()) await pause();
  return step.value;
}

function* replaced(root: unknown): Generator<void, unknown> {
  if (typeof root === 'string') return root.toWellFormed();
  const waiting: object[] = typeof root === 'object' && root !== null ? [root] : [];
  let values = 0;
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    const members = each as Record<string, unknown>;
    for (const name of Object.keys(members)) {
      const value = members[name];
      if (!name.isWellFormed()) {
        delete members[name];
        members[name.toWellFormed()] = value;
      }
      if (typeof value === 'string') members[name.toWellFormed()] = value.toWellFormed();
      else if (typeof value === 'object' && value !== null) waiting.push(value);
      values += 1;
      if (values % stepValues === 0) yield;
    }
  }
  return root;
}
