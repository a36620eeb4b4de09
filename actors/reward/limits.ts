// The bounds of rewards (the specification of customers, section 7), and the waits between tries.
import assert from 'node:assert/strict';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export const rewardLimits = {
  /** A submission takes so many evidences. */
  evidencesMax: 3,
  /** A page that cannot be fetched is tried again after these, then an administrator looks. */
  fetchAgainMs: [MINUTE, 10 * MINUTE],
  /** Work that breaks is begun so often, then an administrator looks. */
  startsMax: 3,
  /** At once in a process, and entries that wait to be written. */
  runningMax: 4,
  queuedMax: 1_000,
  leaseMs: 15 * SECOND,
  renewMs: 5 * SECOND,
  leftMs: 5 * SECOND,
  leftMax: 500,
  askMs: 10 * SECOND,
  nextMs: 500,
  /** For the page's text. */
  readMs: 20 * SECOND,
  /** For one answer of the model. */
  answerMs: 3 * MINUTE,
  grantMs: 5 * SECOND,
} as const;

assert.ok(rewardLimits.renewMs * 2 < rewardLimits.leaseMs, 'one renewal may fail');

export type RewardLimits = typeof rewardLimits;
