// Asks the provider of a purchase, applies the answer, and posts what follows to the ledger. A
// callback only says when: whatever was lost, repeated or late, one asking makes up for it.
import { insertAuditEvent } from '../../db/audit-events.ts';
import { keepMethod, noteAutoPaid, restrictBilling } from '../../db/billing/settings.ts';
import type { Transaction } from '../../db/driver/sql.ts';
import {
  applyLook,
  applyTarget,
  keepAnomaly,
  keepFacts,
  listFacts,
  lockPurchase,
} from '../../db/purchases/moves.ts';
import { listRefunds, moveRefund, type Refund } from '../../db/purchases/refunds.ts';
import { findPurchase, type Purchase } from '../../db/purchases.ts';
import type { FactOfPayment, PaymentLook } from '../../media/payments/contract.ts';
import { newAuditId, newId } from '../../runtime/ids.ts';
import type { KnownProvider, PaymentDeps } from './deps.ts';
import { type Judgement, judge, reasonOf, sumFacts, targetMicros } from './facts.ts';
import { writePurchaseMail, writeRefundMail } from './mails.ts';
import { reopen } from './opening.ts';
import { postPurchase } from './posting.ts';

/** What came of asking. `undecided`: nobody has paid yet, or the provider does not say. */
export type Settled = 'decided' | 'undecided' | 'unavailable' | 'not_found';

export interface Settler {
  /** Whoever asks meanwhile shares the next asking: it sees all that was done before. */
  settle(purchaseId: string): Promise<Settled>;
}

interface Asking {
  now: Promise<Settled>;
  next: Promise<Settled> | null;
}

export function createSettler(deps: PaymentDeps): Settler {
  const askings = new Map<string, Asking>();
  return {
    settle(purchaseId) {
      const begin = (): Promise<Settled> => {
        const asking: Asking = { now: settlePurchase(deps, purchaseId), next: null };
        askings.set(purchaseId, asking);
        const end = () => {
          if (asking.next === null) askings.delete(purchaseId);
        };
        asking.now.then(end, end);
        return asking.now;
      };
      const asking = askings.get(purchaseId);
      if (asking === undefined) return begin();
      asking.next ??= asking.now.then(begin, begin);
      return asking.next;
    },
  };
}

async function settlePurchase(deps: PaymentDeps, purchaseId: string): Promise<Settled> {
  const { sql, limits } = deps;
  for (let stale = 0; stale < limits.staleMax; stale += 1) {
    const purchase = await findPurchase(sql, purchaseId);
    if (purchase === null) return 'not_found';
    const provider = purchase.provider === null ? null : deps.provider(purchase.provider);
    if (provider === null) return purchase.kind === 'free' ? posted(deps, purchase) : 'unavailable';
    if (purchase.orderId === null) {
      const outcome = await reopen(deps, purchase, provider);
      if (outcome === 'opened') continue;
      return outcome === 'unavailable' ? 'unavailable' : 'decided';
    }
    const look = await lookAt(deps, purchase, provider, purchase.orderId);
    if (look === null) return 'unavailable';
    const applied = await applyAnswer(deps, purchase, provider, look);
    if (applied === 'stale') continue;
    return posted(deps, purchase);
  }
  return 'undecided';
}

async function posted(deps: PaymentDeps, { id }: Purchase): Promise<Settled> {
  const isPosted = await postPurchase(deps, id);
  if (!isPosted) return 'unavailable';
  const after = await findPurchase(deps.sql, id);
  return after?.status === 'created' || after?.status === 'pending' ? 'undecided' : 'decided';
}

/** The provider's answer, and what was authorized captured; null: it does not answer. */
async function lookAt(
  deps: PaymentDeps,
  purchase: Purchase,
  { adapter, account, name }: KnownProvider,
  orderId: string,
): Promise<PaymentLook | null> {
  const { limits, log, metrics } = deps;
  const signal = AbortSignal.timeout(limits.callMs);
  try {
    const look = await adapter.look(account, orderId, signal);
    const judged = judge(judgedOf(purchase), orderId, look, await deps.installation());
    const isOver = purchase.expiresAt !== null && purchase.expiresAt.getTime() <= deps.clock();
    if (judged.toCapture.length > 0) {
      for (const payment of judged.toCapture) await adapter.capture(account, payment, signal);
    } else if (isOver && judged.isOpen && purchase.kind === 'checkout' && isOpen(purchase)) {
      await adapter.close(account, orderId, signal);
    } else return look;
    return await adapter.look(account, orderId, signal);
  } catch (error) {
    metrics.failed(name);
    log.warn({ err: error, purchase: purchase.id, provider: name }, 'a provider does not answer');
    return null;
  }
}

const isOpen = ({ status }: Purchase) => status === 'created' || status === 'pending';

function judgedOf({ id, status, priceCents, currency, paymentId }: Purchase) {
  return { id, status, priceCents: Number(priceCents), currency, paymentId };
}

type Applied = 'applied' | 'stale';

/** Writes all that an answer means in one transaction. */
async function applyAnswer(
  deps: PaymentDeps,
  seen: Purchase,
  provider: KnownProvider,
  look: PaymentLook,
): Promise<Applied> {
  const installation = await deps.installation();
  const mailIds: string[] = [];
  const outcome = await deps.sql.begin(async (transaction): Promise<{ applied: Applied }> => {
    const purchase = await lockPurchase(transaction, seen.id);
    if (purchase === null || purchase.revision !== seen.revision) return { applied: 'stale' };
    const judged = judge(judgedOf(purchase), seen.orderId ?? '', look, installation);
    await keepAnomalies(deps, transaction, purchase, judged);
    await moveByAnswer(deps, transaction, purchase, judged, mailIds);
    if (judged.payment !== null) {
      const paidCents = Number(purchase.paidCents ?? judged.payment.amountCents);
      const facts = judged.payment.facts;
      await keepFacts(transaction, provider.name, purchase.id, facts);
      await applyFacts(deps, transaction, purchase, paidCents, mailIds);
    }
    return { applied: 'applied' };
  });
  for (const id of mailIds) deps.mail.send(id);
  return outcome.applied;
}

async function keepAnomalies(
  { node, log, metrics }: PaymentDeps,
  transaction: Transaction,
  { id: purchaseId, provider }: Purchase,
  { anomalies }: Judgement,
): Promise<void> {
  for (const { kind, objectId, details } of anomalies) {
    const id = newId('anom', node);
    const anomaly = { id, provider: provider ?? '', objectId, kind, purchaseId, details };
    if (!(await keepAnomaly(transaction, anomaly))) continue;
    metrics.anomaly(kind);
    log.error({ purchase: purchaseId, kind, object: objectId }, 'a payment is not what was asked');
  }
}

async function moveByAnswer(
  deps: PaymentDeps,
  transaction: Transaction,
  purchase: Purchase,
  { status, failureCode, payment }: Judgement,
  mailIds: string[],
): Promise<void> {
  const isCounted = purchase.paymentId !== null;
  if (status === null && (payment === null || isCounted)) return;
  await applyLook(transaction, purchase.id, { status, failureCode, payment });
  deps.metrics.moved(status ?? 'paid');
  if (status !== 'paid' || payment === null) return;
  const { accountId, provider } = purchase;
  if (purchase.kind === 'auto') await noteAutoPaid(transaction, accountId);
  if (purchase.savesPaymentMethod && payment.saved !== null && provider !== null) {
    await keepMethod(transaction, accountId, { provider, ...payment.saved });
  }
  mailIds.push(...(await writePurchaseMail(deps, transaction, purchase, payment)));
}

/**
 * Brings the purchase to what its facts come to: the target, the step to it, and refunds of ours
 * that are over. The row is locked.
 */
export async function applyFacts(
  deps: PaymentDeps,
  transaction: Transaction,
  purchase: Purchase,
  paidCents: number,
  mailIds: string[],
): Promise<void> {
  const facts = await listFacts(transaction, purchase.id);
  const refunds = await listRefunds(transaction, purchase.id);
  const over = await endRefunds(transaction, refunds, facts);
  const planned = refunds.filter(({ id, state }) => (over.get(id) ?? state) !== 'failed');
  const sums = sumFacts(
    facts,
    planned.map(({ id, amountCents, providerRefundId }) => ({
      id,
      amountCents: Number(amountCents),
      providerRefundId,
    })),
  );
  const before = { disputedCents: Number(purchase.disputedCents) };
  const target = targetMicros(purchase.creditsMicros, paidCents, sums);
  const isSame =
    target === purchase.targetMicros &&
    sums.refundedCents === Number(purchase.refundedCents) &&
    sums.disputedCents === before.disputedCents &&
    sums.dispute?.state === (purchase.disputeState ?? undefined);
  if (isSame) return;
  const reason = reasonOf(target - purchase.targetMicros, before, sums);
  const { refundedCents, disputedCents, dispute } = sums;
  const change = { refundedCents, disputedCents, dispute, targetMicros: target, reason };
  await applyTarget(transaction, purchase, change);
  if (dispute?.state === 'lost' && purchase.disputeState !== 'lost') {
    await restrict(deps, transaction, purchase);
  }
  if (reason === 'refund' && target > purchase.targetMicros) {
    const cents = sums.refundedCents - Number(purchase.refundedCents);
    mailIds.push(...(await writeRefundMail(deps, transaction, purchase, cents)));
  }
}

/** Refunds of ours that the provider says are over; where each stands then. */
async function endRefunds(
  transaction: Transaction,
  refunds: readonly Refund[],
  facts: readonly FactOfPayment[],
): Promise<Map<string, Refund['state']>> {
  const states = new Map<string, Refund['state']>();
  for (const { id, providerRefundId } of refunds) {
    const fact = facts.find((each) => each.refundId === id || each.id === providerRefundId);
    if (fact === undefined) continue;
    const state = fact.state === 'succeeded' || fact.state === 'failed' ? fact.state : 'submitted';
    const failureCode = state === 'failed' ? 'provider_failed' : null;
    await moveRefund(transaction, id, { state, providerRefundId: fact.id, failureCode });
    states.set(id, state);
  }
  return states;
}

/** A lost dispute: nothing is sold or given to the account until an administrator lifts it. */
async function restrict(
  { node }: PaymentDeps,
  transaction: Transaction,
  { id, accountId }: Purchase,
): Promise<void> {
  const reason = 'dispute_lost';
  if (!(await restrictBilling(transaction, accountId, reason))) return;
  await insertAuditEvent(transaction, {
    id: newAuditId(node),
    accountId,
    actor: 'payments',
    action: 'account.restrict_billing',
    subject: `account:${accountId}`,
    details: { reason, purchase: id },
  });
}
