// Every message of a wallet actor on one screen. Amounts are integers in microcredits (bigint). The
// actor is a batcher in front of a row version and of constraints: two of them are slower, never
// wrong. `unavailable` means that nothing is known to be durable: repeat with the same ids.
import type { SessionCheckpoint, SessionUsage } from '../../db/voice-sessions.ts';

/** Who holds: the thing whose end settles or releases the hold, and the process it runs in. */
export interface HoldOwner {
  kind: 'generation' | 'voice_session';
  id: string;
  instanceId: string;
}

/** Claims an idempotency key and creates the generation in the hold's transaction. */
export interface GenerationClaim {
  id: string;
  accountId: string;
  apiKeyId: string | null;
  /** The canonical path of the route; aliases are one route. */
  route: string;
  /** The caller's key, or null: a fresh generation that nobody can attach to by key. */
  idempotencyKey: string | null;
  /** Hex SHA-256 of the canonical body. */
  fingerprint: string;
  model: string;
}

/** Ends the generation in the settlement's transaction; documents are stored as they are. */
export interface GenerationFinish {
  id: string;
  status: 'completed' | 'incomplete' | 'failed' | 'cancelled';
  /** The answer to be replayed, as JSON text; null when there is none. */
  answerJson: string | null;
  /** `svc_usage` as JSON text. */
  usageJson: string | null;
  /** The problem that ended it, as JSON text. */
  problemJson: string | null;
  /** `svc_routing` as JSON text, of a managed route. */
  routingJson?: string | null;
}

/** Creates the row of a voice session in the hold's transaction. */
export interface SessionClaim {
  id: string;
  accountId: string;
  apiKeyId: string | null;
  model: string;
  voiceId: string;
}

/** Ends the voice session in the settlement's transaction. */
export interface SessionFinish {
  id: string;
  reason: string;
  source: 'reported' | 'estimated' | 'none';
  /** Null: as it was last written. */
  usage: SessionUsage | null;
}

export interface HoldRequest {
  holdId: string;
  amountMicros: bigint;
  owner: HoldOwner;
  expiresAtMs: number;
  claim: GenerationClaim | null;
  session?: SessionClaim;
}
export type HoldReply =
  | { status: 'held'; availableMicros: bigint }
  | { status: 'insufficient'; requiredMicros: bigint; availableMicros: bigint }
  /** Another generation has the key (running, or finished less than 24 h ago). */
  | { status: 'duplicate'; generationId: string | null }
  | { status: 'wallet_not_found' }
  | { status: 'unavailable' };

/** Adds to an active hold between `minimumMicros` and `amountMicros`, as far as funds go. */
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
  /** What its session has used until now: written with it, for whoever must end the hold. */
  session: SessionCheckpoint;
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
  finish: GenerationFinish | null;
  session?: SessionFinish;
  /** It was begun under an idempotency key: given up, others may have run it again. */
  keyed?: boolean;
}
export type SettleReply =
  /** Also the answer to a repeated settlement, with the figures of the first one. */
  | { status: 'settled'; chargedMicros: bigint; shortfallMicros: bigint }
  /** Its process was taken for dead, and another has its key since: that one is charged. */
  | { status: 'superseded' }
  /** The hold never existed (its hold was refused or never became durable). */
  | { status: 'hold_unknown' }
  | { status: 'unavailable' };

export interface ReleaseRequest {
  holdId: string;
  reason: 'failed' | 'cancelled' | 'expired' | 'recovered';
  finish: GenerationFinish | null;
  session?: SessionFinish;
}
export type ReleaseReply =
  | { status: 'released' }
  /** It was settled or released before, or never existed. */
  | { status: 'not_active' }
  | { status: 'unavailable' };

/** Credits the wallet: a promotion that may expire, or a purchase that never does. */
export interface GrantRequest {
  operationId: string;
  kind: 'promotion' | 'purchase';
  amountMicros: bigint;
  expiresAtMs: number | null;
  note: string;
}
export type GrantReply =
  | { status: 'granted'; grantId: string; availableMicros: bigint }
  /** The wallet would hold more than an amount can say. */
  | { status: 'too_much' }
  | { status: 'wallet_not_found' }
  | { status: 'unavailable' };

export type BalanceReply =
  | { status: 'ok'; availableMicros: bigint; heldMicros: bigint }
  | { status: 'wallet_not_found' }
  | { status: 'unavailable' };

export type WalletProtocol = {
  hold: (request: HoldRequest) => HoldReply;
  extend: (request: ExtendRequest) => ExtendReply;
  reduce: (request: ReduceRequest) => ReduceReply;
  settle: (request: SettleRequest) => SettleReply;
  release: (request: ReleaseRequest) => ReleaseReply;
  grant: (request: GrantRequest) => GrantReply;
  balance: (request: Record<string, never>) => BalanceReply;
};
