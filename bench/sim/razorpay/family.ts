// The payment provider whose checkout is opened by the client's own page: JSON in and out, Basic,
// and no key for orders but their receipt.
import type { HttpRequest } from 'uWebSockets.js';
import type { SimExchange, SimFamily } from '../contract.ts';
import { isMembers, type Members } from '../members.ts';
import { basicOf, isRazorpay } from '../payments/basic.ts';
import type { RazorpayAccount } from './account.ts';
import type { Notes } from './objects.ts';

interface Failure {
  failed: true;
  status: number;
  error: Record<string, unknown>;
}
interface Call {
  account: RazorpayAccount;
  body: Members;
  query: URLSearchParams;
  id: string;
  secret: string;
}
type Act = (call: Call) => object | Failure;
type SimRoute = SimFamily['routes'][number];

const receiptCharactersMax = 40;
const amountMin = 100;
const notesMax = 15;
const pageMax = 100;
const pageUsual = 10;

function failure(status: number, code: string, description: string, field?: string): Failure {
  const rest = {
    source: 'business',
    step: 'payment_initiation',
    reason: 'input_validation_failed',
  };
  const named = field === undefined ? {} : { field };
  return { failed: true, status, error: { code, description, ...rest, metadata: {}, ...named } };
}

const bad = (description: string, field?: string) =>
  failure(400, 'BAD_REQUEST_ERROR', description, field);
const noSuchId = bad('The id provided does not exist');

const isFor = (req: HttpRequest) => isRazorpay(req);
const get = (path: string, act: Act): SimRoute => ({
  method: 'get',
  path,
  isFor,
  handle: (exchange) => serve(exchange, act, false),
});
const post = (path: string, act: Act): SimRoute => ({
  method: 'post',
  path,
  isFor,
  handle: (exchange) => serve(exchange, act, true),
});

export const razorpayFamily: SimFamily = {
  name: 'razorpay',
  keyOf: (req) => basicOf(req).password,
  keep: (req) => ({
    id: req.getParameter(0) ?? '',
    method: req.getMethod(),
    path: req.getUrl(),
    query: req.getQuery() ?? '',
    key: req.getHeader('x-refund-idempotency'),
    secret: basicOf(req).password,
  }),
  routes: [
    post('/v1/orders', createOrder),
    get('/v1/orders', ({ account, query }) => {
      const receipt = query.get('receipt');
      const all = account.orders.newest();
      return collection(receipt === null ? all : all.filter((o) => o.receipt === receipt), query);
    }),
    get('/v1/orders/:id', ({ account, id }) => account.orders.get(id) ?? noSuchId),
    get('/v1/orders/:id/payments', ({ account, id }) => {
      const order = account.orders.get(id);
      return order === null ? noSuchId : collection(account.paymentsOf(order), allOf);
    }),
    get('/v1/payments', ({ account, query }) => collection(account.payments.newest(), query)),
    get('/v1/payments/:id', ({ account, id }) => account.payments.get(id) ?? noSuchId),
    post('/v1/payments/:id/capture', capture),
    post('/v1/payments/:id/refund', refund),
    get('/v1/payments/:id/refunds', ({ account, id, query }) => {
      return collection(
        account.refunds.newest().filter((r) => r.payment_id === id),
        query,
      );
    }),
    get('/v1/refunds', ({ account, query }) => collection(account.refunds.newest(), query)),
    get('/v1/refunds/:id', ({ account, id }) => account.refunds.get(id) ?? noSuchId),
    get('/v1/disputes', ({ account, query }) => collection(account.disputes.newest(), query)),
    get('/v1/disputes/:id', ({ account, id }) => account.disputes.get(id) ?? noSuchId),
    // What the vendor's script does in a browser: the answer is what it hands to the page.
    { method: 'post', path: '/sim/razorpay/pay', handle: payOrder },
  ],
};

const allOf = new URLSearchParams({ count: String(pageMax) });

function collection(objects: readonly { created_at: number }[], query: URLSearchParams) {
  const numberOf = (name: string, usual: number) => Number(query.get(name) ?? usual);
  const from = numberOf('from', 0);
  const to = numberOf('to', Number.POSITIVE_INFINITY);
  const fitting = objects.filter(({ created_at: at }) => at >= from && at <= to);
  const skip = numberOf('skip', 0);
  const items = fitting.slice(skip, skip + Math.min(pageMax, numberOf('count', pageUsual)));
  return { entity: 'collection', count: items.length, items };
}

function createOrder({ account, body, secret }: Call): object | Failure {
  const { amount, currency, receipt = null, notes = {}, unique_receipt: isUnique } = body;
  if (typeof amount !== 'number' || !Number.isInteger(amount) || amount < amountMin) {
    return bad('Order amount less than minimum amount allowed', 'amount');
  }
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    return bad('The currency is invalid.', 'currency');
  }
  const isReceipt = receipt === null || typeof receipt === 'string';
  if (!isReceipt || (receipt !== null && receipt.length > receiptCharactersMax)) {
    return bad('The receipt may not be greater than 40 characters.', 'receipt');
  }
  if (!isMembers(notes) || Object.keys(notes).length > notesMax) {
    return bad('Number of fields in notes should be less than or equal to 15', 'notes');
  }
  const isTaken = account.orders.newest().some((order) => order.receipt === receipt);
  if (isUnique === true && receipt !== null && isTaken) {
    return bad('Receipt must be unique: there is an order with it.', 'receipt');
  }
  return account.makeOrder({ amount, currency, receipt, notes: notes as Notes }, secret);
}

function capture({ account, body, id }: Call): object | Failure {
  const payment = account.payments.get(id);
  if (payment === null) return noSuchId;
  if (payment.captured) return bad('This payment has already been captured');
  if (body.amount !== payment.amount) {
    return bad('Capture amount must be equal to the amount authorized', 'amount');
  }
  if (!account.capture(payment))
    return bad('Only payments which have been authorized are captured');
  return payment;
}

function refund({ account, body, id }: Call): object | Failure {
  const payment = account.payments.get(id);
  if (payment === null) return noSuchId;
  const { amount, notes, receipt } = body;
  const made = account.refund(payment, typeof amount === 'number' ? amount : null, {
    notes: isMembers(notes) ? (notes as Notes) : {},
    receipt: typeof receipt === 'string' ? receipt : null,
  });
  return made ?? bad('The total refund amount is greater than the refund payment amount', 'amount');
}

function payOrder(exchange: SimExchange): void {
  const { body } = exchange;
  const { order_id: id, email = 'person@example.com' } = isMembers(body) ? body : {};
  const account = exchange.payments.razorpay;
  const order = account.orders.get(String(id));
  const proof = order === null ? null : account.pay(order, String(email));
  const declined = { error: { code: 'BAD_REQUEST_ERROR', description: 'Payment failed' } };
  const status = order === null ? 404 : proof === null ? 400 : 200;
  exchange.reply(status, json, JSON.stringify(proof ?? declined));
}

const json = { 'content-type': 'application/json' };

/** Auth, the key of refunds, faults; then the act. */
function serve(exchange: SimExchange, act: Act, changes: boolean): void {
  const { id = '', method = '', path = '', query = '', key = '', secret = '' } = exchange.kept;
  const { payments, outageStatus } = exchange;
  const account = payments.razorpay;
  const called = (status: number) =>
    payments.called({ family: 'razorpay', method, path, key, status });
  const answer = (status: number, body: string) => {
    called(status);
    exchange.reply(status, json, body);
  };
  const refuse = ({ status, error }: Failure) => answer(status, JSON.stringify({ error }));
  if (!exchange.keyAccepted)
    return void refuse(failure(401, 'BAD_REQUEST_ERROR', 'Authentication failed'));
  if (typeof outageStatus === 'number') {
    return void refuse(failure(outageStatus, 'SERVER_ERROR', `This is a ${outageStatus}.`));
  }
  const request = `${method} ${path}\n${JSON.stringify(exchange.body)}`;
  const known = changes && key !== '' ? account.replays.find(key, request) : null;
  if (known === 'other') {
    return void refuse(bad('Different request with the same idempotency key has been processed.'));
  }
  if (known !== null) return void answer(known.status, known.body);
  const body = isMembers(exchange.body) ? exchange.body : {};
  const made = act({ account, body, query: new URLSearchParams(query), id, secret });
  if (isFailure(made)) return void refuse(made);
  const text = JSON.stringify(made);
  if (changes && key !== '') account.replays.keep(key, request, { status: 200, body: text });
  if (changes && account.takeFault('cut_accepted') !== null) {
    called(0);
    return void exchange.leave('cut');
  }
  if (changes && account.takeFault('500_accepted') !== null) {
    return void refuse(failure(500, 'SERVER_ERROR', 'The server encountered an error.'));
  }
  answer(200, text);
}

function isFailure(made: object): made is Failure {
  return 'failed' in made && made.failed === true;
}
