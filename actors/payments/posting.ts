// Posts to the ledger what the row of a purchase says: first its credits, then each step of what
// facts reverse or restore, in order. Each has its operation id, so repeating it posts nothing.

import { listFacts, listOpenSteps, noteRefunded } from '../../db/purchases/moves.ts';
import { findPurchase, type Purchase } from '../../db/purchases.ts';
import { operation } from '../wallet/ledger.ts';
import type { PaymentDeps } from './deps.ts';

type PostingDeps = Pick<PaymentDeps, 'sql' | 'wallet' | 'packageName' | 'log' | 'metrics'>;

/** False: the ledger does not answer, or the wallet takes no more; the round tries again. */
export async function postPurchase(deps: PostingDeps, purchaseId: string): Promise<boolean> {
  const { sql } = deps;
  const purchase = await findPurchase(sql, purchaseId);
  if (purchase === null) return true;
  if (purchase.status === 'paid' && !(await postCredits(deps, purchase))) return false;
  if (!(await postSteps(deps, purchase))) return false;
  if (purchase.status !== 'refunded' && purchase.refundedCents > 0n) {
    const returned = (await listFacts(sql, purchaseId))
      .filter(({ kind, state }) => kind === 'refund' && state === 'succeeded')
      .reduce((sum, { amountCents }) => sum + amountCents, 0);
    await noteRefunded(sql, purchaseId, returned);
  }
  return true;
}

async function postCredits(deps: PostingDeps, purchase: Purchase): Promise<boolean> {
  const { id, walletId, packageId, creditsMicros: amountMicros } = purchase;
  const reply = await deps.wallet(walletId, 'grant', {
    operationId: operation.paid(id),
    kind: 'purchase',
    amountMicros,
    expiresAtMs: null,
    note: deps.packageName(packageId),
    owner: { kind: 'purchase', id },
  });
  if (reply.status === 'granted') {
    deps.metrics.credited();
    return true;
  }
  deps.log.error({ purchase: id, status: reply.status }, 'a purchase could not be credited yet');
  return false;
}

async function postSteps(deps: PostingDeps, purchase: Purchase): Promise<boolean> {
  const { id: purchaseId, walletId } = purchase;
  for (const { step, micros } of await listOpenSteps(deps.sql, purchaseId)) {
    const request = { purchaseId, step, amountMicros: micros > 0n ? micros : -micros };
    const message = micros > 0n ? 'reverse' : 'restore';
    const reply = await deps.wallet(walletId, message, request);
    if (reply.status === 'reversed' || reply.status === 'restored') continue;
    deps.log.error({ purchase: purchaseId, step, status: reply.status }, 'a step waits');
    return false;
  }
  return true;
}
