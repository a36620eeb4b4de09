// The page that a person pays on: three buttons and a way back. `sim=pay`, `decline` or `delay` in
// its query does at once what the button does.
import type { SimExchange, SimFamily } from '../contract.ts';
import { pageHtml } from '../payments/page.ts';
import { actOnSession, type PageAct, sessionNow } from './checkout.ts';
import type { Session } from './objects.ts';

const html = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };

export const pageRoutes: SimFamily['routes'] = [
  {
    method: 'get',
    path: '/c/pay/:id',
    handle: (exchange) => {
      const { query = '' } = exchange.kept;
      answer(exchange, new URLSearchParams(query).get('sim'));
    },
  },
  {
    method: 'post',
    path: '/c/pay/:id',
    reads: 'bytes',
    handle: (exchange) => {
      const text = exchange.body instanceof Buffer ? exchange.body.toString() : '';
      answer(exchange, new URLSearchParams(text).get('sim'));
    },
  },
];

function answer(exchange: SimExchange, act: string | null): void {
  const { id = '' } = exchange.kept;
  const account = exchange.payments.stripe;
  const session = sessionNow(account, id);
  if (session === null) return void show(exchange, 404, null, 'There is no such checkout.');
  if (isAct(act)) actOnSession(account, session, act);
  if (session.status === 'complete') return void leadTo(exchange, successUrlOf(session));
  if (session.status === 'expired') return void show(exchange, 410, null, 'This checkout is over.');
  const isDeclined = act === 'pay' || act === 'decline';
  show(exchange, 200, session, isDeclined ? 'Your card was declined. Try again.' : null);
}

function isAct(act: string | null): act is PageAct {
  return act === 'pay' || act === 'decline' || act === 'delay';
}

function successUrlOf({ success_url: url, id }: Session): string {
  return url.replaceAll('{CHECKOUT_SESSION_ID}', id);
}

function leadTo(exchange: SimExchange, location: string): void {
  exchange.reply(303, { location, 'cache-control': 'no-store' }, '');
}

function show(
  exchange: SimExchange,
  status: number,
  session: Session | null,
  message: string | null,
): void {
  const plan = session === null ? null : exchange.payments.stripe.plans.get(session.id);
  const order =
    session === null
      ? null
      : {
          description: plan?.description ?? 'Order',
          amountCents: session.amount_total,
          taxCents: session.total_details.amount_tax,
          currency: session.currency,
          email: session.customer_email,
          cancelUrl: session.cancel_url,
        };
  exchange.reply(status, html, pageHtml(order, message));
}
