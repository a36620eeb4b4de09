// Runs batches of wallet operations: load, decide in order, write once, answer after the commit.
// Memory is a cache: an answer leaves only when the batch's own write, or a fresh load, has proved
// that nobody else changed the wallet. After any failure the cache is thrown away.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditRows } from '../../db/audit-events.ts';
import type { ClaimKey } from '../../db/claims.ts';
import type { WalletWrite } from '../../db/ledger/write.ts';
import type { BatchEntry, Timer } from '../../runtime/actor/contract.ts';
import { type Decided, decideAll, isWellFormed, missingReply, unavailableReply } from './decide.ts';
import { expireGrants, fenceWrite, openWallet, takeWrite, type Wallet } from './funds.ts';
import { claimKey, type Known, nothingKnown, operation, release } from './ledger.ts';
import type { LedgerAccess, WalletDependencies, WriteOutcome } from './ledger-access.ts';
import { createMutex, type Mutex } from './mutex.ts';
import type { WalletProtocol } from './protocol.ts';
import { reversedAs } from './reversal.ts';
import { takenAs } from './revocation.ts';
import { findSuperseded, givenUp } from './superseded.ts';

export type WalletEntry = BatchEntry<WalletProtocol>;

/** What an actor keeps of its wallet. */
export interface WalletMemory {
  readonly id: string;
  /** Null: to be loaded before the next decision. */
  wallet: Wallet | null;
  /** When it was loaded, by `performance.now()`. */
  loadedMs: number;
  /** When it was told last that it has too little, by the same clock. */
  lowToldMs: number;
  /**
   * Holds that may have become durable although their caller was told `unavailable`, with the
   * attempt that made them.
   */
  readonly uncertain: Map<string, bigint>;
  /** The next look at them, if nobody asks before; one at a time. Null: nothing is in doubt. */
  doubt: { sinceMs: number; timer: Timer } | null;
  /** One batch decides at a time; the next may while the write of the one before is on its way. */
  readonly deciding: Mutex;
  /** The last write that is on its way: what it proves, it proves of all before it. */
  landing: Promise<WriteOutcome> | null;
}

export function emptyMemory(id: string): WalletMemory {
  const deciding = createMutex();
  return {
    id,
    wallet: null,
    loadedMs: 0,
    lowToldMs: Number.NEGATIVE_INFINITY,
    uncertain: new Map(),
    doubt: null,
    deciding,
    landing: null,
  };
}

export interface WalletEngine {
  /**
   * Answers every entry. Resolves when the last answer is given; throws only on a bug. Batches may
   * overlap: one is decided while the write of the one before is on its way, on what that makes of
   * the wallet, and its own write is applied only if that one was (`nextVersion` in funds.ts).
   */
  run(memory: WalletMemory, batch: readonly WalletEntry[]): Promise<void>;
}

/** The progress of one batch through its attempts. */
interface Run {
  memory: WalletMemory;
  entries: readonly WalletEntry[];
  known: Known;
  /** Operation ids that the journal was asked about. */
  asked: Set<string>;
}

type Step = 'again' | 'unavailable' | { answered: number };

/** Decided, and its write sent; without one, `landing` is that of the decisions it stands on. */
interface Sent {
  wallet: Wallet;
  decided: Decided;
  write: WalletWrite | null;
  landing: Promise<WriteOutcome>;
  /** Holds in doubt that the write settles, if it is applied. */
  doubted: [holdId: string, attempt: bigint][];
}

export function createWalletEngine(
  dependencies: WalletDependencies,
  ledgerAccess: LedgerAccess,
): WalletEngine {
  return {
    async run(memory, batch) {
      let rest: readonly WalletEntry[] = batch.filter((entry) => {
        if (isWellFormed(entry)) return true;
        dependencies.log.error({ wallet: memory.id, message: entry.message }, 'a malformed amount');
        unavailableReply(entry);
        return false;
      });
      while (rest.length > 0) {
        try {
          rest = rest.slice(await runSome(dependencies, ledgerAccess, memory, rest));
        } catch (error) {
          memory.wallet = null;
          throw error;
        }
      }
    },
  };
}

/** Answers at least the first entry; returns how many it answered. */
async function runSome(
  dependencies: WalletDependencies,
  ledgerAccess: LedgerAccess,
  memory: WalletMemory,
  entries: readonly WalletEntry[],
): Promise<number> {
  const run: Run = { memory, entries, known: nothingKnown(), asked: new Set() };
  for (let attempt = 0; attempt < dependencies.limits.attemptsMax; attempt += 1) {
    // Two actors that keep taking a wallet from each other get out of step.
    if (attempt > 2) await sleep(Math.random() * attempt);
    const leave = await memory.deciding.take();
    let step: Step | Sent;
    try {
      step = await decide(dependencies, ledgerAccess, run);
    } finally {
      leave();
    }
    if (typeof step === 'object' && 'landing' in step) step = await land(ledgerAccess, run, step);
    if (step === 'again') continue;
    if (step === 'unavailable') break;
    return step.answered;
  }
  memory.wallet = null;
  for (const entry of entries) unavailableReply(entry);
  return entries.length;
}

async function decide(
  dependencies: WalletDependencies,
  ledgerAccess: LedgerAccess,
  run: Run,
): Promise<Step | Sent> {
  const { memory, entries, known } = run;
  const fresh = memory.wallet === null;
  if (memory.wallet === null) {
    // What is on its way is over before the wallet is read: else it would be read in vain.
    await memory.landing;
    const loadedMs = performance.now();
    const loaded = await ledgerAccess.load(memory.id);
    if (!loaded.ok) return 'unavailable';
    if (loaded.value === null) {
      for (const entry of entries) missingReply(entry);
      return { answered: entries.length };
    }
    memory.loadedMs = loadedMs;
    memory.wallet = openWallet(loaded.value, randomBytes(8).readBigInt64LE(), ledgerAccess.holders);
  }
  const wallet = memory.wallet;
  askAgain(run);
  const looked = await lookUp(ledgerAccess, run, unknownOperations(wallet, run));
  if (looked === 'unavailable') return looked;
  if (looked === 'found' && isStale(wallet, run)) {
    run.asked.clear();
    known.entries.clear();
    return drop(memory);
  }

  const late = givenUp(wallet, entries, known);
  if (late !== null && !(await findSuperseded(ledgerAccess, wallet, late, known)))
    return 'unavailable';

  const nowMs = dependencies.clock();
  expireGrants(wallet, nowMs);
  const doubted = [...memory.uncertain];
  releaseUncertain(memory, wallet, entries, nowMs);
  const decided = decideAll(wallet, entries, known, nowMs);
  const write = takeWrite(wallet) ?? (memory.uncertain.size > 0 ? fenceWrite(wallet) : null);
  // What is refused may be the repetition of a hold that has ended, of a grant that was spent.
  const refused = await lookUp(ledgerAccess, run, decided.refused);
  if (refused === 'unavailable') return rememberUncertain(memory, null);
  if (refused === 'found') return drop(memory);
  if (write === null) {
    const { landing } = memory;
    if (landing !== null) return { wallet, decided, write, landing, doubted };
    if (!decided.needsProof || fresh) return answer(decided);
    return drop(memory);
  }
  const landing = ledgerAccess.write(write);
  memory.landing = landing;
  return { wallet, decided, write, landing, doubted };
}

/** Waits for the write, and answers or says what is to be done instead. */
async function land(ledgerAccess: LedgerAccess, run: Run, sent: Sent): Promise<Step> {
  const { memory } = run;
  const { wallet, decided, write, landing, doubted } = sent;
  const outcome = await landing.finally(() => {
    if (memory.landing === landing) memory.landing = null;
  });
  if (outcome === 'applied') {
    for (const [holdId, attempt] of doubted) {
      if (memory.uncertain.get(holdId) === attempt) memory.uncertain.delete(holdId);
    }
    return answer(decided);
  }
  // Another batch may have loaded it anew meanwhile.
  if (memory.wallet === wallet) memory.wallet = null;
  if (write === null || outcome === 'conflict') return 'again';
  switch (outcome) {
    case 'unavailable':
      return rememberUncertain(memory, write);
    case 'duplicate':
      return (await lookUpDuplicates(ledgerAccess, run, write)) ? 'again' : 'unavailable';
    case 'refused':
      assert.fail('the database refused what the ledger had decided');
  }
}

function answer(decided: Decided): Step {
  for (const reply of decided.replies) reply();
  return { answered: decided.replies.length };
}

function drop(memory: WalletMemory): 'again' {
  memory.wallet = null;
  return 'again';
}

/** The write may be durable: what it held is released as soon as the database answers. */
function rememberUncertain(memory: WalletMemory, write: WalletWrite | null): 'unavailable' {
  for (const hold of write?.newHolds ?? []) memory.uncertain.set(hold.id, hold.attempt);
  return 'unavailable';
}

function releaseUncertain(
  memory: WalletMemory,
  wallet: Wallet,
  entries: readonly WalletEntry[],
  nowMs: number,
): void {
  if (memory.uncertain.size === 0) return;
  const repeated = new Set(
    entries.map((entry) => (entry.message === 'hold' ? entry.payload.holdId : '')),
  );
  for (const [holdId, attempt] of memory.uncertain) {
    // Made by somebody else since, or told to be held: it is not ours to clear up.
    if (wallet.holds.get(holdId)?.attempt !== attempt || repeated.has(holdId)) continue;
    release(wallet, { holdId, reason: 'failed', finish: null }, nowMs);
  }
}

type HoldEntry = Exclude<WalletEntry, { message: OtherMessage }>;
type ReversingMessage = 'reverse' | 'restore' | 'collect';
type OtherMessage = 'grant' | 'balance' | 'look' | 'revoke' | 'debit' | ReversingMessage;

function isReversing(
  entry: WalletEntry,
): entry is Extract<WalletEntry, { message: ReversingMessage }> {
  const { message } = entry;
  return message === 'reverse' || message === 'restore' || message === 'collect';
}

function isOfHold(entry: WalletEntry): entry is HoldEntry {
  return 'holdId' in (entry.payload ?? {});
}

/**
 * Reversals are looked up after the wallet was read, whoever read it again. What others did before
 * is found; what they did since keeps the write from being applied. Memory does not know what a
 * purchase has reversed, so it cannot refuse to restore it twice.
 */
function askAgain({ entries, asked }: Run): void {
  for (const entry of entries) if (isReversing(entry)) asked.delete(reversedAs(entry.payload));
}

/** Operations that memory does not have: only the journal knows what became of them. */
function unknownOperations(wallet: Wallet, run: Run): string[] {
  const begun = new Set<string>();
  const ids: string[] = [];
  for (const entry of run.entries) {
    if (entry.message === 'revoke' || entry.message === 'debit') {
      ids.push(takenAs(entry.payload));
      continue;
    }
    if (isReversing(entry)) {
      ids.push(reversedAs(entry.payload));
      continue;
    }
    if (!isOfHold(entry)) continue;
    const { holdId } = entry.payload;
    if (entry.message === 'hold') {
      begun.add(holdId);
      continue;
    }
    const current = wallet.holds.get(holdId);
    if (entry.message === 'extend' && (current?.step ?? 0) !== entry.payload.step) {
      const isRepeated = current === undefined || entry.payload.step < current.step;
      if (isRepeated) ids.push(operation.extend(holdId, entry.payload.step));
    }
    if (current !== undefined || wallet.ended.has(holdId) || begun.has(holdId)) continue;
    ids.push(operation.hold(holdId), operation.end(holdId), operation.late(holdId));
  }
  return ids;
}

/** A hold that the journal says is active, and memory does not have. */
function isStale(wallet: Wallet, run: Run): boolean {
  return run.entries.some((entry) => {
    if (!isOfHold(entry)) return false;
    const { holdId } = entry.payload;
    const { entries } = run.known;
    const isHeld = entries.has(operation.hold(holdId)) && !entries.has(operation.end(holdId));
    return isHeld && !wallet.holds.has(holdId) && !wallet.ended.has(holdId);
  });
}

async function lookUp(
  ledgerAccess: LedgerAccess,
  run: Run,
  operationIds: readonly string[],
): Promise<'found' | 'nothing' | 'unavailable'> {
  const ids = operationIds.filter((id) => !run.asked.has(id));
  if (ids.length === 0) return 'nothing';
  const found = await ledgerAccess.findEntries(run.memory.id, ids);
  if (!found.ok) return 'unavailable';
  for (const id of ids) run.asked.add(id);
  for (const [id, entry] of found.value) run.known.entries.set(id, entry);
  return found.value.size > 0 ? 'found' : 'nothing';
}

/** After a unique violation: what of the write exists already, and who has its keys. */
async function lookUpDuplicates(
  ledgerAccess: LedgerAccess,
  run: Run,
  write: WalletWrite,
): Promise<boolean> {
  const ids = write.entries.map((entry) => entry.operationId);
  const ends = write.newHolds.flatMap((hold) => [operation.end(hold.id), operation.late(hold.id)]);
  // Before the journal, which then has those that are this wallet's own.
  const used = await lookUpUsed(ledgerAccess, write);
  if (used === null) return false;
  // Asked before or not: they may have come into being since.
  for (const id of [...ids, ...ends]) run.asked.delete(id);
  if ((await lookUp(ledgerAccess, run, [...ids, ...ends])) === 'unavailable') return false;
  for (const id of used) if (!run.known.entries.has(id)) run.known.taken.add(id);
  const replaced = await ledgerAccess.findReplaced(write);
  if (!replaced.ok) return false;
  for (const id of replaced.value) run.known.replaced.add(id);
  const keys = keysOf(run, write);
  if (keys.length === 0) return true;
  const found = await ledgerAccess.findHolders(keys);
  if (!found.ok) return false;
  for (const key of keys) run.known.holders.delete(claimKey(key) ?? '');
  for (const each of found.value) run.known.holders.set(claimKey(each) ?? '', each);
  return true;
}

/** Which ids of a write's audited operations are in use; null: the database does not say. */
async function lookUpUsed(
  ledgerAccess: LedgerAccess,
  write: WalletWrite,
): Promise<readonly string[] | null> {
  const ids = auditRows(write).flatMap(({ operationId }) => operationId ?? []);
  if (ids.length === 0) return [];
  const found = await ledgerAccess.findUsed(ids);
  return found.ok ? found.value : null;
}

/** The idempotency keys that a write takes. */
function keysOf({ entries }: Run, { newHolds }: WalletWrite): ClaimKey[] {
  const made = new Set(newHolds.map(({ id }) => id));
  return entries.flatMap((entry) => {
    if (entry.message !== 'hold' || !made.has(entry.payload.holdId)) return [];
    const { accountId, route = '', idempotencyKey = null } = entry.payload.claim ?? {};
    if (accountId === undefined || idempotencyKey === null) return [];
    return [{ accountId, route, idempotencyKey }];
  });
}
