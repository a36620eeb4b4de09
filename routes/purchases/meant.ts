// Which purchase a client means that asks whether it is paid, in one of three forms.
import * as v from 'valibot';
import { withDeadline } from '../../db/driver/sql.ts';
import { findOwnPurchase, findPurchaseOf, type Purchase } from '../../db/purchases.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(255));
export const proofSchema = v.strictObject({
  purchase_id: v.optional(id),
  session_id: v.optional(id),
  razorpay_order_id: v.optional(id),
  razorpay_payment_id: v.optional(id),
  razorpay_signature: v.optional(id),
});
export type Proof = v.InferOutput<typeof proofSchema>;

/** The account's purchase that the body means. @throws Problem not_found, invalid_request */
export async function findMeant(
  { sql, catalog }: Pick<Services, 'sql' | 'catalog'>,
  accountId: string,
  body: Proof,
): Promise<Purchase> {
  const orderId = body.razorpay_order_id ?? body.session_id;
  const razorpay = [body.razorpay_order_id, body.razorpay_payment_id, body.razorpay_signature];
  const given = razorpay.filter((each) => each !== undefined).length;
  if (given > 0 && given < razorpay.length) {
    throw fieldProblem('razorpay_signature', 'All three members of Razorpay are needed.');
  }
  const forms = [body.purchase_id, body.session_id, body.razorpay_order_id];
  if (forms.filter((each) => each !== undefined).length !== 1) {
    throw fieldProblem('purchase_id', 'Give one of purchase_id, session_id, razorpay_order_id.');
  }
  let id = body.purchase_id ?? null;
  for (const { name } of orderId === undefined ? [] : catalog.current().snapshot.payments) {
    id ??= await withDeadline(
      findPurchaseOf(sql, name, { orderId: orderId ?? null, paymentId: null }),
    );
  }
  const found = id === null ? null : await withDeadline(findOwnPurchase(sql, accountId, id));
  if (found === null) throw new Problem('not_found');
  return found;
}
