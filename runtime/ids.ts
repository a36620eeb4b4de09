// Identifiers: a prefix and 24 hex characters, time-ordered. The node that made an id stands in
// it, so that whoever holds a generation's id can reach its actor without a directory.
import { randomFillSync, randomInt } from 'node:crypto';

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
  | 'ses'
  | 'otp'
  | 'auth'
  | 'dev'
  | 'mail'
  | 'exp'
  | 'blob'
  | 'pur'
  | 'rfd'
  | 'anom'
  | 'inv'
  | 'ntc'
  | 'rel'
  | 'fbk'
  | 'mcp'
  | 'code'
  | 'ref'
  | 'grp'
  | 'aud';

const hexLength = 24;
const pool = Buffer.alloc(4_096);
let poolOffset = pool.length;

/** Numbers to hex are slow, and under load many ids are of the same millisecond. */
const nodeTexts = Array.from({ length: 256 }, (_, node) => hexOf(node, 2));
let lastTime = { ms: 0, text: hexOf(0, 12) };

function hexOf(value: number, length: number): string {
  return value.toString(16).padStart(length, '0');
}

function timeText(ms: number): string {
  if (ms !== lastTime.ms) lastTime = { ms, text: hexOf(ms, 12) };
  return lastTime.text;
}

/**
 * A new id: 12 hex of milliseconds, 2 of the node (0 to 255), 10 random (40 bits). Audit events,
 * whose order counts, have `newAuditId`.
 */
export function newId(prefix: Exclude<IdPrefix, 'aud'>, node: number): string {
  if (poolOffset + 5 > pool.length) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  const random = pool.toString('hex', poolOffset, poolOffset + 5);
  poolOffset += 5;
  return `${prefix}_${timeText(Date.now())}${nodeTexts[node & 0xff]}${random}`;
}

const auditRandomMax = 2 ** 40;
let lastAudit = { ms: 0, random: 0 };

/**
 * The id of an audit event, as `newId` makes it. One thread's events of one millisecond sort by
 * their order too, as ULID's monotonic form does. A trail that is read by id has its order so.
 */
export function newAuditId(node: number): string {
  const ms = Date.now();
  const next = lastAudit.random + 1;
  const random = ms === lastAudit.ms && next < auditRandomMax ? next : randomInt(auditRandomMax);
  lastAudit = { ms, random };
  return `aud_${timeText(ms)}${nodeTexts[node & 0xff]}${hexOf(random, 10)}`;
}

/** What every id made at this time or later is not below. */
export function firstIdAt(prefix: IdPrefix, timeMs: number): string {
  return `${prefix}_${hexOf(Math.max(0, timeMs), 12)}`;
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
