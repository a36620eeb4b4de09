// Checkout sessions: made, shown, paid by whoever has the page, expired.
import type { Members } from '../members.ts';
import { now, type StripeAccount } from './account.ts';
import { type Failure, invalid } from './failure.ts';
import { membersIn, numberIn, textIn } from './form.ts';
import type { CardError, Intent, Session, Texts } from './objects.ts';

const soonestSeconds = 30 * 60;
const latestSeconds = 24 * 3_600;
/** What this provider's taxes are: a tenth on top. */
const taxPart = 0.1;
/** How long a payment is under way that is not decided at once. */
const delayedMs = 1_000;
/** Clocks differ, and requests take their time. */
const graceSeconds = 60;

export function createSession(
  account: StripeAccount,
  form: Members,
  origin: string,
): Session | Failure {
  const lines = Array.isArray(form.line_items) ? (form.line_items as Members[]) : [];
  const priced = lines.map((line) => ({ line, price: membersIn(line, 'price_data') }));
  const currency = textIn(priced[0]?.price ?? {}, 'currency')?.toLowerCase() ?? null;
  const expiresAt = numberIn(form, 'expires_at') ?? now() + latestSeconds;
  const successUrl = textIn(form, 'success_url');
  if (textIn(form, 'mode') !== 'payment') return invalid('mode', 'You must pass `mode`.');
  if (currency === null) return invalid('line_items', 'You must pass `line_items`.');
  if (successUrl === null) return invalid('success_url', 'You must pass `success_url`.');
  const left = expiresAt - now();
  if (left < soonestSeconds - graceSeconds || left > latestSeconds + graceSeconds) {
    return invalid('expires_at', 'The `expires_at` timestamp must be 30 minutes to 24 hours off.');
  }
  let subtotal = 0;
  for (const { line, price } of priced) {
    const amount = numberIn(price, 'unit_amount');
    if (amount === null || amount < 1) return invalid('line_items', 'Invalid integer.');
    subtotal += amount * (numberIn(line, 'quantity') ?? 1);
  }
  const taxed = textIn(membersIn(form, 'automatic_tax'), 'enabled') === 'true';
  const tax = taxed ? Math.round(subtotal * taxPart) : 0;
  const intent = membersIn(form, 'payment_intent_data');
  const id = account.newId('cs_test');
  account.plans.put({
    id,
    description: textIn(membersIn(priced[0]?.price ?? {}, 'product_data'), 'name') ?? 'Order',
    intentMetadata: membersIn(intent, 'metadata') as Texts,
    intentDescription: textIn(intent, 'description'),
    futureUsage: textIn(intent, 'setup_future_usage'),
  });
  return account.sessions.put({
    id,
    object: 'checkout.session',
    mode: 'payment',
    status: 'open',
    payment_status: 'unpaid',
    url: `${origin}/c/pay/${id}`,
    success_url: successUrl,
    cancel_url: textIn(form, 'cancel_url'),
    payment_intent: null,
    customer: textIn(form, 'customer'),
    customer_creation: textIn(form, 'customer_creation') ?? 'if_required',
    customer_email: textIn(form, 'customer_email'),
    client_reference_id: textIn(form, 'client_reference_id'),
    amount_subtotal: subtotal,
    amount_total: subtotal + tax,
    total_details: { amount_tax: tax, amount_discount: 0, amount_shipping: 0 },
    automatic_tax: { enabled: taxed, status: taxed ? 'complete' : null },
    currency,
    metadata: membersIn(form, 'metadata') as Texts,
    expires_at: expiresAt,
    created: now(),
    livemode: false,
  });
}

/** A session as it is now: its time may be over. */
export function sessionNow(account: StripeAccount, id: string): Session | null {
  const session = account.sessions.get(id);
  if (session?.status === 'open' && session.expires_at <= now()) expireSession(account, session);
  return session;
}

export function expireSession(account: StripeAccount, session: Session): void {
  session.status = 'expired';
  session.url = null;
  account.emit('checkout.session.expired', session);
}

export type PageAct = 'pay' | 'decline' | 'delay';

/** What whoever has the page does. */
export function actOnSession(account: StripeAccount, session: Session, act: PageAct): void {
  if (session.status !== 'open') return;
  const declined = account.takeFault('decline');
  if (act === 'decline' || declined !== null) {
    account.decline(intentOf(account, session), cardError(declined?.code ?? 'generic_decline'));
    return;
  }
  const late = act === 'delay' ? { delayMs: delayedMs } : account.takeFault('late_authorized');
  const intent = intentOf(account, session);
  if (account.takeFault('wrong_amount') !== null) intent.amount += 1;
  session.status = 'complete';
  session.url = null;
  if (late !== null) {
    intent.status = 'processing';
    account.emit('checkout.session.completed', session);
    account.later(late.delayMs, () => {
      session.payment_status = 'paid';
      account.succeed(intent);
      account.emit('checkout.session.async_payment_succeeded', session);
    });
    return;
  }
  session.payment_status = 'paid';
  account.succeed(intent);
  account.emit('checkout.session.completed', session);
  if (account.takeFault('second_payment') !== null) payTwice(account, session);
}

/** Somebody pays a copy of the session: the same purchase, a second time. */
function payTwice(account: StripeAccount, session: Session): void {
  const plan = account.plans.get(session.id);
  const id = account.newId('cs_test');
  if (plan !== null) account.plans.put({ ...plan, id });
  const copy = account.sessions.put({ ...session, id, payment_intent: null });
  account.succeed(intentOf(account, copy));
  account.emit('checkout.session.completed', copy);
}

/** Made at the first try to pay. */
function intentOf(account: StripeAccount, session: Session): Intent {
  const known = account.intents.get(session.payment_intent ?? '');
  if (known !== null) return known;
  const plan = account.plans.get(session.id);
  const saves = plan?.futureUsage !== null || session.customer_creation === 'always';
  if (session.customer === null && saves) {
    session.customer = account.makeCustomer(session.customer_email).id;
  }
  const holder = session.customer_email ?? session.customer ?? session.id;
  const intent = account.makeIntent({
    amount: session.amount_total,
    currency: session.currency,
    customer: session.customer,
    payment_method: account.makeMethod(holder, session.customer).id,
    metadata: plan?.intentMetadata ?? {},
    description: plan?.intentDescription ?? null,
    setup_future_usage: plan?.futureUsage ?? null,
  });
  session.payment_intent = intent.id;
  return intent;
}

/** Issuers say whether another try makes sense. */
export function cardError(declineCode: string): CardError {
  const needsPerson = declineCode === 'authentication_required';
  const isFinal = /^(?:stolen_card|lost_card|pickup_card|expired_card|fraudulent)$/;
  return {
    type: 'card_error',
    code: needsPerson ? 'authentication_required' : 'card_declined',
    decline_code: declineCode,
    advice_code: needsPerson
      ? null
      : isFinal.test(declineCode)
        ? 'do_not_try_again'
        : 'try_again_later',
    message: needsPerson
      ? 'Your card was declined. This transaction requires authentication.'
      : 'Your card was declined.',
  };
}
