// POST /api/me/purchases/verify: has the provider asked now. What the client says of a payment is
// no proof that it was made, so the answer of the provider is what is applied.
import * as v from 'valibot';
import { withDeadline } from '../../db/driver/sql.ts';
import { findWallet } from '../../db/journal.ts';
import { findOwnPurchase } from '../../db/purchases.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { Problem } from '../../runtime/problem.ts';
import { walletBody } from '../billing/amounts.ts';
import { requireBillingOwner } from '../billing/owner.ts';
import { walletEntries } from '../billing/schema.ts';
import { defineRoute } from '../define.ts';
import type { Services } from '../services.ts';
import { findMeant, type Proof, proofSchema } from './meant.ts';
import { purchaseBody, purchaseSchema } from './schema.ts';

/** When a client asks again about what nobody has paid yet. */
const retryAfter = '2';

export const verifyPurchase = defineRoute({
  method: 'POST',
  path: '/api/me/purchases/verify',
  operationId: 'verifyPurchase',
  summary: 'Ask whether a purchase is paid',
  description:
    'One of three forms: `purchase_id`; `session_id` as Stripe leads back with it; or the three ' +
    'members that the checkout of Razorpay gives, whose signature is checked first. Then the ' +
    'provider is asked, and its answer applied. Nobody needs to call this: credits come without ' +
    'it as well. While nothing is decided the reply has Retry-After.',
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'user', isForSuspended: true },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { purchase_id: 'pur_0199a2b3c4d5000123456789' },
    schema: proofSchema,
  },
  replies: {
    200: {
      description: 'The purchase and the wallet after it.',
      schema: v.strictObject({
        ok: v.literal(true),
        purchase: purchaseSchema,
        wallet: v.strictObject(walletEntries),
      }),
      headers: { 'retry-after': 'Seconds, while nothing is decided.' },
    },
  },
  problems: ['not_found', 'rate_limited', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { accountId } = requireBillingOwner(caller);
    const found = await findMeant(services, accountId, body);
    const isDecided = await settle(services, found.id, body);
    const { sql } = services;
    const purchase = await withDeadline(findOwnPurchase(sql, accountId, found.id));
    const wallet = await withDeadline(findWallet(sql, found.walletId));
    if (purchase === null || wallet === null) throw new Problem('not_found');
    return {
      status: 200,
      headers: { 'cache-control': 'no-store', ...(isDecided ? {} : { 'retry-after': retryAfter }) },
      json: { ok: true, purchase: purchaseBody(purchase), wallet: walletBody(wallet) },
    };
  },
});

/** Whether it is decided. @throws Problem invalid_request, dependency_unavailable */
async function settle(
  { payments }: Pick<Services, 'payments'>,
  purchaseId: string,
  { razorpay_payment_id: paymentId, razorpay_signature: signature }: Proof,
): Promise<boolean> {
  const hasProof = paymentId !== undefined && signature !== undefined;
  const proof = hasProof ? { paymentId, signature } : null;
  const { askMs } = payments.limits;
  const answer = await payments.desk().ask('settle', { purchaseId, proof }, askMs);
  const status = answer.ok ? answer.value.status : 'unavailable';
  if (status === 'bad_proof') {
    throw fieldProblem('razorpay_signature', 'It is not the signature of this payment.');
  }
  if (status === 'not_found') throw new Problem('not_found');
  if (status === 'unavailable') {
    throw new Problem('dependency_unavailable', {
      message: 'The payment provider does not answer. The purchase is asked about again.',
      headers: { 'retry-after': retryAfter },
    });
  }
  return status === 'decided';
}
