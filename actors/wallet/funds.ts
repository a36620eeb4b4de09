// A wallet in memory: its grants in spending order, its holds, and what changed since the last
// write. Pure: no SQL, no clock. Everything here changes the wallet in place; a batch that could
// not be written is not undone, its wallet is thrown away and loaded again.
import assert from 'node:assert/strict';
import { emptyWrite, type WalletWrite } from '../../db/ledger/write.ts';
import type {
  DebtRow,
  EntryRow,
  GrantKind,
  GrantRow,
  HoldLeg,
  HoldRow,
  Legs,
  WalletRow,
  Watched,
} from '../../db/wallets.ts';
import { RecentMap, TransientMap } from '../../runtime/transient.ts';
import { type Counters, openCounters } from './counters.ts';
import { type Holders, OwnedChanges } from './holder.ts';

/** How a hold ended: the answer to whoever ends it again. */
export type EndedHold =
  | { kind: 'settled'; chargedMicros: bigint; shortfallMicros: bigint }
  | { kind: 'released'; reason: string };

export interface Wallet {
  readonly id: string;
  readonly holders: Holders;
  /** Unlike that of any other memory of this wallet, in any process. */
  readonly nonce: bigint;
  /** That of the row, once all that was written is applied. */
  version: bigint;
  /** How many versions this memory has made. */
  versions: bigint;
  readonly balances: Legs;
  /** Promotions by earliest expiry, then purchases, each oldest first. */
  readonly grants: GrantRow[];
  /** What purchases owe, the oldest first: an id tells when it was made. */
  readonly debts: DebtRow[];
  /** Null: nobody wants to be told that it has little. */
  readonly watched: Watched | null;
  readonly holds: TransientMap<string, HoldRow>;
  /** Holds that ended lately, so that a repetition needs no look at the journal. */
  readonly ended: RecentMap<string, EndedHold>;
  /** Entries of reversals that were decided here lately: their writes may be on their way. */
  readonly reversals: RecentMap<string, EntryRow>;
  /** Which owner has an idempotency key, of those that were claimed here and still run. */
  readonly runningByKey: TransientMap<string, string>;
  readonly keyByRunning: TransientMap<string, string>;
  /** Null: nothing of it has a cap. */
  readonly counters: Counters | null;
  changes: Changes;
}

interface Changes {
  entries: EntryRow[];
  newHolds: Set<string>;
  changedHolds: Set<string>;
  endedHolds: Set<string>;
  newGrants: Set<GrantRow>;
  changedGrants: Set<GrantRow>;
  /** Ids of owners that are made, and of their holds: a statement cannot end what it makes. */
  claimed: Set<string>;
  owned: OwnedChanges;
}

/** More than a batch can end, so that what one batch ended is still known inside it. */
const ENDED_MIN = 2_048;

/** Odd, so that no name comes twice, and large: one more than a name is not the next one. */
const VERSION_STRIDE = 0x9e37_79b9_7f4a_7c15n;

export function noLegs(): Legs {
  return {
    walletMicros: 0n,
    heldMicros: 0n,
    revenueMicros: 0n,
    providerCostMicros: 0n,
    promotionMicros: 0n,
    purchaseMicros: 0n,
    shortfallMicros: 0n,
  };
}

const legNames = Object.keys(noLegs()) as (keyof Legs)[];

/** A wallet as it was loaded. The row is taken over. */
export function openWallet(row: WalletRow, nonce: bigint, holders: Holders): Wallet {
  return {
    id: row.id,
    holders,
    nonce,
    version: row.version,
    versions: 0n,
    balances: row.balances,
    grants: row.grants.sort(bySpendingOrder),
    watched: row.watched ?? null,
    debts: row.debts.sort((a, b) => (a.purchaseId < b.purchaseId ? -1 : 1)),
    holds: new TransientMap(row.holds.map((hold) => [hold.id, hold])),
    ended: new RecentMap(ENDED_MIN),
    reversals: new RecentMap(ENDED_MIN),
    runningByKey: new TransientMap(),
    keyByRunning: new TransientMap(),
    counters: openCounters(row.id, row.counters ?? null),
    changes: noChanges(),
  };
}

function noChanges(): Changes {
  return {
    entries: [],
    newHolds: new Set(),
    changedHolds: new Set(),
    endedHolds: new Set(),
    newGrants: new Set(),
    changedGrants: new Set(),
    claimed: new Set(),
    owned: new OwnedChanges(),
  };
}

/** decisions.md, section 6: promotions by earliest expiry, then purchases, oldest first. */
export function bySpendingOrder(a: GrantRow, b: GrantRow): number {
  if (a.kind !== b.kind) return a.kind === 'promotion' ? -1 : 1;
  const expiry = (a.expiresAtMs ?? Number.MAX_VALUE) - (b.expiresAtMs ?? Number.MAX_VALUE);
  if (expiry !== 0) return expiry;
  if (a.createdAtMs !== b.createdAtMs) return a.createdAtMs - b.createdAtMs;
  return a.id < b.id ? -1 : 1;
}

/** `Math.min` for bigint. */
export function lesser(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

/** Adds one operation to the journal and moves the balances by its legs, which sum to zero. */
export function post(
  wallet: Wallet,
  operationId: string,
  kind: EntryRow['kind'],
  legs: Partial<Legs>,
  reason: string | null = null,
): EntryRow {
  const full = noLegs();
  const { balances } = wallet;
  let sum = 0n;
  for (const name of legNames) {
    const micros = legs[name];
    // Most are; adding them is most of what this would take.
    if (micros === undefined || micros === 0n) continue;
    full[name] = micros;
    sum += micros;
    balances[name] += micros;
  }
  assert.equal(sum, 0n, 'the legs of an operation sum to zero');
  assert.ok(balances.walletMicros >= 0n && balances.heldMicros >= 0n, 'never negative');
  const entry = { operationId, kind, reason, legs: full };
  wallet.changes.entries.push(entry);
  return entry;
}

/** Earmarks free funds in spending order, beside what is earmarked; there must be enough. */
export function earmark(wallet: Wallet, before: HoldLeg[], amountMicros: bigint): HoldLeg[] {
  const legs = before.map((leg) => ({ ...leg }));
  let missing = amountMicros;
  for (const grant of wallet.grants) {
    if (missing === 0n) break;
    const free = freeOf(grant);
    if (free <= 0n) continue;
    const micros = lesser(free, missing);
    grant.heldMicros += micros;
    touchGrant(wallet, grant);
    const leg = legs.find((other) => other.grantId === grant.id);
    if (leg === undefined) legs.push({ grantId: grant.id, micros });
    else leg.micros += micros;
    missing -= micros;
  }
  assert.equal(missing, 0n, 'available is the sum of what grants have free');
  if (before.length === 0) return legs;
  const position = (leg: HoldLeg): number =>
    wallet.grants.findIndex((grant) => grant.id === leg.grantId);
  return legs.sort((a, b) => position(a) - position(b));
}

/** Takes `micros` off what is earmarked, the last to be spent first; returns what is left of it. */
export function unearmark(
  wallet: Wallet,
  before: readonly HoldLeg[],
  micros: bigint,
): { legs: HoldLeg[]; returnedMicros: bigint; expiredMicros: bigint } {
  const legs: HoldLeg[] = [];
  const given: HoldLeg[] = [];
  let toKeep = before.reduce((sum, leg) => sum + leg.micros, -micros);
  for (const { grantId, micros: earmarked } of before) {
    const kept = lesser(earmarked, toKeep);
    toKeep -= kept;
    if (kept > 0n) legs.push({ grantId, micros: kept });
    if (kept < earmarked) given.push({ grantId, micros: earmarked - kept });
  }
  return { legs, ...resolveLegs(wallet, given, 0n) };
}

/** Takes free funds in spending order, as far as they go; returns how much that was. */
export function spendFree(wallet: Wallet, amountMicros: bigint): bigint {
  return takeFree(wallet, wallet.grants, amountMicros);
}

/** Takes what these grants have free, in their order; returns how much that was. */
export function takeFree(
  wallet: Wallet,
  grants: readonly GrantRow[],
  amountMicros: bigint,
): bigint {
  let missing = amountMicros;
  for (const grant of grants) {
    if (missing === 0n) break;
    const free = freeOf(grant);
    if (free <= 0n) continue;
    const micros = lesser(free, missing);
    grant.remainingMicros -= micros;
    touchGrant(wallet, grant);
    missing -= micros;
  }
  dropSpent(wallet);
  return amountMicros - missing;
}

/**
 * Takes `spentMicros` from what is earmarked, in order, and gives the rest back to its grants.
 * What goes back to an expired grant is expired at once.
 */
export function resolveLegs(
  wallet: Wallet,
  legs: readonly HoldLeg[],
  spentMicros: bigint,
): { returnedMicros: bigint; expiredMicros: bigint } {
  let toSpend = spentMicros;
  let returnedMicros = 0n;
  let expiredMicros = 0n;
  for (const leg of legs) {
    const grant = wallet.grants.find((candidate) => candidate.id === leg.grantId);
    assert.ok(grant !== undefined, 'a hold earmarks grants that are not spent');
    const spent = lesser(leg.micros, toSpend);
    const slack = leg.micros - spent;
    toSpend -= spent;
    grant.heldMicros -= leg.micros;
    grant.remainingMicros -= grant.expired ? leg.micros : spent;
    if (grant.expired) expiredMicros += slack;
    else returnedMicros += slack;
    touchGrant(wallet, grant);
  }
  assert.equal(toSpend, 0n, 'no more is spent than is earmarked');
  dropSpent(wallet);
  return { returnedMicros, expiredMicros };
}

/** Takes back the free part of every grant whose time has come: each at most once. */
export function expireGrants(wallet: Wallet, nowMs: number): void {
  for (const grant of wallet.grants) {
    if (grant.expired || grant.expiresAtMs === null || grant.expiresAtMs > nowMs) continue;
    const free = closeGrant(wallet, grant);
    if (free === 0n) continue;
    post(wallet, `${grant.id}.expire`, 'expire', { walletMicros: -free, promotionMicros: free });
  }
  dropSpent(wallet);
}

/**
 * Takes back what a promotion has free; what returns to it later is taken back at once, as of one
 * that expired. Nothing of one that is spent.
 */
export function withdrawGrant(wallet: Wallet, grantId: string): bigint {
  const grant = wallet.grants.find(({ id }) => id === grantId);
  if (grant === undefined) return 0n;
  assert.equal(grant.kind, 'promotion', 'what was bought is not taken back');
  const free = closeGrant(wallet, grant);
  dropSpent(wallet);
  return free;
}

/** Nothing is free in it any more; returns what was. The caller posts that. */
function closeGrant(wallet: Wallet, grant: GrantRow): bigint {
  const free = freeOf(grant);
  grant.expired = true;
  grant.remainingMicros -= free;
  touchGrant(wallet, grant);
  return free;
}

/** What promotions have free. */
export function freePromotions({ grants }: Wallet): bigint {
  return grants.reduce(
    (sum, grant) => (grant.kind === 'promotion' ? sum + freeOf(grant) : sum),
    0n,
  );
}

/** Grants of a kind, the newest first: those that are taken back are. */
export function newestFirst({ grants }: Wallet, kind: GrantKind): GrantRow[] {
  return grants
    .filter((grant) => grant.kind === kind)
    .sort((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1));
}

/** Adds a grant; one with nothing left, as debt took it, is written and spent at once. */
export function addGrant(wallet: Wallet, grant: GrantRow): void {
  wallet.changes.newGrants.add(grant);
  if (grant.remainingMicros === 0n) return;
  const index = wallet.grants.findIndex((other) => bySpendingOrder(grant, other) < 0);
  wallet.grants.splice(index === -1 ? wallet.grants.length : index, 0, grant);
}

export function addHold(wallet: Wallet, hold: HoldRow): void {
  wallet.holds.set(hold.id, hold);
  wallet.changes.newHolds.add(hold.id);
}

export function touchHold(wallet: Wallet, hold: HoldRow): void {
  if (!wallet.changes.newHolds.has(hold.id)) wallet.changes.changedHolds.add(hold.id);
}

export function dropHold(wallet: Wallet, hold: HoldRow, end: EndedHold): void {
  const { changes } = wallet;
  wallet.holds.delete(hold.id);
  changes.changedHolds.delete(hold.id);
  if (!changes.newHolds.delete(hold.id)) changes.endedHolds.add(hold.id);
  wallet.counters?.spenders.delete(hold.id);
  wallet.ended.set(hold.id, end);
}

/** What changed since the last time, or null; the wallet is then on its next version. */
export function takeWrite(wallet: Wallet): WalletWrite | null {
  const { changes } = wallet;
  const rows = (ids: Set<string>): HoldRow[] =>
    [...ids].map((id) => {
      const hold = wallet.holds.get(id);
      assert.ok(hold !== undefined, 'a changed hold is active');
      return { ...hold };
    });
  const write: WalletWrite = {
    walletId: wallet.id,
    version: wallet.version,
    nextVersion: nextVersion(wallet),
    balances: { ...wallet.balances },
    entries: changes.entries,
    newHolds: rows(changes.newHolds),
    changedHolds: rows(changes.changedHolds),
    endedHolds: [...changes.endedHolds],
    newGrants: copies(changes.newGrants),
    changedGrants: copies(changes.changedGrants),
    owned: changes.owned.rows(),
  };
  const empty =
    write.entries.length + write.newHolds.length + write.changedHolds.length === 0 &&
    write.endedHolds.length + write.newGrants.length + write.changedGrants.length === 0 &&
    changes.owned.isEmpty;
  if (empty) return null;
  wallet.changes = noChanges();
  wallet.version = write.nextVersion;
  wallet.versions += 1n;
  return write;
}

/**
 * A name for the version that a write makes, unlike any that another memory makes: what is decided
 * on a write that is still on its way can only be applied if that write was.
 */
function nextVersion(wallet: Wallet): bigint {
  return BigInt.asIntN(64, wallet.nonce + (wallet.versions + 1n) * VERSION_STRIDE);
}

/** What the write says stays said while the next batch is decided. */
function copies(grants: Iterable<GrantRow>): GrantRow[] {
  return Array.from(grants, (grant) => ({ ...grant }));
}

/** A write that changes nothing but the version: whatever is still on its way is void after it. */
export function fenceWrite(wallet: Wallet): WalletWrite {
  const { version } = wallet;
  wallet.version = nextVersion(wallet);
  wallet.versions += 1n;
  const balances = { ...wallet.balances };
  return emptyWrite({ walletId: wallet.id, version, nextVersion: wallet.version, balances });
}

function freeOf(grant: GrantRow): bigint {
  return grant.remainingMicros - grant.heldMicros;
}

function touchGrant(wallet: Wallet, grant: GrantRow): void {
  if (!wallet.changes.newGrants.has(grant)) wallet.changes.changedGrants.add(grant);
}

function dropSpent(wallet: Wallet): void {
  const { grants } = wallet;
  for (let index = grants.length - 1; index >= 0; index -= 1) {
    if (grants[index]?.remainingMicros === 0n) grants.splice(index, 1);
  }
}
