// POST /api/me/purchases: a checkout at a payment provider, or the credits where they cost nothing.
import * as v from 'valibot';
import { fixedLimits } from '../../runtime/limits.ts';
import { requireBillingOwner } from '../billing/owner.ts';
import { defineRoute } from '../define.ts';
import { idempotencyKeyOf } from '../generations/idempotency.ts';
import { begin } from './begin.ts';
import { checkoutSchema, purchaseBody, purchaseSchema } from './schema.ts';

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(120));

const bodySchema = v.strictObject({
  package_id: v.optional(name),
  package_slug: v.optional(name),
  provider: v.optional(name),
  currency: v.optional(
    v.pipe(v.string(), v.regex(/^[a-z]{3}$/, 'expected a currency of ISO 4217 in small letters')),
  ),
  save_payment_method: v.optional(v.boolean(), false),
  return_path: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^\/[A-Za-z0-9/_-]{0,200}$/,
        'expected a path of this site: letters, digits, / _ and -',
      ),
    ),
    '/account',
  ),
});

const replySchema = v.strictObject({
  ok: v.literal(true),
  purchase: purchaseSchema,
  checkout: v.nullable(checkoutSchema),
});

export const createPurchase = defineRoute({
  method: 'POST',
  path: '/api/me/purchases',
  operationId: 'createPurchase',
  summary: 'Buy credits',
  description:
    '`package_slug` and `package_id` are one name. Without `provider` the first enabled one ' +
    'by name sells it; without `currency` its first that the package has. ' +
    '`checkout` says how to pay: `redirect` to the page of the provider, or the members that the ' +
    'checkout of `razorpay` takes. It is null where the package costs nothing: that is credited ' +
    'at once, once for each package. The provider leads back to `return_path` with `purchase_id` ' +
    'and `result` (`paid` or `cancelled`). Credits come as soon as the provider, asked, says so, ' +
    'whatever becomes of the browser. A repeated Idempotency-Key is answered 200 with ' +
    'its purchase as it is now. An eleventh open checkout ends the oldest one. 20 an hour.',
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'user', isForSuspended: true },
  cors: 'web',
  headers: {
    'idempotency-key': {
      description: 'Names the purchase for 24 hours. 1 to 255 visible ASCII characters.',
    },
  },
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { package_slug: 'starter' },
    schema: bodySchema,
  },
  replies: {
    200: { description: 'The purchase that the key named before.', schema: replySchema },
    201: { description: 'The new purchase, and how to pay it.', schema: replySchema },
  },
  problems: [
    'forbidden',
    'conflict',
    'idempotency_key_reused',
    'rate_limited',
    'dependency_unavailable',
  ],
  async handle({ body, caller, exchange, services }) {
    const buyer = { ...requireBillingOwner(caller), isUnverified: caller.isUnverified };
    const key = idempotencyKeyOf(exchange, {});
    const { purchase, isNew } = await begin(services, buyer, body, key);
    return {
      status: isNew ? 201 : 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, purchase: purchaseBody(purchase), checkout: purchase.checkout },
    };
  },
});
