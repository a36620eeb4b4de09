// The bounds of the ledger and of the wallet in front of it, with the arithmetic behind them.
// Relations are asserted when they are made.
import assert from 'node:assert/strict';
import { orphanAfterMs } from '../../db/audit.ts';
import { idempotencyMs } from '../../db/generations.ts';
import type { KernelLimits, Widened } from '../../runtime/limits.ts';

export const ledgerLimits = {
  /** Covers every failover and the longest answer; asserted below. Extensions begin it anew. */
  holdExpiryMs: 15 * 60_000,
  askTimeoutMs: 5_000,
  /** A statement that takes longer is cancelled before its asker gives up. */
  statementTimeoutMs: 4_000,
  /** Group commit: at 64 callers a batch holds 64, at 256 it holds 256. */
  batchLengthMax: 512,
  /** 1,000 requests at once on one wallet, each with a hold and a settlement. */
  mailboxLengthMax: 4_096,
  sweepMs: 15_000,
  /** How long debt waits for credits that a hold gave back. */
  debtsMs: 60_000,
  /** An active hold this long past its expiry is an orphan: no sweep has released it. */
  orphanAfterMs,
  /** An owner that has not ended this long after its hold expired will never do so. */
  abandonedAfterMs: 3_600_000,
  /**
   * A wallet with holds in doubt looks again after as long as the doubt has lasted, within these.
   */
  doubtMsMin: 1_000,
  doubtMsMax: 8_000,
  /** Wallets without a message are dropped from memory; their state is in the database. */
  idleMs: 60_000,
} as const;

export type LedgerLimits = Widened<typeof ledgerLimits>;

/** The bounds of the ledger in this process. Throws where one breaks a relation to others. */
export function createLedgerLimits({ database }: KernelLimits): LedgerLimits {
  const ledger = ledgerLimits;
  assert.ok(ledger.statementTimeoutMs < ledger.askTimeoutMs, 'a statement ends before its asker');
  assert.ok(ledger.statementTimeoutMs < database.queryTimeoutMs, 'a statement ends before it');
  assert.ok(ledger.batchLengthMax <= ledger.mailboxLengthMax, 'a batch comes from the mailbox');
  assert.ok(ledger.doubtMsMax < ledger.idleMs, 'a wallet in doubt stays in memory');
  assert.ok(ledger.sweepMs < ledger.orphanAfterMs, 'sweeps find a hold before it is an orphan');
  assert.ok(
    ledger.holdExpiryMs < ledger.abandonedAfterMs,
    'who still answers settles late before it is given up',
  );
  return ledger;
}

export interface WalletLimits {
  /** Operations decided together: one write, one commit. */
  batchLengthMax: number;
  /** So many waiting operations are decided while the batch before them is still being written. */
  overlapFrom: number;
  mailboxLengthMax: number;
  /** How soon a wallet with holds in doubt looks again, if nobody asks before. */
  doubtMsMin: number;
  doubtMsMax: number;
  /** A look that finds too little reads the wallet again, but not so soon after the last time. */
  lookFreshMs: number;
  /** A wallet that has less than its account wants is told again after this long. */
  lowApartMs: number;
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
  batchLengthMax: ledgerLimits.batchLengthMax,
  overlapFrom: 12,
  mailboxLengthMax: ledgerLimits.mailboxLengthMax,
  doubtMsMin: ledgerLimits.doubtMsMin,
  doubtMsMax: ledgerLimits.doubtMsMax,
  lookFreshMs: 200,
  lowApartMs: 5_000,
  idleTimeoutMs: ledgerLimits.idleMs,
  writesInFlightMax: 2,
  loadsInFlightMax: 2,
  walletsPerStatementMax: 256,
  rowsPerStatementMax: 2_048,
  // The server gives up first, then we do, then who asked.
  statementDeadlineMs: (ledgerLimits.statementTimeoutMs + ledgerLimits.askTimeoutMs) / 2,
  keyKeptMs: idempotencyMs,
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
