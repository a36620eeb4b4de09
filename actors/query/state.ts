// The state of one running query. Only its actor changes it.
import { siblingId } from '../../runtime/ids.ts';
import type { PlainProblem } from '../../runtime/problem.ts';
import { firstPayment } from '../billed-request/fallback.ts';
import type { RequestState } from '../billed-request/settlement.ts';
import type { Found } from '../search/contract.ts';
import type { QueryEnd } from './protocol.ts';
import type { QueryDeps, QuerySpec } from './spec.ts';

export type QueryEnding =
  | { status: 'completed' | 'cancelled' }
  | { status: 'failed'; problem: PlainProblem };

export interface QueryState extends RequestState {
  readonly deps: QueryDeps;
  readonly spec: QuerySpec;
  /** Aborts the search. */
  readonly controller: AbortController;
  /** What the wallet had left when it held. */
  heldLeftMicros: bigint;
  /** The client that began it is there. */
  isHeard: boolean;
  /** Others with the same key, and how each is told the end. */
  readonly listeners: Map<string, (end: QueryEnd) => void>;
  /** Its clients have left, or one has cancelled it: what a provider did was for nothing. */
  isLeft: boolean;
  /** It ends because all of them have left: who comes now did not. */
  isGivenUp: boolean;
  /** With its `normalized`, until the wallet has said what is left. */
  found: { found: Found; normalizedJson: string } | null;
  outcome: QueryEnding | null;
  /** What everybody is told when money is durable. */
  end: QueryEnd | null;
  /** What they were told. */
  told: QueryEnd | null;
}

export function newQueryState(deps: QueryDeps, spec: QuerySpec): QueryState {
  return {
    deps,
    spec,
    holdId: siblingId(spec.id, 'hold'),
    payment: firstPayment(spec),
    phase: 'holding',
    controller: new AbortController(),
    heldLeftMicros: 0n,
    isHeard: true,
    listeners: new Map(),
    isLeft: false,
    isGivenUp: false,
    found: null,
    detachedSlot: null,
    outcome: null,
    cost: null,
    finish: null,
    end: null,
    told: null,
    retries: 0,
    extraWrite: null,
  };
}
