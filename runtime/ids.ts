// Identifiers: a prefix and 24 hex characters, time-ordered. The node that made an id stands in
// it, so that whoever holds a generation's id can reach its actor without a directory.
import { randomFillSync } from 'node:crypto';

export type IdPrefix =
  | 'req'
  | 'key'
  | 'wal'
  | 'hold'
  | 'vs'
  | 'va'
  | 'rr'
  | 'vjob'
  | 'vid'
  | 'acc'
  | 'aud';

const hexLength = 24;
const pool = Buffer.alloc(4_096);
let poolOffset = pool.length;

/** A new id: 12 hex of milliseconds, 2 of the node (0 to 255), 10 random (40 bits). */
export function newId(prefix: IdPrefix, node: number): string {
  if (poolOffset + 5 > pool.length) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  const random = pool.toString('hex', poolOffset, poolOffset + 5);
  poolOffset += 5;
  const time = Date.now().toString(16).padStart(12, '0');
  return `${prefix}_${time}${(node & 0xff).toString(16).padStart(2, '0')}${random}`;
}

/** What every id made at this time or later is not below. */
export function firstIdAt(prefix: IdPrefix, timeMs: number): string {
  return `${prefix}_${Math.max(0, timeMs).toString(16).padStart(12, '0')}`;
}

/** The same 24 characters under another prefix: a generation's hold, its routing receipt. */
export function siblingId(id: string, prefix: IdPrefix): string {
  return `${prefix}_${id.slice(-hexLength)}`;
}

/** When the id was made, in epoch milliseconds. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(-hexLength, -hexLength + 12), 16);
}

/** The node that made the id. */
export function nodeOfId(id: string): number {
  return Number.parseInt(id.slice(-hexLength + 12, -hexLength + 14), 16);
}

/** Whether the text has the form of an id with this prefix. */
export function isId(text: string, prefix: IdPrefix): boolean {
  return text.startsWith(`${prefix}_`) && /^[a-f0-9]{24}$/.test(text.slice(prefix.length + 1));
}
