// The bounds of the wallet, and what it needs from outside. Relations are asserted when it is made.
import assert from 'node:assert/strict';
import { fixedLimits } from '../../runtime/limits.ts';

export interface WalletLimits {
  /** Operations decided together: one write, one commit. */
  batchLengthMax: number;
  /** So many waiting operations are decided while the batch before them is still being written. */
  overlapFrom: number;
  mailboxLengthMax: number;
  /** How soon a wallet with holds in doubt looks again, if nobody asks before. */
  doubtMsMin: number;
  doubtMsMax: number;
  /** A wallet that was not asked for this long leaves memory. */
  idleTimeoutMs: number;
  /** Statements of this shard on their way at once, for writing and for loading. */
  writesInFlightMax: number;
  loadsInFlightMax: number;
  /** What one statement takes: wallets, and journal rows. */
  walletsPerStatementMax: number;
  rowsPerStatementMax: number;
  /** After this long without an answer of the database a write counts as uncertain. */
  statementDeadlineMs: number;
  /** How long an idempotency key belongs to a generation that finished. */
  keyKeptMs: number;
  /** How often a batch is decided anew because somebody else changed the wallet. */
  attemptsMax: number;
}

/** The bounds of the product, and those that only this folder knows. */
export const walletLimits: Readonly<WalletLimits> = Object.freeze({
  batchLengthMax: fixedLimits.ledger.batchLengthMax,
  overlapFrom: 12,
  mailboxLengthMax: fixedLimits.ledger.mailboxLengthMax,
  doubtMsMin: fixedLimits.ledger.doubtMsMin,
  doubtMsMax: fixedLimits.ledger.doubtMsMax,
  idleTimeoutMs: fixedLimits.ledger.idleMs,
  writesInFlightMax: 2,
  loadsInFlightMax: 2,
  walletsPerStatementMax: 256,
  rowsPerStatementMax: 2_048,
  // The server gives up first, then we do, then who asked.
  statementDeadlineMs:
    (fixedLimits.ledger.statementTimeoutMs + fixedLimits.ledger.askTimeoutMs) / 2,
  keyKeptMs: fixedLimits.generation.idempotencyMs,
  attemptsMax: 16,
});

export function assertWalletLimits(limits: WalletLimits): void {
  assert.ok(limits.batchLengthMax <= limits.mailboxLengthMax, 'a batch fits the mailbox');
  assert.ok(limits.batchLengthMax <= limits.rowsPerStatementMax, 'a batch fits a statement');
  assert.ok(limits.attemptsMax > 1, 'a conflict is decided again');
}

/** The two calls of a logger that are made here. */
export interface WalletLog {
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}
