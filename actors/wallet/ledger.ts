// The rules of money: hold, extend, reduce, settle, release, grant. Pure decisions on a wallet in
// memory. What that alone cannot know (a hold that ended long ago, a key that is taken) is handed
// in as `known`; the engine looks it up and decides again.
import { createHash } from 'node:crypto';
import type { ClaimHolder } from '../../db/claims.ts';
import { type CreditedRow, creditPartOf } from '../../db/ledger/credits.ts';
import type { Spender } from '../../db/spend/rows.ts';
import type { EntryRow, HoldRow } from '../../db/wallets.ts';
import { barOf } from './caps.ts';
import { countsOf, countsOfHold, move, tightestOf } from './counters.ts';
import { changeOf, openDebt, payDebt } from './debts.ts';
import {
  addGrant,
  addHold,
  dropHold,
  type EndedHold,
  earmark,
  lesser,
  post,
  resolveLegs,
  spendFree,
  touchHold,
  unearmark,
  type Wallet,
} from './funds.ts';
import type { OwnerEnd } from './holder.ts';
import type {
  Claim,
  CreditOwner,
  ExtendReply,
  ExtendRequest,
  Finish,
  GrantReply,
  GrantRequest,
  HoldReply,
  HoldRequest,
  ReduceReply,
  ReduceRequest,
  ReleaseReply,
  ReleaseRequest,
  SettleReply,
  SettleRequest,
} from './protocol.ts';
import { capOf, leastOf, withinCaps } from './standing.ts';

/** Facts from outside the wallet's memory. */
export interface Known {
  /** Journal entries by operation id, of operations that were asked about. */
  entries: Map<string, EntryRow>;
  /** Who has an idempotency key, by `claimKey`. */
  holders: Map<string, KeyHolder>;
  /** Generations that were begun under a key which is not theirs any more. */
  superseded: Set<string>;
  /** Operation ids that are taken, though not by this wallet's journal. */
  taken: Set<string>;
  /** Owners whose end comes from who was replaced (`Fence`). */
  replaced: Set<string>;
}

/** Whether its key may be taken from it, and whether that is for its age alone. */
type KeyHolder = Pick<ClaimHolder, 'generationId' | 'free' | 'old'>;

export function nothingKnown(): Known {
  return {
    entries: new Map(),
    holders: new Map(),
    superseded: new Set(),
    taken: new Set(),
    replaced: new Set(),
  };
}

/** Names an idempotency key with its scope. Null: the claim has no key. */
export function claimKey(
  claim: Pick<Claim, 'accountId' | 'route' | 'idempotencyKey'>,
): string | null {
  const { accountId, route, idempotencyKey = null } = claim;
  return idempotencyKey === null ? null : `${accountId}\n${route}\n${idempotencyKey}`;
}

/** Operation ids: what makes doing something twice a violation of the journal's primary key. */
export const operation = {
  hold: (holdId: string) => `${holdId}.hold`,
  extend: (holdId: string, step: number) => `${holdId}.x${step}`,
  reduce: (holdId: string, step: number) => `${holdId}.r${step}`,
  end: (holdId: string) => `${holdId}.end`,
  late: (holdId: string) => `${holdId}.late`,
  revoke: (grantId: string) => `${grantId}.revoke`,
  paid: (purchaseId: string) => `${purchaseId}.paid`,
  reversal: (purchaseId: string, step: number) => `${purchaseId}.rev.${step}`,
  isOfPurchase: (operationId: string, purchaseId: string) =>
    operationId.startsWith(`${purchaseId}.`),
};

/** Earmarks funds, and makes the owner's row in the same write. */
export function hold(wallet: Wallet, request: HoldRequest, known: Known): HoldReply {
  const { holdId, amountMicros, claim } = request;
  const { counters } = wallet;
  const spender = spenderOf(claim);
  const counts = countsOf(counters, spender, holdId);
  const cap = tightestOf(counts);
  const availableMicros = leastOf(wallet, cap);
  const current = wallet.holds.get(holdId);
  if (current !== undefined) {
    confirm(wallet, current);
    return heldReply(wallet, availableMicros);
  }
  const end = endOf(wallet, holdId, known);
  if (end !== null) {
    // The id is used up: what it held was given back, so it must not be told to be held.
    return end.kind === 'settled' ? heldReply(wallet, availableMicros) : { status: 'unavailable' };
  }
  const holder = claim === null ? null : keyHolder(wallet, claim, known);
  if (holder !== null && !holder.free) {
    return { status: 'duplicate', generationId: holder.generationId };
  }
  const bar = barOf(counters?.organization ?? null, spender);
  if (bar !== null) return { status: 'not_allowed', reason: bar };
  if (hasEnough(wallet, request)) return { status: 'too_many' };
  const told = { requiredMicros: amountMicros, availableMicros };
  if (cap !== null && amountMicros > cap.leftMicros) {
    return { status: 'over_limit', ...told, cap: capOf(cap) };
  }
  if (amountMicros > availableMicros) return { status: 'insufficient', ...told };
  addNewHold(wallet, request);
  if (holder !== null) wallet.changes.owned.set('freed_keys', holder.generationId, holder);
  if (claim !== null) addClaim(wallet, claim, request);
  if (spender !== null) counters?.spenders.set(holdId, spender);
  move(counters, wallet.changes.owned, counts, { heldMicros: amountMicros });
  return heldReply(wallet, availableMicros - amountMicros);
}

/** A claim says for whom it is. */
function spenderOf(claim: Claim | null): Spender | null {
  return claim === null ? null : { accountId: claim.accountId, apiKeyId: claim.apiKeyId };
}

/** The reply says whose wallet pays. */
function heldReply({ counters }: Wallet, availableMicros: bigint): HoldReply {
  const reply = { status: 'held', availableMicros } as const;
  return (counters?.organization ?? null) === null ? reply : { ...reply, isOrganization: true };
}

function addNewHold(wallet: Wallet, request: HoldRequest): void {
  const { holdId, amountMicros, owner, claim } = request;
  const legs = earmark(wallet, [], amountMicros);
  post(wallet, operation.hold(holdId), 'hold', {
    walletMicros: -amountMicros,
    heldMicros: amountMicros,
  });
  addHold(wallet, {
    id: holdId,
    amountMicros,
    legs,
    ownerKind: owner.kind,
    ownerId: owner.id,
    instanceId: owner.instanceId,
    claimed: claim !== null,
    attempt: wallet.nonce,
    step: 0,
    stepMicros: 0n,
    expiresAtMs: request.expiresAtMs,
    expired: false,
  });
}

/** Whether owners of its kind hold as often as the request allows. */
function hasEnough(wallet: Wallet, { owner, activeMax }: HoldRequest): boolean {
  // Counting reads every hold, so it is left out where there are too few of all kinds.
  if (activeMax === undefined || wallet.holds.size < activeMax) return false;
  let count = 0;
  for (const { ownerKind: kind } of wallet.holds.values()) if (kind === owner.kind) count += 1;
  return count >= activeMax;
}

/** A caller that asks again was in doubt: whoever else doubts this hold must not release it now. */
function confirm(wallet: Wallet, current: HoldRow): void {
  if (current.attempt === wallet.nonce) return;
  current.attempt = wallet.nonce;
  touchHold(wallet, current);
}

/** The generation that has the claim's key, and whether the key may be taken from it. */
function keyHolder(wallet: Wallet, claim: Claim, known: Known): KeyHolder | null {
  const key = claimKey(claim);
  if (key === null) return null;
  const generationId = wallet.runningByKey.get(key);
  if (generationId !== undefined) return { generationId, free: false, old: false };
  return known.holders.get(key) ?? null;
}

function addClaim(wallet: Wallet, claim: Claim, { holdId, owner }: HoldRequest): void {
  const { changes } = wallet;
  const { instanceId } = owner;
  wallet.holders.of(owner.kind).claim(changes.owned, claim, { holdId, instanceId });
  changes.claimed.add(holdId).add(claim.id);
  const key = claimKey(claim);
  if (key === null) return;
  wallet.runningByKey.set(key, claim.id);
  wallet.keyByRunning.set(claim.id, key);
}

/** Adds to an active hold, as far as funds go. */
export function extend(wallet: Wallet, request: ExtendRequest, known: Known): ExtendReply {
  const current = wallet.holds.get(request.holdId);
  if (current?.step === request.step) {
    return { status: 'extended', addedMicros: current.stepMicros };
  }
  const entry = known.entries.get(operation.extend(request.holdId, request.step));
  if (entry !== undefined) return { status: 'extended', addedMicros: entry.legs.heldMicros };
  if (current === undefined || current.expired || request.step < current.step) {
    return { status: 'hold_not_active' };
  }
  const { counters } = wallet;
  const counts = countsOfHold(counters, current.id);
  const bar = barOf(counters?.organization ?? null, counters?.spenders.get(current.id) ?? null);
  const availableMicros = bar === null ? leastOf(wallet, tightestOf(counts)) : 0n;
  if (request.minimumMicros > availableMicros) return { status: 'insufficient', availableMicros };
  const addedMicros = lesser(request.amountMicros, availableMicros);
  current.legs = earmark(wallet, current.legs, addedMicros);
  current.amountMicros += addedMicros;
  current.step = request.step;
  current.stepMicros = addedMicros;
  current.expiresAtMs = Math.max(current.expiresAtMs, request.expiresAtMs);
  post(wallet, operation.extend(request.holdId, request.step), 'extend', {
    walletMicros: -addedMicros,
    heldMicros: addedMicros,
  });
  move(wallet.counters, wallet.changes.owned, counts, { heldMicros: addedMicros });
  touchHold(wallet, current);
  return { status: 'extended', addedMicros };
}

/** Gives back what an active hold has beyond what is kept: its owner cannot come to owe it. */
export function reduce(wallet: Wallet, request: ReduceRequest): ReduceReply {
  const { holdId, step, keepMicros } = request;
  const current = wallet.holds.get(holdId);
  if (current === undefined || current.expired) return { status: 'hold_not_active' };
  const slackMicros = current.amountMicros - keepMicros;
  if (step <= current.step || slackMicros <= 0n) return { status: 'reduced' };
  const back = unearmark(wallet, current.legs, slackMicros);
  current.legs = back.legs;
  current.amountMicros = keepMicros;
  current.step = step;
  current.stepMicros = 0n;
  post(wallet, operation.reduce(holdId, step), 'reduce', {
    heldMicros: -slackMicros,
    walletMicros: back.returnedMicros,
    promotionMicros: back.expiredMicros,
  });
  const counts = countsOfHold(wallet.counters, holdId);
  move(wallet.counters, wallet.changes.owned, counts, { heldMicros: -slackMicros });
  touchHold(wallet, current);
  if (current.claimed) {
    wallet.holders.of(current.ownerKind).note?.(wallet.changes.owned, request.checkpoint);
  }
  return { status: 'reduced' };
}

/**
 * Charges: from the hold, then from what is available and caps leave; what is still missing is a
 * shortfall.
 */
export function settle(wallet: Wallet, request: SettleRequest, known: Known): SettleReply {
  const { holdId, chargeMicros } = request;
  if (known.replaced.has(request.finish?.id ?? '')) return { status: 'superseded' };
  const current = wallet.holds.get(holdId);
  if (current === undefined) return settleEnded(wallet, request, known);
  const earmarked = lesser(chargeMicros, current.amountMicros);
  const slack = resolveLegs(wallet, current.legs, earmarked);
  const counts = countsOfHold(wallet.counters, holdId);
  const overMicros = spendFree(wallet, withinCaps(chargeMicros - earmarked, counts));
  const shortfallMicros = chargeMicros - earmarked - overMicros;
  const late = current.expired;
  post(wallet, late ? operation.late(holdId) : operation.end(holdId), late ? 'late' : 'settle', {
    heldMicros: -current.amountMicros,
    walletMicros: slack.returnedMicros - overMicros,
    promotionMicros: slack.expiredMicros,
    revenueMicros: chargeMicros - request.providerCostMicros,
    providerCostMicros: request.providerCostMicros,
    shortfallMicros: -shortfallMicros,
  });
  move(wallet.counters, wallet.changes.owned, counts, {
    spentMicros: earmarked + overMicros,
    heldMicros: -current.amountMicros,
  });
  dropHold(wallet, current, { kind: 'settled', chargedMicros: chargeMicros, shortfallMicros });
  finish(wallet, request.finish, { current, chargeMicros, late, reason: null });
  return { status: 'settled', chargedMicros: chargeMicros, shortfallMicros };
}

/** A hold that is gone: repeated, or released because it expired or its process was given up. */
function settleEnded(wallet: Wallet, request: SettleRequest, known: Known): SettleReply {
  const { holdId, chargeMicros } = request;
  const end = endOf(wallet, holdId, known);
  if (end === null) return { status: 'hold_unknown' };
  if (end.kind === 'settled') {
    const { chargedMicros, shortfallMicros } = end;
    return { status: 'settled', chargedMicros, shortfallMicros };
  }
  if (!wasGivenUp(end)) return { status: 'hold_unknown' };
  // The key was run again, and who has it pays once.
  if (known.superseded.has(request.finish?.id ?? '')) return { status: 'superseded' };
  const { counters } = wallet;
  const counts = countsOf(counters, request.spender, holdId);
  // An organization takes nothing that it does not count.
  const isNobodys = (counters?.organization ?? null) !== null && counts.length === 0;
  const takenMicros = isNobodys ? 0n : spendFree(wallet, withinCaps(chargeMicros, counts));
  move(wallet.counters, wallet.changes.owned, counts, { spentMicros: takenMicros });
  const shortfallMicros = chargeMicros - takenMicros;
  post(wallet, operation.late(holdId), 'late', {
    walletMicros: -takenMicros,
    revenueMicros: chargeMicros - request.providerCostMicros,
    providerCostMicros: request.providerCostMicros,
    shortfallMicros: -shortfallMicros,
  });
  wallet.ended.set(holdId, { kind: 'settled', chargedMicros: chargeMicros, shortfallMicros });
  finish(wallet, request.finish, { current: null, chargeMicros, late: true, reason: null });
  return { status: 'settled', chargedMicros: chargeMicros, shortfallMicros };
}

/** Released without its owner, which may still come to its end. */
export function wasGivenUp(end: EndedHold): boolean {
  return end.kind === 'released' && (end.reason === 'expired' || end.reason === 'recovered');
}

/** Gives everything back. One that expires stays, with nothing in it, until its owner ends. */
export function release(
  wallet: Wallet,
  request: ReleaseRequest,
  nowMs: number,
  known: Pick<Known, 'replaced'> = { replaced: new Set() },
): ReleaseReply {
  const { reason } = request;
  if (known.replaced.has(request.finish?.id ?? '')) return { status: 'superseded' };
  const current = wallet.holds.get(request.holdId);
  if (current === undefined) {
    finish(wallet, request.finish, { current: null, chargeMicros: null, late: false, reason });
    return { status: 'not_active' };
  }
  const expiring = reason === 'expired' && request.finish === null;
  if (expiring && (current.expired || current.expiresAtMs > nowMs)) return { status: 'not_active' };
  const wasActive = !current.expired;
  if (wasActive) giveBack(wallet, current, reason);
  if (expiring && current.claimed) {
    current.expired = true;
    touchHold(wallet, current);
    return { status: 'released' };
  }
  dropHold(wallet, current, {
    kind: 'released',
    reason: wasActive ? reason : 'expired',
  });
  finish(wallet, request.finish, { current, chargeMicros: null, late: false, reason });
  return { status: wasActive ? 'released' : 'not_active' };
}

function giveBack(wallet: Wallet, current: HoldRow, reason: string): void {
  const back = resolveLegs(wallet, current.legs, 0n);
  post(
    wallet,
    operation.end(current.id),
    'release',
    {
      heldMicros: -current.amountMicros,
      walletMicros: back.returnedMicros,
      promotionMicros: back.expiredMicros,
    },
    reason,
  );
  const counts = countsOfHold(wallet.counters, current.id);
  move(wallet.counters, wallet.changes.owned, counts, { heldMicros: -current.amountMicros });
  current.amountMicros = 0n;
  current.legs = [];
}

/** The end of a claimed hold is always the end of its owner, with or without a word of its own. */
function finish(wallet: Wallet, given: Finish | null, end: OwnerEnd): void {
  const { current } = end;
  const id = given?.id ?? (current?.claimed === true ? current.ownerId : null);
  const kind = current?.ownerKind ?? given?.kind;
  if (id === null || kind === undefined) return;
  const key = wallet.keyByRunning.get(id);
  if (key !== undefined) {
    wallet.keyByRunning.delete(id);
    wallet.runningByKey.delete(key);
  }
  wallet.holders.of(kind).finish(wallet.changes.owned, id, given, end);
}

/** The same operation always makes the same grant. */
export function grantIdOf(operationId: string): string {
  return `grant_${createHash('sha256').update(operationId).digest('hex').slice(0, 24)}`;
}

/** What a wallet holds is told as a JSON integer. */
export const balanceMicrosMax = BigInt(Number.MAX_SAFE_INTEGER);

/** Credits the wallet, unless it would hold more than can be told. Purchases pay debt first. */
export function grant(
  wallet: Wallet,
  request: GrantRequest,
  known: Known,
  nowMs: number,
): GrantReply {
  const { operationId, kind, amountMicros, owner } = request;
  const grantId = grantIdOf(operationId);
  const done =
    entryOf(wallet, operationId, known) !== null ||
    wallet.grants.some((other) => other.operationId === operationId);
  if (!done) {
    const { walletMicros, heldMicros } = wallet.balances;
    const dueMicros = kind === 'purchase' ? lesser(amountMicros, openDebt(wallet)) : 0n;
    if (walletMicros + heldMicros + amountMicros - dueMicros > balanceMicrosMax) {
      return { status: 'too_much' };
    }
    payDebt(wallet, dueMicros, owner?.id ?? null);
    addGrant(wallet, {
      id: grantId,
      operationId,
      kind,
      note: request.note,
      amountMicros,
      remainingMicros: amountMicros - dueMicros,
      heldMicros: 0n,
      expiresAtMs: kind === 'promotion' ? request.expiresAtMs : null,
      expired: false,
      createdAtMs: nowMs,
    });
    post(wallet, operationId, 'grant', {
      walletMicros: amountMicros - dueMicros,
      shortfallMicros: dueMicros,
      [kind === 'promotion' ? 'promotionMicros' : 'purchaseMicros']: -amountMicros,
    });
    if (owner !== undefined) credit(wallet, owner, grantId, amountMicros);
  }
  return { status: 'granted', grantId, availableMicros: wallet.balances.walletMicros };
}

/** The owner's row says in the same write that it has its credits. */
function credit(wallet: Wallet, owner: CreditOwner, grantId: string, amountMicros: bigint): void {
  const { id, kind } = owner;
  if (kind === 'purchase') changeOf(wallet, id).isCredited = true;
  else {
    const row: CreditedRow = { id, grantId, amountMicros };
    wallet.changes.owned.set(creditPartOf(kind), id, row);
  }
}

/** An operation that is done: as the journal has it, or in this batch. Null: it is not known. */
export function entryOf(wallet: Wallet, operationId: string, known: Known): EntryRow | null {
  return (
    known.entries.get(operationId) ??
    wallet.changes.entries.find((entry) => entry.operationId === operationId) ??
    null
  );
}

/** How a hold ended, from memory or from the journal; null: it is not known to have existed. */
export function endOf(wallet: Wallet, holdId: string, known: Known): EndedHold | null {
  const remembered = wallet.ended.get(holdId);
  if (remembered !== undefined) return remembered;
  const entry =
    known.entries.get(operation.late(holdId)) ?? known.entries.get(operation.end(holdId));
  if (entry === undefined) return null;
  if (entry.kind === 'release') return { kind: 'released', reason: entry.reason ?? 'failed' };
  return {
    kind: 'settled',
    chargedMicros: entry.legs.revenueMicros + entry.legs.providerCostMicros,
    shortfallMicros: -entry.legs.shortfallMicros,
  };
}
