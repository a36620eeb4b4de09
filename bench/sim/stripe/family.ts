// The payment provider whose checkout is a page of its own: forms in, JSON out, keys under which a
// request is done once.
import type { HttpRequest } from 'uWebSockets.js';
import type { SimExchange, SimFamily } from '../contract.ts';
import type { Members } from '../members.ts';
import { bearerOrUser, isRazorpay } from '../payments/basic.ts';
import type { Answer } from '../payments/replays.ts';
import type { StripeAccount } from './account.ts';
import { expanded, pageOf } from './answer.ts';
import { createIntent } from './charge.ts';
import { createSession, expireSession, sessionNow } from './checkout.ts';
import {
  type Failure,
  invalid,
  isFailure,
  missing,
  ofStatus,
  otherRequest,
  ownFault,
  wrongKey,
  wrongState,
} from './failure.ts';
import { membersIn, numberIn, parseNested, textIn } from './form.ts';
import type { Texts } from './objects.ts';
import { pageRoutes } from './page.ts';

interface Call {
  account: StripeAccount;
  /** The form, or the query. */
  asked: Members;
  id: string;
  path: string;
  origin: string;
}
type Act = (call: Call) => object | Failure;
type SimRoute = SimFamily['routes'][number];

const json = { 'content-type': 'application/json' };
const isFor = (req: HttpRequest) => !isRazorpay(req);
const get = (path: string, act: Act): SimRoute => ({
  method: 'get',
  path,
  isFor,
  handle: (exchange) => serve(exchange, act, false),
});
const post = (path: string, act: Act): SimRoute => ({
  method: 'post',
  path,
  reads: 'bytes',
  isFor,
  handle: (exchange) => serve(exchange, act, true),
});

export const stripeFamily: SimFamily = {
  name: 'stripe',
  keyOf: bearerOrUser,
  keep: (req) => ({
    id: req.getParameter(0) ?? '',
    method: req.getMethod(),
    path: req.getUrl(),
    query: req.getQuery() ?? '',
    host: req.getHeader('host'),
    key: req.getHeader('idempotency-key'),
  }),
  routes: [
    post('/v1/checkout/sessions', ({ account, asked, origin }) =>
      createSession(account, asked, origin),
    ),
    get('/v1/checkout/sessions', ({ account, asked, path }) => {
      const intent = textIn(asked, 'payment_intent');
      const all = account.sessions.newest();
      const found = all.filter((each) => intent === null || each.payment_intent === intent);
      return pageOf(found, asked, path);
    }),
    get('/v1/checkout/sessions/:id', ({ account, id }) => {
      return sessionNow(account, id) ?? missing('checkout.session', id);
    }),
    post('/v1/checkout/sessions/:id/expire', ({ account, id }) => {
      const session = sessionNow(account, id);
      if (session === null) return missing('checkout.session', id);
      if (session.status !== 'open') {
        return wrongState('Only Checkout Sessions with a status in ["open"] can be expired.');
      }
      expireSession(account, session);
      return session;
    }),
    post('/v1/customers', ({ account, asked }) =>
      account.makeCustomer(textIn(asked, 'email'), {
        name: textIn(asked, 'name'),
        metadata: membersIn(asked, 'metadata') as Texts,
      }),
    ),
    get('/v1/customers/:id', ({ account, id }) => {
      return account.customers.get(id) ?? missing('customer', id);
    }),
    post('/v1/payment_intents', ({ account, asked }) => createIntent(account, asked)),
    get('/v1/payment_intents', ({ account, asked, path }) =>
      pageOf(account.intents.newest(), asked, path),
    ),
    get('/v1/payment_intents/:id', ({ account, id }) => {
      return account.intents.get(id) ?? missing('payment_intent', id);
    }),
    post('/v1/payment_intents/:id/cancel', ({ account, id }) => {
      const intent = account.intents.get(id);
      if (intent === null) return missing('payment_intent', id);
      if (intent.status === 'succeeded' || intent.status === 'processing') {
        return wrongState(`You cannot cancel this PaymentIntent: its status is ${intent.status}.`);
      }
      intent.status = 'canceled';
      account.emit('payment_intent.canceled', intent);
      return intent;
    }),
    get('/v1/payment_methods/:id', ({ account, id }) => {
      return account.methods.get(id) ?? missing('payment_method', id);
    }),
    get('/v1/payment_methods', ({ account, asked, path }) => {
      const customer = textIn(asked, 'customer');
      const found = account.methods.newest().filter((each) => each.customer === customer);
      return pageOf(found, asked, path);
    }),
    post('/v1/refunds', refund),
    ...listed('refunds', (account) => account.refunds),
    ...listed('disputes', (account) => account.disputes),
    get('/v1/events', ({ account, asked, path }) => {
      const types = Array.isArray(asked.types) ? asked.types : null;
      const all = account.events.newest();
      return pageOf(types === null ? all : all.filter((e) => types.includes(e.type)), asked, path);
    }),
    get('/v1/events/:id', ({ account, id }) => account.events.get(id) ?? missing('event', id)),
    get('/v1/balance', () => ({ object: 'balance', available: [], pending: [], livemode: false })),
    ...pageRoutes,
  ],
};

interface OfPayment {
  id: string;
  created: number;
  payment_intent: string;
  charge: string;
}

function listed(
  name: 'refunds' | 'disputes',
  shelfOf: (account: StripeAccount) => { newest(): OfPayment[]; get(id: string): object | null },
): SimRoute[] {
  return [
    get(`/v1/${name}`, ({ account, asked, path }) => {
      const intent = textIn(asked, 'payment_intent');
      const charge = textIn(asked, 'charge');
      const found = shelfOf(account)
        .newest()
        .filter((each) => intent === null || each.payment_intent === intent)
        .filter((each) => charge === null || each.charge === charge);
      return pageOf(found, asked, path);
    }),
    get(`/v1/${name}/:id`, ({ account, id }) => {
      return shelfOf(account).get(id) ?? missing(name.slice(0, -1), id);
    }),
  ];
}

function refund({ account, asked }: Call): object | Failure {
  const named = textIn(asked, 'payment_intent') ?? textIn(asked, 'charge') ?? '';
  const intent = account.paymentOf(named);
  if (intent === null) return missing('payment_intent', named);
  const metadata = membersIn(asked, 'metadata') as Texts;
  const made = account.refund(intent, numberIn(asked, 'amount'), { metadata });
  return made ?? invalid('amount', 'Refund amount is greater than unrefunded amount on charge.');
}

/** Auth, keys, faults; then the act, and what is expanded of what it made. */
function serve(exchange: SimExchange, act: Act, changes: boolean): void {
  const { method = '', path = '', query = '', key = '' } = exchange.kept;
  const { payments, outageStatus } = exchange;
  const account = payments.stripe;
  const text = exchange.body instanceof Buffer ? exchange.body.toString() : query;
  const called = (status: number) =>
    payments.called({ family: 'stripe', method, path, key, status });
  const answer = ({ status, body }: Answer, headers: Record<string, string> = {}) => {
    if (changes && status < 400 && account.takeFault('cut_accepted') !== null) {
      called(0);
      exchange.leave('cut');
      return;
    }
    called(status);
    exchange.reply(status, { ...json, 'request-id': account.newId('req'), ...headers }, body);
  };
  const refuse = (failure: Failure) => answer(answerOf(failure));
  if (!exchange.keyAccepted) return void refuse(wrongKey);
  if (typeof outageStatus === 'number') return void refuse(ofStatus(outageStatus));
  const isKeyed = changes && key !== '';
  const request = `${method} ${path}\n${text}`;
  const known = isKeyed ? account.replays.find(key, request) : null;
  if (known === 'other') return void refuse(otherRequest);
  if (known !== null) return void answer(known, { 'idempotent-replayed': 'true' });
  const made = perform(exchange, act, parseNested(text));
  const isDone = made.status < 400;
  const isLost = changes && isDone && account.takeFault('500_accepted') !== null;
  const told = isLost ? answerOf(ownFault) : made;
  // What was refused before anything was done may be asked for again under its key.
  if (isKeyed && (isDone || made.status === 402)) account.replays.keep(key, request, told);
  answer(told);
}

function perform(exchange: SimExchange, act: Act, asked: Members): Answer {
  const { id = '', path = '', host = '' } = exchange.kept;
  const account = exchange.payments.stripe;
  const made = act({ account, asked, id, path, origin: `http://${host}` });
  if (isFailure(made)) return answerOf(made);
  return { status: 200, body: JSON.stringify(expanded(account, made, asked)) };
}

function answerOf({ status, error }: Failure): Answer {
  return { status, body: JSON.stringify({ error }) };
}
