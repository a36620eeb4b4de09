// The money of a request that has a row of generations, whatever it asks for: held, then settled
// or released. Nobody is told of a charge before it is in the ledger; one that is away is asked
// again.
import type { ActorContext, Answer, EndReason, Handlers } from '../../runtime/actor/contract.ts';
import { type PlainProblem, plainProblem } from '../../runtime/problem.ts';
import type { Charge } from '../wallet/price.ts';
import type { HoldReply } from '../wallet/protocol.ts';
import { type Payment, takesOver } from './fallback.ts';
import type { Payer } from './funds-estimate.ts';
import type { GenerationClaim, GenerationFinish } from './holder.ts';
import type { SettlementProtocol } from './protocol.ts';
import type { RequestDeps, RequestSpec } from './spec.ts';
import { refusalProblem } from './spend-refusal.ts';

type Context = ActorContext<SettlementProtocol>;

/** What the state of every such request has. */
export interface RequestState {
  readonly deps: RequestDeps;
  readonly spec: RequestSpec;
  readonly holdId: string;
  /** Who holds for it, and settles it. */
  readonly payment: Payment;
  /** holding → running → closing (what is due becomes known, then durable) → over. */
  phase: 'holding' | 'running' | 'closing' | 'over';
  /** Counted as one that goes on whoever listens, in this slot of the limiter. */
  detachedSlot: number | null;
  outcome: { status: GenerationFinish['status'] } | null;
  finish: GenerationFinish | null;
  /** What is settled; null: the hold goes back whole. */
  cost: Charge | null;
  retries: number;
  /** What is written beside the ledger: nobody is told of the end before. Never rejects. */
  extraWrite: Promise<void> | null;
}

/** Asks for the hold, which also claims the idempotency key. Its answer is the message `held`. */
export function askHold(
  { deps, spec, holdId, payment }: RequestState,
  context: Context,
  amountMicros: bigint,
  model: string,
): void {
  const { ledger } = deps.limits;
  void deps
    .wallet(payment.walletId)
    .ask(
      'hold',
      {
        holdId,
        amountMicros,
        owner: { kind: 'generation', id: spec.id, instanceId: deps.instanceId },
        expiresAtMs: spec.createdAtMs + ledger.holdExpiryMs,
        claim: {
          id: spec.id,
          accountId: spec.accountId,
          apiKeyId: spec.apiKeyId,
          route: spec.route,
          idempotencyKey: spec.idempotencyKey,
          fingerprint: spec.fingerprint,
          model,
        } satisfies GenerationClaim,
      },
      ledger.askTimeoutMs,
    )
    .then((answer) => context.self.tell('held', answer));
}

/** Asks who pays in the place of a wallet that refused. False: nobody does, or it did not. */
export function askFallback(
  state: RequestState,
  context: Context,
  answer: Answer<HoldReply>,
  amountMicros: bigint,
  model: string,
): boolean {
  const { deps, spec, payment } = state;
  if (!takesOver(payment, spec.fallbackWalletId, answer.ok ? answer.value : null)) return false;
  deps.fundsEstimate.forget(spec);
  askHold(state, context, amountMicros, model);
  return true;
}

/**
 * Whether the upstream may be called while the hold is under way. Never with an idempotency key:
 * until the hold is there, another request may have it.
 */
export function mayCallAhead({ deps, spec }: RequestState, amountMicros: bigint): boolean {
  if (spec.idempotencyKey !== null) return false;
  return deps.fundsEstimate.expectsFunds(spec, amountMicros, spec.createdAtMs);
}

/** Why a request does not run. `unknown`: its hold may still become durable. */
export type HoldRefusal =
  | { status: 'refused' | 'unknown'; problem: PlainProblem }
  /** Another request has the idempotency key. */
  | { status: 'duplicate' };

/** Reads the answer to a hold; null: it is durable. */
export function refusalOf(
  { deps, spec, payment }: RequestState,
  answer: Answer<HoldReply>,
): HoldRefusal | null {
  const reply = answer.ok ? answer.value : null;
  // Who stood still for so long was taken for dead by others, who may have ended the hold.
  const { isShared, leaseMs } = deps.limits.instance;
  const isLapsed = isShared && Date.now() - spec.createdAtMs > leaseMs;
  if (reply?.status === 'held' && isLapsed) {
    return { status: 'unknown', problem: plainProblem('dependency_unavailable') };
  }
  if (reply?.status === 'held') {
    deps.fundsEstimate.saw(payerOf(spec, payment), reply.availableMicros, Date.now());
    return null;
  }
  deps.fundsEstimate.forget(payerOf(spec, payment));
  switch (reply?.status) {
    case 'duplicate':
      return { status: 'duplicate' };
    case 'insufficient':
    case 'over_limit':
    case 'not_allowed':
      return { status: 'refused', problem: refusalProblem(reply) };
    case 'too_many':
    case 'wallet_not_found':
    case 'unavailable':
      return { status: 'refused', problem: plainProblem('dependency_unavailable') };
    case undefined:
      return { status: 'unknown', problem: plainProblem('dependency_unavailable') };
  }
}

function payerOf({ accountId, apiKeyId }: RequestSpec, { walletId }: Payment): Payer {
  return { walletId, accountId, apiKeyId };
}

export interface Settlement<S extends RequestState> {
  /** `settle` and `release` are told once `finish` and, to be settled, `cost` are known. */
  handlers: Omit<Handlers<SettlementProtocol, S>, 'held'>;
  /** Tells who listens and ends the actor; money is done with, or left to others. */
  over(state: S, context: Context): void;
}

const supersededMessage = 'The request was given up and run again. Its key names that answer.';

/**
 * `announceEnd` tells listeners how it ended; a second call has nobody to tell. `refuse` makes it
 * a failure that costs nothing.
 */
export function createSettlement<S extends RequestState>(
  announceEnd: (state: S) => void,
  refuse: (state: S, problem: PlainProblem) => void,
): Settlement<S> {
  const over = (state: S, context: Context) => {
    state.phase = 'over';
    // First: who has the whole reply may ask again, and finds its permit free.
    state.spec.releasePermit();
    announceEnd(state);
    context.stop();
  };
  return {
    over,
    handlers: {
      settle({ deps, spec, payment, phase, holdId, cost, finish, extraWrite }, _payload, context) {
        if (phase !== 'closing' || cost === null) return;
        const { chargeMicros, providerCostMicros } = cost;
        const { accountId, apiKeyId, idempotencyKey } = spec;
        const spender = { accountId, apiKeyId };
        const keyed = idempotencyKey !== null;
        const settled = deps
          .wallet(payment.walletId)
          .ask(
            'settle',
            { holdId, chargeMicros, providerCostMicros, finish, keyed, spender },
            deps.limits.ledger.askTimeoutMs,
          );
        void (extraWrite === null ? settled : extraWrite.then(() => settled)).then((answer) =>
          context.self.tell('settled', answer),
        );
      },

      settled(state, answer, context) {
        if (answer.ok && answer.value.status === 'settled') {
          over(state, context);
          return;
        }
        if (answer.ok && answer.value.status === 'superseded') {
          state.deps.log.warn({ generation: state.spec.id }, 'its key was run again meanwhile');
          refuse(state, plainProblem('conflict', supersededMessage));
          over(state, context);
          return;
        }
        if (answer.ok && answer.value.status === 'hold_unknown') {
          throw new Error(`${state.spec.id} was delivered without a durable hold`);
        }
        retry(state, context, 'settle');
      },

      release({ deps, payment, phase, holdId, outcome, finish }, _payload, context) {
        if (phase !== 'closing') return;
        const reason = outcome?.status === 'cancelled' ? 'cancelled' : 'failed';
        void deps
          .wallet(payment.walletId)
          .ask('release', { holdId, reason, finish }, deps.limits.ledger.askTimeoutMs)
          .then((answer) => context.self.tell('released', answer));
      },

      released(state, answer, context) {
        if (answer.ok && answer.value.status !== 'unavailable') over(state, context);
        else {
          // The client need not wait for a ledger that is away: nothing is charged either way.
          announceEnd(state);
          retry(state, context, 'release');
        }
      },
    },
  };
}

function retry(state: RequestState, context: Context, step: 'settle' | 'release'): void {
  const delayMs = Math.min(2_000, 50 * 2 ** Math.min(state.retries, 10));
  state.retries += 1;
  // One refusal is a full mailbox, and thousands may meet one at a stop.
  if (state.retries % 30 === 3) {
    state.deps.log.warn(
      { generation: state.spec.id, account: state.spec.accountId, retries: state.retries },
      `ledger unavailable: ${step} is repeated`,
    );
  }
  context.after(delayMs * (0.5 + Math.random() / 2), step, null);
}

/** It runs on with nobody to listen, or no longer does. */
export function setDetached(state: RequestState, detached: boolean): void {
  const { deps, spec, detachedSlot } = state;
  if ((detachedSlot !== null) === detached) return;
  if (detachedSlot === null) {
    state.detachedSlot = deps.limiter.addDetached(spec.accountId, Date.now());
  } else {
    deps.limiter.removeDetached(detachedSlot);
    state.detachedSlot = null;
  }
  deps.metrics.detached(detached ? 1 : -1);
}

/** Gives back what an actor that ends had of its shard; after a crash also its hold. */
export function leaveShard(state: RequestState, reason: EndReason): void {
  const { deps, spec, holdId, payment } = state;
  deps.running.delete(spec.id);
  setDetached(state, false);
  if (state.phase !== 'over') {
    const finish: GenerationFinish = {
      kind: 'generation',
      id: spec.id,
      status: 'failed',
      answerJson: null,
      usageJson: null,
      problemJson: JSON.stringify(plainProblem('internal')),
    };
    deps.wallet(payment.walletId).tell('release', { holdId, reason: 'failed', finish });
  }
  deps.metrics.ended(reason === 'stopped' ? (state.outcome?.status ?? 'refused') : reason);
  spec.releasePermit();
}
