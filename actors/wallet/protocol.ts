// Every message of a wallet actor on one screen. Amounts are integers in microcredits (bigint). The
// actor is a batcher in front of a row version and of constraints: two of them are slower, never
// wrong. `unavailable` means that nothing is known to be durable: repeat with the same ids.
import type { NewAuditEvent } from '../../db/audit-events.ts';
import type { CreditKind } from '../../db/ledger/credits.ts';
import type { Spender } from '../../db/spend/rows.ts';
import type { Bar, CapKind } from './caps.ts';

/** Who holds: the thing whose end settles or releases the hold, and the process it runs in. */
export interface HoldOwner {
  /** A kind of holder (`holders.ts`). */
  kind: string;
  id: string;
  instanceId: string;
}

/**
 * Makes the owner's row in the hold's transaction, and takes its idempotency key if it has one. The
 * owner's holder reads what else is in it.
 */
export type Claim = {
  id: string;
  accountId: string;
  apiKeyId: string | null;
  /** The scope of the key: the canonical path of the route; aliases are one route. */
  route?: string;
  /** The caller's key; null: nobody can attach by key. */
  idempotencyKey?: string | null;
} & Record<string, unknown>;

/** Ends the owner in the settlement's transaction, or in that of the release. */
export type Finish = {
  /** Of its holder: the hold may be gone, and with it whose it was. */
  kind: string;
  id: string;
} & Record<string, unknown>;

/** What a live owner has used, and what that costs: for whoever must end its hold without it. */
export type Checkpoint = {
  id: string;
  dueMicros: bigint;
  dueProviderMicros: bigint;
} & Record<string, unknown>;

export interface HoldRequest {
  holdId: string;
  amountMicros: bigint;
  owner: HoldOwner;
  expiresAtMs: number;
  claim: Claim | null;
  /** So many owners of this kind may hold of the wallet at once; absent: any number. */
  activeMax?: number;
}
/** What keeps a spender from more, and when it begins anew; null: never. */
export interface SpendCap {
  kind: CapKind;
  spender: string;
  resetsAtMs: number | null;
}

/** What is told as available is the least of funds and caps. */
export type HoldReply =
  | { status: 'held'; availableMicros: bigint; isOrganization?: true }
  | { status: 'insufficient'; requiredMicros: bigint; availableMicros: bigint }
  /** A cap does not leave as much: that of the organization, of the claim's account or key. */
  | { status: 'over_limit'; requiredMicros: bigint; availableMicros: bigint; cap: SpendCap }
  /** The organization is suspended or closed, or the claim's account is none of its members. */
  | { status: 'not_allowed'; reason: Bar }
  /** Another generation has the key (running, or finished less than 24 h ago). */
  | { status: 'duplicate'; generationId: string | null }
  /** As many owners of its kind as it allows hold already. */
  | { status: 'too_many' }
  | { status: 'wallet_not_found' }
  | { status: 'unavailable' };

/** Adds to an active hold between `minimumMicros` and `amountMicros`, as funds and caps go. */
export interface ExtendRequest {
  holdId: string;
  /** Counts up from 1 within the hold: names the operation. */
  step: number;
  amountMicros: bigint;
  minimumMicros: bigint;
  expiresAtMs: number;
}
export type ExtendReply =
  | { status: 'extended'; addedMicros: bigint }
  | { status: 'insufficient'; availableMicros: bigint }
  | { status: 'hold_not_active' }
  | { status: 'unavailable' };

/** Leaves `keepMicros` of an active hold; what it has beyond that is free again. */
export interface ReduceRequest {
  holdId: string;
  /** Counts on from the extensions: a repetition changes nothing. */
  step: number;
  keepMicros: bigint;
  /** What its owner has used until now: written with it. */
  checkpoint: Checkpoint;
}
export type ReduceReply =
  | { status: 'reduced' }
  | { status: 'hold_not_active' }
  | { status: 'unavailable' };

export interface SettleRequest {
  holdId: string;
  /** What the customer pays, already rounded. */
  chargeMicros: bigint;
  /** The part of the charge that is owed to the provider; the rest is revenue. */
  providerCostMicros: bigint;
  finish: Finish | null;
  /** It was begun under an idempotency key: given up, others may have run it again. */
  keyed?: boolean;
  /** The charge counts towards the caps of this spender should the hold be gone. */
  spender?: Spender;
}
export type SettleReply =
  /** Also the answer to a repeated settlement, with the figures of the first one. */
  | { status: 'settled'; chargedMicros: bigint; shortfallMicros: bigint }
  /** Its process was taken for dead, and another has its key or work since: nothing is written. */
  | { status: 'superseded' }
  /** The hold never existed (its hold was refused or never became durable). */
  | { status: 'hold_unknown' }
  | { status: 'unavailable' };

export interface ReleaseRequest {
  holdId: string;
  reason: 'failed' | 'cancelled' | 'expired' | 'recovered';
  finish: Finish | null;
}
export type ReleaseReply =
  | { status: 'released' }
  /** It was settled or released before, or never existed. */
  | { status: 'not_active' }
  /** Another has its work since: nothing is written. */
  | { status: 'superseded' }
  | { status: 'unavailable' };

/** Its row moves with its credits, in the ledger's own statement: it says that they are given. */
export interface CreditOwner {
  kind: CreditKind;
  id: string;
}

/**
 * Credits the wallet: a promotion that may expire, or a purchase that never does. Of a purchase,
 * debt of reversals is recovered first.
 */
export interface GrantRequest {
  operationId: string;
  kind: 'promotion' | 'purchase';
  amountMicros: bigint;
  expiresAtMs: number | null;
  note: string;
  /** Absent: an administrator gives it. */
  owner?: CreditOwner;
}
export type GrantReply =
  | { status: 'granted'; grantId: string; availableMicros: bigint }
  /** The wallet would hold more than an amount can say. */
  | { status: 'too_much' }
  | { status: 'wallet_not_found' }
  | { status: 'unavailable' };

/**
 * Posts one step of what facts reverse of a purchase, as `<purchase>.rev.<step>`, and marks the
 * step. Steps of a purchase come in their order. It takes what is free of that purchase, of others
 * newest first, of promotions. What is missing is debt of the purchase. Nothing is taken from
 * holds, or below zero.
 */
export interface ReverseRequest {
  purchaseId: string;
  step: number;
  amountMicros: bigint;
}
export type ReverseReply =
  /** Also the answer to a repetition, with the figures of the first one. */
  | { status: 'reversed'; takenMicros: bigint; debtMicros: bigint }
  | { status: 'wallet_not_found' }
  | { status: 'unavailable' };

/** Posts a step that gives back: first against debt, its own before others', then as a grant. */
export type RestoreRequest = ReverseRequest;
export type RestoreReply =
  | { status: 'restored'; recoveredMicros: bigint }
  /** The wallet would hold more than an amount can say. */
  | { status: 'too_much' }
  | { status: 'wallet_not_found' }
  | { status: 'unavailable' };

/** Takes debt from what purchases have free. */
export interface CollectRequest {
  operationId: string;
}
export type CollectReply =
  | { status: 'collected'; collectedMicros: bigint }
  | { status: 'wallet_not_found' }
  | { status: 'unavailable' };

/** Takes back what a promotion has free, and whatever returns to it later. */
export interface RevokeRequest {
  /** A promotion that this wallet was given; it may be spent. */
  grantId: string;
  /** Written with it, with the amount added to its details. */
  event: NewAuditEvent;
}
export type RevokeReply =
  /** Also the answer to a repetition, with what the first one took. */
  | { status: 'revoked'; revokedMicros: bigint }
  | { status: 'wallet_not_found' }
  | { status: 'unavailable' };

/** Takes from what promotions have free, the newest first. */
export interface DebitRequest {
  operationId: string;
  amountMicros: bigint;
  /** Written with it. */
  event: NewAuditEvent;
}
export type DebitReply =
  | { status: 'debited'; availableMicros: bigint }
  | { status: 'insufficient'; freeMicros: bigint; availableMicros: bigint }
  /** The operation id is that of something else. */
  | { status: 'reused' }
  | { status: 'wallet_not_found' }
  | { status: 'unavailable' };

export type BalanceReply =
  /** With a cap where one leaves less than the wallet has. */
  | { status: 'ok'; availableMicros: bigint; heldMicros: bigint; cap?: SpendCap }
  | { status: 'wallet_not_found' }
  | { status: 'unavailable' };

/**
 * Whether a hold of this amount may fit, before what is dear is done for it. Memory answers: only
 * where it says no, and is not fresh, is the wallet read again.
 */
export interface LookRequest {
  amountMicros: bigint;
  /** For whom: its caps are looked at, too. */
  spender?: Spender;
}
export type LookReply = BalanceReply | { status: 'not_allowed'; reason: Bar };

export type WalletProtocol = {
  hold: (request: HoldRequest) => HoldReply;
  extend: (request: ExtendRequest) => ExtendReply;
  reduce: (request: ReduceRequest) => ReduceReply;
  settle: (request: SettleRequest) => SettleReply;
  release: (request: ReleaseRequest) => ReleaseReply;
  grant: (request: GrantRequest) => GrantReply;
  reverse: (request: ReverseRequest) => ReverseReply;
  restore: (request: RestoreRequest) => RestoreReply;
  collect: (request: CollectRequest) => CollectReply;
  revoke: (request: RevokeRequest) => RevokeReply;
  debit: (request: DebitRequest) => DebitReply;
  balance: (request: Record<string, never>) => BalanceReply;
  look: (request: LookRequest) => LookReply;
};
