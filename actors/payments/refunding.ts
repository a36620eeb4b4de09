// Refunds that an administrator asks for. Credits are taken before money is sent: whatever crashes
// between, the round goes on under the same ids. What the provider refuses is restored.
import { audited } from '../../db/audit-events.ts';
import { keepFacts, listOpenSteps, lockPurchase } from '../../db/purchases/moves.ts';
import {
  delayRefund,
  findRefund,
  findRefundOf,
  insertRefund,
  moveRefund,
  type Refund,
  takeRefunds,
} from '../../db/purchases/refunds.ts';
import type { Purchase } from '../../db/purchases.ts';
import { findPurchase } from '../../db/purchases.ts';
import { PaymentFault } from '../../media/payments/contract.ts';
import { newAuditId, newId } from '../../runtime/ids.ts';
import { atOnce } from './at-once.ts';
import type { KnownProvider, PaymentDeps } from './deps.ts';
import { targetMicros } from './facts.ts';
import { waitAfterTry } from './limits.ts';
import { postPurchase } from './posting.ts';
import { applyFacts, type Settler } from './settling.ts';

export interface RefundWish {
  purchaseId: string;
  operationId: string;
  /** Null: all that is left. */
  amountCents: number | null;
  reason: string;
  actor: string;
  /** Also where the wallet has not the credits any more: what is missing is debt. */
  force: boolean;
}

export type RefundAnswer =
  | { status: 'asked'; refundId: string }
  | { status: 'not_found' | 'not_refundable' | 'disputed' | 'reused' | 'unavailable' }
  | { status: 'too_much'; leftCents: number }
  | { status: 'credits_spent'; missingMicros: bigint };

/** Asks for a refund: the row and the step of its credits are one transaction. */
export async function askRefund(deps: PaymentDeps, wish: RefundWish): Promise<RefundAnswer> {
  const known = await findRefundOf(deps.sql, wish.operationId);
  if (known !== null) return repeated(known, wish);
  const purchase = await findPurchase(deps.sql, wish.purchaseId);
  if (purchase === null) return { status: 'not_found' };
  if (!wish.force) {
    const missing = await missingMicros(deps, purchase, wish.amountCents);
    if (missing === null) return { status: 'unavailable' };
    if (missing > 0n) return { status: 'credits_spent', missingMicros: missing };
  }
  const mailIds: string[] = [];
  const answer = await audited<RefundAnswer>(deps.sql, async (transaction) => {
    const locked = await lockPurchase(transaction, wish.purchaseId);
    // The lock is the purchase's: whoever asked under the same operation has its row by now.
    const before = await findRefundOf(transaction, wish.operationId);
    if (before !== null) return { result: repeated(before, wish), event: null };
    const refusal = locked === null ? 'not_found' : refusalOf(locked);
    if (locked === null || refusal !== null) {
      return { result: { status: refusal ?? 'not_found' }, event: null };
    }
    const leftCents = leftOf(locked);
    const amountCents = wish.amountCents ?? leftCents;
    if (amountCents > leftCents || leftCents === 0) {
      return { result: { status: 'too_much', leftCents }, event: null };
    }
    const id = newId('rfd', deps.node);
    const { purchaseId, operationId, reason, actor } = wish;
    const row = { id, purchaseId, operationId, amountCents: BigInt(amountCents), reason, actor };
    await insertRefund(transaction, row);
    await applyFacts(deps, transaction, locked, Number(locked.paidCents), mailIds);
    const event = {
      id: newAuditId(deps.node),
      accountId: locked.accountId,
      actor,
      action: 'purchase.refund',
      subject: `purchase:${purchaseId}`,
      details: { operation_id: operationId, amount_cents: amountCents, reason, force: wish.force },
      operationId,
    };
    return { result: { status: 'asked', refundId: id }, event };
  });
  for (const id of mailIds) deps.mail.send(id);
  return answer;
}

function repeated(known: Refund, { purchaseId, amountCents }: RefundWish): RefundAnswer {
  const isSame =
    known.purchaseId === purchaseId &&
    (amountCents === null || known.amountCents === BigInt(amountCents));
  return isSame ? { status: 'asked', refundId: known.id } : { status: 'reused' };
}

function refusalOf({ status, kind, disputeState }: Purchase): 'not_refundable' | 'disputed' | null {
  if (status !== 'completed' || kind === 'free') return 'not_refundable';
  return disputeState === 'open' ? 'disputed' : null;
}

/** What of the money has not gone back, in minor units. */
function leftOf({ paidCents, refundedCents, disputedCents }: Purchase): number {
  const left = Number(paidCents ?? 0n) - Number(refundedCents) - Number(disputedCents);
  return Math.max(0, left);
}

/** Credits of the part that the wallet has not free; null: the ledger does not answer. */
async function missingMicros(
  deps: PaymentDeps,
  purchase: Purchase,
  amountCents: number | null,
): Promise<bigint | null> {
  const balance = await deps.wallet(purchase.walletId, 'balance', {});
  if (balance.status !== 'ok') return null;
  const disputedCents = Number(purchase.disputedCents);
  const refundedCents = Number(purchase.refundedCents) + (amountCents ?? leftOf(purchase));
  const sums = { refundedCents, disputedCents };
  const target = targetMicros(purchase.creditsMicros, Number(purchase.paidCents ?? 0n), sums);
  const wanted = target - purchase.targetMicros;
  return wanted > balance.availableMicros ? wanted - balance.availableMicros : 0n;
}

/** Works on refunds that are due; returns how many there were. */
export async function workRefunds(deps: PaymentDeps, settler: Settler): Promise<number> {
  const refunds = await takeRefunds(deps.sql, deps.limits.perRound, deps.limits.leaseMs);
  await atOnce(refunds, deps.limits.atOnce, (refund) => workRefund(deps, settler, refund));
  return refunds.length;
}

/** Goes on with one refund, now. */
export async function pursueRefund(
  deps: PaymentDeps,
  settler: Settler,
  refundId: string,
): Promise<void> {
  const refund = await findRefund(deps.sql, refundId);
  if (refund !== null) await workRefund(deps, settler, refund);
}

async function workRefund(deps: PaymentDeps, settler: Settler, refund: Refund): Promise<void> {
  const { sql, log, limits } = deps;
  if (refund.state !== 'reversing' && refund.state !== 'submitted') return;
  try {
    const isOver =
      refund.state === 'submitted'
        ? (await settler.settle(refund.purchaseId)) === 'decided' && (await isEnded(deps, refund))
        : await sendRefund(deps, refund);
    if (isOver) return;
  } catch (error) {
    log.warn({ err: error, refund: refund.id }, 'a refund waits for the next round');
  }
  await delayRefund(sql, refund.id, waitAfterTry(limits, refund.tries + 1));
}

async function isEnded({ sql }: PaymentDeps, { id }: Refund): Promise<boolean> {
  const now = await findRefund(sql, id);
  return now?.state === 'succeeded' || now?.state === 'failed';
}

/** Takes the credits, then sends the money; true: the refund is over. */
async function sendRefund(deps: PaymentDeps, refund: Refund): Promise<boolean> {
  const { sql, limits } = deps;
  const purchase = await findPurchase(sql, refund.purchaseId);
  const provider = purchase?.provider == null ? null : deps.provider(purchase.provider);
  if (purchase === null || provider === null || purchase.paymentId === null) return false;
  const isPosted = await postPurchase(deps, purchase.id);
  if (!isPosted || (await listOpenSteps(sql, purchase.id)).length > 0) return false;
  const order = {
    refundId: refund.id,
    paymentId: purchase.paymentId,
    amountCents: Number(refund.amountCents),
    currency: purchase.currency,
  };
  try {
    const signal = AbortSignal.timeout(limits.callMs);
    const fact = await provider.adapter.refund(provider.account, order, signal);
    await noteAnswer(deps, purchase, provider, refund, { fact, failureCode: null });
    return fact.state !== 'pending';
  } catch (error) {
    const isRefused = error instanceof PaymentFault && error.kind === 'refused';
    if (!isRefused) throw error;
    const failureCode = error.providerCode ?? 'refused';
    await noteAnswer(deps, purchase, provider, refund, { fact: null, failureCode });
    return true;
  }
}

/** What the provider said of a refund, with what it means for the purchase, in one transaction. */
async function noteAnswer(
  deps: PaymentDeps,
  { id: purchaseId }: Purchase,
  provider: KnownProvider,
  refund: Refund,
  {
    fact,
    failureCode,
  }: { fact: Parameters<typeof keepFacts>[3][number] | null; failureCode: string | null },
): Promise<void> {
  const mailIds: string[] = [];
  await deps.sql.begin(async (transaction) => {
    const purchase = await lockPurchase(transaction, purchaseId);
    if (purchase === null) return;
    if (fact === null) {
      await moveRefund(transaction, refund.id, {
        state: 'failed',
        providerRefundId: null,
        failureCode,
      });
    } else {
      await keepFacts(transaction, provider.name, purchaseId, [fact]);
      await moveRefund(transaction, refund.id, {
        state:
          fact.state === 'pending' ? 'submitted' : fact.state === 'failed' ? 'failed' : 'succeeded',
        providerRefundId: fact.id,
        failureCode: fact.state === 'failed' ? 'provider_failed' : null,
      });
    }
    await applyFacts(deps, transaction, purchase, Number(purchase.paidCents ?? 0n), mailIds);
  });
  for (const id of mailIds) deps.mail.send(id);
  await postPurchase(deps, purchaseId);
}
