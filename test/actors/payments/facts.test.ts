// What a provider's answer means for a purchase, case by case.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type JudgedPurchase,
  judge,
  type PurchaseStatus,
  reasonOf,
  sumFacts,
  targetMicros,
} from '../../../actors/payments/facts.ts';
import type { FactOfPayment, Payment, PaymentLook } from '../../../media/payments/contract.ts';
import { fc } from '../../harness/properties.ts';

const mark = { purchaseId: 'pur_1', installation: 'inst_1' };
const purchase: JudgedPurchase = {
  id: 'pur_1',
  status: 'pending',
  priceCents: 1_000,
  currency: 'usd',
  paymentId: null,
};
const paid: Payment = {
  id: 'pi_1',
  amountCents: 1_000,
  taxCents: 0,
  currency: 'usd',
  purse: null,
  saved: null,
  facts: [],
};
const look: PaymentLook = {
  mark,
  amountCents: 1_000,
  currency: 'usd',
  state: 'open',
  failureCode: null,
  needsPerson: false,
  payments: [],
  toCapture: [],
};
const judged = (change: Partial<PaymentLook>, of: Partial<JudgedPurchase> = {}) =>
  judge({ ...purchase, ...of }, 'cs_1', { ...look, ...change }, 'inst_1');
const kindsOf = (change: Partial<PaymentLook>, of: Partial<JudgedPurchase> = {}) =>
  judged(change, of).anomalies.map(({ kind }) => kind);

test('money counts from all states but those in which it has', () => {
  const states: Record<PurchaseStatus, 'paid' | null> = {
    created: 'paid',
    pending: 'paid',
    failed: 'paid',
    expired: 'paid',
    paid: null,
    completed: null,
    refunded: null,
  };
  for (const [status, expected] of Object.entries(states)) {
    const of = { status: status as PurchaseStatus };
    const judgement = judged({ state: 'paid', payments: [paid] }, of);
    assert.equal(judgement.status, expected, status);
    assert.equal(judgement.payment?.id, 'pi_1', status);
    assert.deepEqual(judgement.anomalies, [], status);
  }
});

test('without money an open one ends as its provider says, and no other moves', () => {
  assert.equal(judged({ state: 'declined', failureCode: 'x' }).status, 'failed');
  assert.equal(judged({ state: 'declined', failureCode: 'x' }).failureCode, 'x');
  assert.equal(judged({ state: 'closed' }).status, 'expired');
  assert.equal(judged({ state: 'under_way' }).status, null);
  assert.ok(judged({ state: 'under_way' }).isUnderWay);
  assert.ok(judged({ state: 'open' }).isOpen);
  for (const status of ['completed', 'expired', 'failed', 'paid', 'refunded'] as const) {
    assert.equal(judged({ state: 'closed' }, { status }).status, null, status);
  }
});

test('what is not asked for is not counted, and told', () => {
  const wrongAmount = { ...paid, amountCents: 999 };
  const wrongCurrency = { ...paid, currency: 'eur' };
  assert.deepEqual(kindsOf({ state: 'paid', payments: [wrongAmount] }), ['wrong_amount']);
  assert.deepEqual(kindsOf({ state: 'paid', payments: [wrongCurrency] }), ['wrong_currency']);
  assert.equal(judged({ state: 'paid', payments: [wrongAmount] }).status, 'failed');
  const foreign = { state: 'paid', payments: [paid] } as const;
  const other = { ...foreign, payments: [paid], mark: { ...mark, purchaseId: 'pur_2' } };
  assert.deepEqual(kindsOf(other), ['wrong_purchase']);
  assert.equal(judged(other).status, null);
  assert.deepEqual(kindsOf({ ...other, mark: null }), ['wrong_purchase']);
  const elsewhere = { ...other, mark: { ...mark, installation: 'inst_2' } };
  assert.deepEqual(kindsOf(elsewhere), ['wrong_installation']);
  assert.equal(judged(elsewhere).payment, null);
  assert.deepEqual(kindsOf({ mark: null }), [], 'nobody paid anything');
});

test('tax that the provider tells is no part of the price', () => {
  const taxed = { ...paid, amountCents: 1_190, taxCents: 190 };
  assert.equal(judged({ state: 'paid', payments: [taxed] }).status, 'paid');
  assert.deepEqual(kindsOf({ state: 'paid', payments: [{ ...taxed, taxCents: 0 }] }), [
    'wrong_amount',
  ]);
});

test('of several payments one counts: the one that did before, else the first that fits', () => {
  const wrong = { ...paid, id: 'pi_0', amountCents: 1 };
  const second = { ...paid, id: 'pi_2' };
  const payments = [wrong, paid, second];
  const judgement = judged({ state: 'paid', payments });
  assert.equal(judgement.payment?.id, 'pi_1');
  assert.deepEqual(
    judgement.anomalies.map(({ kind, objectId }) => [kind, objectId]),
    [
      ['wrong_amount', 'pi_0'],
      ['second_payment', 'pi_2'],
    ],
  );
  const counted = judged({ state: 'paid', payments }, { paymentId: 'pi_2', status: 'completed' });
  assert.equal(counted.payment?.id, 'pi_2');
  assert.deepEqual(
    counted.anomalies.map(({ objectId }) => objectId),
    ['pi_0', 'pi_1'],
  );
});

test('what waits to be captured is captured once, if it is what was asked for', () => {
  const waiting = { paymentId: 'pay_1', amountCents: 1_000, currency: 'usd' };
  const more = { ...waiting, paymentId: 'pay_2' };
  const wrong = { ...waiting, paymentId: 'pay_3', amountCents: 5 };
  const judgement = judged({ state: 'under_way', toCapture: [wrong, waiting, more] });
  assert.deepEqual(judgement.toCapture, [waiting]);
  assert.deepEqual(
    judgement.anomalies.map(({ kind, objectId }) => [kind, objectId]),
    [
      ['wrong_amount', 'pay_3'],
      ['second_payment', 'pay_2'],
    ],
  );
  const late = judged({ state: 'paid', payments: [paid], toCapture: [waiting] });
  assert.deepEqual(late.toCapture, [], 'it is paid');
});

const fact = (change: Partial<FactOfPayment>): FactOfPayment => ({
  id: 'f_1',
  kind: 'refund',
  state: 'succeeded',
  amountCents: 400,
  openedAt: new Date(0),
  refundId: null,
  ...change,
});

test('facts count as their provider tells them, a refund of ours once', () => {
  const sums = sumFacts(
    [
      fact({ id: 're_1' }),
      fact({ id: 're_2', state: 'pending', amountCents: 10 }),
      fact({ id: 're_3', state: 'failed', amountCents: 5_000 }),
      fact({ id: 'dp_1', kind: 'dispute', state: 'inquiry', amountCents: 9 }),
      fact({ id: 'dp_2', kind: 'dispute', state: 'won', amountCents: 9 }),
      fact({ id: 're_4', amountCents: 7, refundId: 'rfd_4' }),
    ],
    [
      { id: 'rfd_1', amountCents: 400, providerRefundId: 're_1' },
      { id: 'rfd_4', amountCents: 7, providerRefundId: null },
      { id: 'rfd_5', amountCents: 3, providerRefundId: null },
    ],
  );
  assert.equal(sums.refundedCents, 400 + 10 + 7 + 3);
  assert.equal(sums.returnedCents, 407);
  assert.equal(sums.disputedCents, 0);
  assert.equal(sums.dispute?.state, 'won');
});

test('a dispute counts while it is open and when it is lost; the worst is shown', () => {
  for (const [state, cents] of [
    ['open', 400],
    ['lost', 400],
    ['won', 0],
    ['inquiry', 0],
  ] as const) {
    assert.equal(sumFacts([fact({ kind: 'dispute', state })], []).disputedCents, cents, state);
  }
  const several = (['won', 'lost', 'open', 'inquiry'] as const).map((state, index) =>
    fact({ id: `dp_${index}`, kind: 'dispute', state }),
  );
  assert.equal(sumFacts(several, []).dispute?.state, 'lost');
});

test('the target is the share of the money, rounded up, and never more than all', () => {
  const share = (refundedCents: number, disputedCents = 0) =>
    targetMicros(100n, 3, { refundedCents, disputedCents });
  assert.deepEqual([share(0), share(1), share(2), share(3), share(4)], [0n, 34n, 67n, 100n, 100n]);
  assert.equal(share(2, 2), 100n);
  assert.equal(targetMicros(100n, 0, { refundedCents: 0, disputedCents: 0 }), 0n);
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 2n ** 52n }),
      fc.integer({ min: 1, max: 10 ** 9 }),
      fc.nat(2 * 10 ** 9),
      fc.nat(2 * 10 ** 9),
      (credits, paidCents, a, b) => {
        const target = (cents: number) =>
          targetMicros(credits, paidCents, { refundedCents: cents, disputedCents: 0 });
        assert.ok(target(a) <= credits);
        if (a <= b) assert.ok(target(a) <= target(b));
        if (a >= paidCents) assert.equal(target(a), credits);
      },
    ),
  );
});

test('a step is called by what grew', () => {
  assert.equal(reasonOf(5n, { disputedCents: 0 }, { disputedCents: 0 }), 'refund');
  assert.equal(reasonOf(5n, { disputedCents: 0 }, { disputedCents: 5 }), 'dispute');
  assert.equal(reasonOf(-5n, { disputedCents: 5 }, { disputedCents: 0 }), 'restore');
});
