// POST /api/payments/webhooks/{provider}: stored before it is answered, worked on after it. Nothing
// of what it says is believed but that something happened.
import * as v from 'valibot';
import { paymentProvider } from '../../actors/catalog/payments/provider.ts';
import { paymentLimits } from '../../actors/payments/limits.ts';
import { objectsOf } from '../../actors/payments/pointer.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { keepEvent } from '../../db/purchases/events.ts';
import type { Pointer } from '../../media/payments/contract.ts';
import { bytesBody } from '../../runtime/http/route.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';

export const receiveWebhook = defineRoute({
  method: 'POST',
  path: '/api/payments/webhooks/{provider}',
  operationId: 'receivePaymentWebhook',
  summary: 'Receive an event of a payment provider',
  description:
    'For providers alone: the signature over the raw bytes is checked against the secrets of ' +
    'that provider. 200: it is stored, or none of ours. 503: it is not stored, so that the ' +
    'provider calls again. The purchase behind it is asked about afterwards.',
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'none' },
  cors: 'none',
  params: v.strictObject({ provider: v.pipe(v.string(), v.maxLength(120)) }),
  headers: {
    'stripe-signature': { description: 'Of Stripe: a time and signatures.' },
    'x-razorpay-signature': { description: 'Of Razorpay: HMAC-SHA-256 of the body.' },
    'x-razorpay-event-id': { description: 'Of Razorpay: names the event.' },
  },
  body: bytesBody(paymentLimits.webhookBytesMax),
  replies: {
    200: { description: 'It is stored.', schema: v.strictObject({ ok: v.literal(true) }) },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ body, params, exchange, services }) {
    const seller = paymentProvider(services.catalog.current(), params.provider);
    if (seller === null) throw new Problem('not_found');
    const header = (name: string) => exchange.header(name);
    const { readWebhook } = seller.adapter;
    const pointer = readSigned(() => readWebhook(body, header, seller.webhookSecrets, Date.now()));
    const { eventId, type } = pointer;
    const event = { provider: seller.name, eventId, type, objects: objectsOf(pointer) };
    await withDeadline(keepEvent(services.sql, event));
    services.payments.desk().tell('arrived', null);
    return { status: 200, headers: { 'cache-control': 'no-store' }, json: { ok: true } };
  },
});

/** @throws Problem invalid_request where nobody signed it, or what was signed is no event */
function readSigned(read: () => Pointer | null): Pointer {
  let pointer: Pointer | null = null;
  try {
    pointer = read();
  } catch {
    throw new Problem('invalid_request', { message: 'What was signed is no event.' });
  }
  if (pointer !== null) return pointer;
  throw new Problem('invalid_request', { message: 'No secret of ours signed these bytes.' });
}
