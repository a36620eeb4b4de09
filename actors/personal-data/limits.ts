// The bounds of exports and erasings (identity.md, section 4), with the reasons for them.
import assert from 'node:assert/strict';
import type { Widened } from '../../runtime/limits.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

export const personalDataLimits = {
  /** A deletion can be undone for so long. */
  graceMs: 14 * DAY,
  /** An account may have one export in this time. */
  exportPeriodMs: DAY,
  exportKeptMs: 7 * DAY,
  /** A million rows take 2 minutes. */
  exportForMs: 30 * MINUTE,
  /** Beyond it a ZIP needs another format, and nobody can download it at once. */
  archiveBytesMax: 2 * 2 ** 30,
  /** An export that breaks is begun again so often. */
  triesMax: 6,
  leaseMs: 15 * SECOND,
  renewMs: 5 * SECOND,
  /** Exports and erasings of this process at once: each holds two pages in memory. */
  workedMax: 2,
  queuedMax: 1_000,
  /** Rows of one page, and about how many bytes: one row more may be beyond it. */
  pageRowsMax: 200,
  pageBytesMax: 4 * 2 ** 20,
  /** How often exports are looked for that nobody makes. */
  leftMs: 15 * SECOND,
  /** How often accounts are looked for whose time is over, and exports likewise. */
  dueMs: MINUTE,
  dueMax: 200,
} as const;

export type PersonalDataLimits = Readonly<Widened<typeof personalDataLimits>>;

assert.ok(personalDataLimits.renewMs * 2 < personalDataLimits.leaseMs, 'one renewal may fail');
assert.ok(
  personalDataLimits.exportKeptMs < personalDataLimits.graceMs,
  'no copy outlives the time in which a deletion can be undone',
);
