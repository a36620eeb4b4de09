// Decides a run of operations in order, and keeps the answers until the commit.
import type { BatchEntry } from '../../runtime/actor/contract.ts';
import type { Wallet } from './funds.ts';
import { extend, grant, hold, type Known, operation, reduce, release, settle } from './ledger.ts';
import type { WalletProtocol } from './protocol.ts';
import { collect, restore, reverse } from './reversal.ts';
import { debit, revoke } from './revocation.ts';
import { balance, look } from './standing.ts';

type Entry = BatchEntry<WalletProtocol>;

export interface Decided {
  /** One for each decided entry, in order. Fewer than there were entries: the rest comes later. */
  replies: (() => void)[];
  /** Operations of holds that did not fit, and of grants that were too much. */
  refused: string[];
  /** Some answer tells how the wallet stands, so memory must be known to be right. */
  needsProof: boolean;
}

export function decideAll(
  wallet: Wallet,
  entries: readonly Entry[],
  known: Known,
  nowMs: number,
): Decided {
  const decided: Decided = { replies: [], refused: [], needsProof: false };
  for (const entry of entries) {
    if (endsClaimOfThisBatch(wallet, entry)) break;
    decideOne(wallet, entry, known, nowMs, decided);
  }
  return decided;
}

function decideOne(
  wallet: Wallet,
  entry: Entry,
  known: Known,
  nowMs: number,
  decided: Decided,
): void {
  switch (entry.message) {
    case 'hold': {
      const reply = hold(wallet, entry.payload, known);
      // A key that memory has for taken may have been freed by others, too.
      if (reply.status !== 'held') decided.needsProof = true;
      if (
        reply.status === 'insufficient' ||
        reply.status === 'over_limit' ||
        reply.status === 'not_allowed'
      ) {
        const { holdId } = entry.payload;
        decided.refused.push(operation.hold(holdId), operation.end(holdId));
      }
      decided.replies.push(() => entry.reply(reply));
      return;
    }
    case 'extend': {
      const reply = extend(wallet, entry.payload, known);
      if (reply.status === 'insufficient') decided.needsProof = true;
      decided.replies.push(() => entry.reply(reply));
      return;
    }
    case 'reduce': {
      const reply = reduce(wallet, entry.payload);
      decided.replies.push(() => entry.reply(reply));
      return;
    }
    case 'settle': {
      const reply = settle(wallet, entry.payload, known);
      decided.replies.push(() => entry.reply(reply));
      return;
    }
    case 'release': {
      const reply = release(wallet, entry.payload, nowMs, known);
      decided.replies.push(() => entry.reply(reply));
      return;
    }
    case 'grant': {
      const reply = grant(wallet, entry.payload, known, nowMs);
      if (reply.status === 'too_much') {
        decided.needsProof = true;
        decided.refused.push(entry.payload.operationId);
      }
      decided.replies.push(() => entry.reply(reply));
      return;
    }
    case 'reverse':
    case 'restore':
    case 'collect':
      moveBought(wallet, entry, known, nowMs, decided);
      return;
    case 'revoke':
    case 'debit':
      takeBack(wallet, entry, known, decided);
      return;
    case 'look':
    case 'balance': {
      decided.needsProof = true;
      tellStanding(wallet, entry, nowMs, decided);
      return;
    }
  }
}

function tellStanding(
  wallet: Wallet,
  entry: Extract<Entry, { message: 'look' | 'balance' }>,
  nowMs: number,
  decided: Decided,
): void {
  if (entry.message === 'look') {
    const reply = look(wallet, entry.payload, nowMs);
    decided.replies.push(() => entry.reply(reply));
    return;
  }
  const reply = balance(wallet);
  decided.replies.push(() => entry.reply(reply));
}

function moveBought(
  wallet: Wallet,
  entry: Extract<Entry, { message: 'reverse' | 'restore' | 'collect' }>,
  known: Known,
  nowMs: number,
  decided: Decided,
): void {
  switch (entry.message) {
    case 'reverse': {
      const reply = reverse(wallet, entry.payload, known);
      decided.replies.push(() => entry.reply(reply));
      return;
    }
    case 'restore': {
      const reply = restore(wallet, entry.payload, known, nowMs);
      if (reply.status === 'too_much') decided.needsProof = true;
      decided.replies.push(() => entry.reply(reply));
      return;
    }
    case 'collect': {
      const reply = collect(wallet, entry.payload, known);
      // It may be of nothing.
      decided.needsProof = true;
      decided.replies.push(() => entry.reply(reply));
      return;
    }
  }
}

function takeBack(
  wallet: Wallet,
  entry: Extract<Entry, { message: 'revoke' | 'debit' }>,
  known: Known,
  decided: Decided,
): void {
  if (entry.message === 'revoke') {
    const reply = revoke(wallet, entry.payload, known);
    decided.replies.push(() => entry.reply(reply));
    return;
  }
  const reply = debit(wallet, entry.payload, known);
  decided.needsProof = true;
  decided.replies.push(() => entry.reply(reply));
}

/**
 * A statement cannot update a row that it inserts: an end that overtook the answer to its own hold
 * waits for the next write, and so does what its owner has used.
 */
function endsClaimOfThisBatch(wallet: Wallet, entry: Entry): boolean {
  const { message, payload } = entry;
  if (message !== 'settle' && message !== 'release' && message !== 'reduce') return false;
  const { claimed } = wallet.changes;
  if (claimed.has(payload.holdId)) return true;
  return 'finish' in payload && payload.finish !== null && claimed.has(payload.finish.id);
}

/** Amounts are not negative, and a provider is owed no more than is charged. */
export function isWellFormed(entry: Entry): boolean {
  switch (entry.message) {
    case 'hold':
      return entry.payload.amountMicros >= 0n && Number.isFinite(entry.payload.expiresAtMs);
    case 'extend': {
      const { step, amountMicros, minimumMicros } = entry.payload;
      const isStep = Number.isSafeInteger(step) && step > 0;
      return isStep && minimumMicros >= 0n && amountMicros >= minimumMicros;
    }
    case 'reduce': {
      const { step, keepMicros, checkpoint } = entry.payload;
      return Number.isSafeInteger(step) && keepMicros >= checkpoint.dueMicros;
    }
    case 'settle': {
      const { chargeMicros, providerCostMicros } = entry.payload;
      return providerCostMicros >= 0n && chargeMicros >= providerCostMicros;
    }
    case 'grant':
    case 'debit':
      return entry.payload.amountMicros > 0n;
    case 'reverse':
    case 'restore': {
      const { step, amountMicros } = entry.payload;
      return Number.isSafeInteger(step) && step > 0 && amountMicros > 0n;
    }
    default:
      return true;
  }
}

export function unavailableReply(entry: Entry): void {
  // Every message has this reply; that is more than the compiler works out of so many.
  (entry.reply as (value: { status: 'unavailable' }) => void)({ status: 'unavailable' });
}

export function missingReply(entry: Entry): void {
  switch (entry.message) {
    case 'extend':
    case 'reduce':
      entry.reply({ status: 'hold_not_active' });
      return;
    case 'settle':
      entry.reply({ status: 'hold_unknown' });
      return;
    case 'release':
      entry.reply({ status: 'not_active' });
      return;
    default:
      // As above: each of the others has this reply.
      (entry.reply as (value: { status: 'wallet_not_found' }) => void)({
        status: 'wallet_not_found',
      });
  }
}
