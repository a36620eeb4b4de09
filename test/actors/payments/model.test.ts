// Payments, refunds, disputes and spending come in any order, and callbacks are lost, repeated and
// late. A plain model says what there is: what was paid less what was taken back.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FactOfPayment } from '../../../media/payments/contract.ts';
import { newId } from '../../../runtime/ids.ts';
import { fc } from '../../harness/properties.ts';
import { sampledRuns } from '../../harness/sample.ts';
import { testSeed } from '../../harness/seed.ts';
import { openPaymentBed, type PaymentBed } from './bed.ts';

let bed: PaymentBed;
before(async () => {
  bed = await openPaymentBed();
});
after(() => bed.database.close());

const credits = 1_000_000_000n;
const priceCents = 1_000;

const event = fc.oneof(
  fc.record({ do: fc.constant('pay' as const) }),
  fc.record({
    do: fc.constant('fact' as const),
    kind: fc.constantFrom('refund' as const, 'dispute' as const),
    cents: fc.integer({ min: 1, max: priceCents }),
  }),
  fc.record({ do: fc.constant('move' as const), which: fc.nat(9), state: fc.nat(3) }),
  fc.record({ do: fc.constant('hold' as const), share: fc.integer({ min: 1, max: 100 }) }),
  fc.record({ do: fc.constant('settle' as const), share: fc.integer({ min: 0, max: 100 }) }),
  fc.record({ do: fc.constant('callback' as const), times: fc.integer({ min: 0, max: 3 }) }),
);
type Event = typeof event extends fc.Arbitrary<infer E> ? E : never;

const states = {
  refund: ['pending', 'succeeded', 'failed', 'succeeded'],
  dispute: ['inquiry', 'open', 'won', 'lost'],
} as const;

interface Run {
  id: string;
  walletId: string;
  facts: FactOfPayment[];
  holds: { id: string; micros: bigint }[];
  spent: bigint;
  isPaid: boolean;
}

async function perform(run: Run, each: Event): Promise<void> {
  const { wallet } = bed.deps;
  switch (each.do) {
    case 'pay':
      if (!run.isPaid) bed.model.pay(run.id);
      run.isPaid = true;
      return;
    case 'fact':
      if (!run.isPaid) return;
      run.facts.push(bed.model.addFact(run.id, { kind: each.kind, amountCents: each.cents }));
      return;
    case 'move': {
      const fact = run.facts[each.which];
      if (fact !== undefined) fact.state = states[fact.kind][each.state] ?? fact.state;
      return;
    }
    case 'hold': {
      const { available } = await bed.balance(run.walletId);
      const micros = (available * BigInt(each.share)) / 100n;
      if (micros === 0n) return;
      const id = newId('hold', 0);
      const owner = { kind: 'generation', id: newId('req', 0), instanceId: 'test' };
      const expiresAtMs = Date.now() + 600_000;
      const hold = { holdId: id, amountMicros: micros, owner, expiresAtMs, claim: null };
      const reply = await wallet(run.walletId, 'hold', hold);
      assert.equal(reply.status, 'held');
      run.holds.push({ id, micros });
      return;
    }
    case 'settle': {
      const hold = run.holds.shift();
      if (hold === undefined) return;
      const chargeMicros = (hold.micros * BigInt(each.share)) / 100n;
      const end = { holdId: hold.id, chargeMicros, providerCostMicros: 0n, finish: null };
      const reply = await wallet(run.walletId, 'settle', end);
      assert.ok(reply.status === 'settled' && reply.shortfallMicros === 0n);
      run.spent += chargeMicros;
      return;
    }
    case 'callback':
      await Promise.all(Array.from({ length: each.times }, () => bed.settler.settle(run.id)));
      return;
  }
}

/** What facts say now, without a line of the product. */
function expectedTarget(facts: readonly FactOfPayment[]): bigint {
  let cents = 0;
  for (const { kind, state, amountCents } of facts) {
    const counts = kind === 'refund' ? state !== 'failed' : state === 'open' || state === 'lost';
    if (counts) cents += amountCents;
  }
  const part = BigInt(Math.min(cents, priceCents));
  const whole = credits * part;
  return whole / BigInt(priceCents) + (whole % BigInt(priceCents) === 0n ? 0n : 1n);
}

async function check(run: Run): Promise<void> {
  await bed.settler.settle(run.id);
  const purchase = await bed.read(run.id);
  const { available, held } = await bed.balance(run.walletId);
  if (!run.isPaid) {
    assert.deepEqual([available, held, purchase.status], [0n, 0n, 'pending']);
    return;
  }
  const target = expectedTarget(run.facts);
  assert.equal(purchase.targetMicros, target);
  assert.equal(purchase.reversedMicros, target);
  assert.ok(available >= 0n && held >= 0n && purchase.debtMicros >= 0n);
  const heldByUs = run.holds.reduce((sum, { micros }) => sum + micros, 0n);
  assert.equal(held, heldByUs, 'nothing is taken from holds');
  // Whatever was taken is what was reversed, but for what could not be taken yet.
  assert.equal(available + held + run.spent + target - purchase.debtMicros, credits);
}

test('any order, loss and repetition of callbacks ends the same', async () => {
  console.log(`# facts of payments: seed ${testSeed}`);
  const numRuns = sampledRuns(400, 30);
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 25 }), async (events) => {
      const owner = await bed.account();
      const { id } = await bed.purchase(owner);
      await bed.settler.settle(id);
      const { walletId } = owner;
      const run: Run = { id, walletId, facts: [], holds: [], spent: 0n, isPaid: false };
      for (const each of events) await perform(run, each);
      await check(run);
      // Debt is taken of what becomes free, and all the rest ends.
      for (const hold of run.holds.splice(0)) {
        const request = { holdId: hold.id, reason: 'failed', finish: null } as const;
        await bed.deps.wallet(walletId, 'release', request);
      }
      const request = { operationId: newId('req', 0) };
      await bed.deps.wallet(walletId, 'collect', request);
      await check(run);
      const [purchase, balance] = [await bed.read(id), await bed.balance(walletId)];
      assert.ok(purchase.debtMicros === 0n || balance.available === 0n, 'debt is collected');
    }),
    { numRuns, seed: testSeed },
  );
  assert.deepEqual(await bed.broken(), []);
});
