// The bounds of counting usage, with the reasons for them.
import assert from 'node:assert/strict';
import type { Widened } from '../../runtime/limits.ts';
import { ledgerLimits } from '../wallet/limits.ts';

const SECOND = 1_000;
const DAY = 86_400 * SECOND;

export const usageLimits = {
  roundMs: 15 * SECOND,
  /** Behind the clock: so long may a row that has its id already be on its way. */
  behindMs: 60 * SECOND,
  /** Rows of one transaction: about 100 ms. */
  rowsMax: 20_000,
  /** Rounds take turns with all others: what is left after so long is the next one's. */
  roundForMs: 2 * SECOND,
  /** How often days are closed, compared and forgotten; there is something to do once a day. */
  closeMs: 60 * SECOND,
  quartersKeptMs: 400 * DAY,
  forgottenMax: 5_000,
} as const;

export type UsageLimits = Readonly<Widened<typeof usageLimits>>;

assert.ok(
  usageLimits.behindMs > 10 * ledgerLimits.askTimeoutMs,
  'a hold is durable or given up long before its id is passed',
);
assert.ok(usageLimits.roundForMs * 4 < usageLimits.roundMs, 'other rounds have their turns');
