// Charges without the person: one at a time, never twice, and paused as soon as the card says so.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSettler } from '../../../actors/payments/settling.ts';
import { topUp, topUpAll } from '../../../actors/payments/top-up.ts';
import { decideAuto, findSettings, keepMethod } from '../../../db/billing/settings.ts';
import { listPurchases } from '../../../db/purchases.ts';
import { openPaymentBed, type PaymentBed, starter } from './bed.ts';

let bed: PaymentBed;
before(async () => {
  bed = await openPaymentBed();
});
after(() => bed.database.close());

type Owner = Awaited<ReturnType<PaymentBed['account']>>;

async function wanting(change: { perDayMax?: number; monthMaxCents?: bigint } = {}) {
  const owner = await bed.account();
  await keepMethod(bed.sql, owner.accountId, {
    provider: 'stripe',
    customerId: 'cus_1',
    paymentMethodId: 'pm_1',
    brand: 'visa',
    last4: '4242',
  });
  await decideAuto(bed.sql, owner.accountId, {
    enabled: true,
    thresholdMicros: 5_000_000n,
    packageSlug: starter.slug,
    perDayMax: 3,
    monthMaxCents: null,
    ...change,
  });
  return owner;
}

const purchasesOf = async ({ accountId }: Owner) =>
  (await listPurchases(bed.sql, accountId, 100, null)).purchases;
const charges = () => bed.model.calls.filter((call) => call === 'charge').length;
/** As if a minute had passed. */
const later = ({ accountId }: Owner) => bed.sql`
  UPDATE purchases SET created_at = created_at - interval '61 seconds'
  WHERE account_id = ${accountId}`;

test('five hundred at once through the threshold are one charge', async () => {
  const owner = await wanting();
  const before = charges();
  const settlers = [1, 2, 3, 4].map(() => createSettler(bed.deps));
  const all = Array.from({ length: 500 }, (_, at) =>
    topUp(bed.deps, settlers[at % 4] ?? bed.settler, owner),
  );
  await Promise.all(all);
  assert.equal(charges() - before, 1);
  const [purchase] = await purchasesOf(owner);
  assert.deepEqual([purchase?.kind, purchase?.status], ['auto', 'completed']);
  assert.equal((await bed.balance(owner.walletId)).available, 1_000_000_000n);
});

test('a balance that was read before another round charged buys nothing', async () => {
  const owner = await wanting();
  const before = charges();
  const { wallet } = bed.deps;
  const late: typeof wallet = async (...call) => {
    const read = await wallet(...call);
    await topUp(bed.deps, bed.settler, owner);
    return read;
  };
  await topUp({ ...bed.deps, wallet: late }, bed.settler, owner);
  assert.equal(charges() - before, 1);
  assert.equal((await purchasesOf(owner)).length, 1);
});

test('a charge whose answer was lost is asked for, and not made again', async () => {
  const owner = await wanting();
  const before = charges();
  bed.model.faults.push('lost');
  await assert.rejects(topUp(bed.deps, bed.settler, owner));
  assert.equal((await purchasesOf(owner))[0]?.status, 'created');
  await topUpAll(bed.deps, bed.settler);
  assert.equal(charges() - before, 1, 'one is open');
  const [{ id } = { id: '' }] = await purchasesOf(owner);
  assert.equal(await bed.settler.settle(id), 'decided');
  assert.equal((await bed.read(id)).status, 'completed');
  assert.equal(charges() - before, 1);
});

test('a charge that never reached the provider is given up, not repeated blindly', async () => {
  const owner = await wanting();
  bed.model.faults.push('down');
  await assert.rejects(topUp(bed.deps, bed.settler, owner));
  const [{ id } = { id: '' }] = await purchasesOf(owner);
  assert.equal(await bed.settler.settle(id), 'unavailable', 'it may still appear');
  const old = { ...bed.deps, clock: () => Date.now() + bed.deps.limits.unknownForMs + 1 };
  await createSettler(old).settle(id);
  assert.equal((await bed.read(id)).status, 'expired');
});

test('a bank that wants its person, or a hard decline, pauses at once, and is told', async () => {
  for (const ending of ['needs_person', 'declined'] as const) {
    const owner = await wanting();
    bed.model.charges.push(ending);
    await topUp(bed.deps, bed.settler, owner);
    await topUp(bed.deps, bed.settler, owner);
    const { auto } = await findSettings(bed.sql, owner.accountId);
    assert.equal(auto.pausedReason, ending);
    assert.equal((await purchasesOf(owner)).length, 1);
    assert.equal(await bed.notices(owner.accountId), 1);
  }
});

test('other declines are tried after 1, 6 and 24 hours, then it pauses', async () => {
  const owner = await wanting({ perDayMax: 10 });
  for (const hours of [1, 6, 24, null]) {
    bed.model.charges.push('soft_declined');
    await topUp(bed.deps, bed.settler, owner);
    const { auto } = await findSettings(bed.sql, owner.accountId);
    if (hours === null) {
      assert.equal(auto.pausedReason, 'declined');
      continue;
    }
    const waitMs = (auto.nextAt?.getTime() ?? 0) - Date.now();
    assert.ok(Math.abs(waitMs - hours * 3_600_000) < 30_000, `${hours} h`);
    await later(owner);
  }
});

test('no more a day, and no more money a month, than the person said', async () => {
  const daily = await wanting({ perDayMax: 1 });
  await topUp(bed.deps, bed.settler, daily);
  await bed.sql`UPDATE billing_settings SET auto_threshold_micros = 9000000000
    WHERE account_id = ${daily.accountId}`;
  await later(daily);
  await topUp(bed.deps, bed.settler, daily);
  assert.equal((await purchasesOf(daily)).length, 1);
  const monthly = await wanting({ monthMaxCents: 999n });
  await topUp(bed.deps, bed.settler, monthly);
  assert.equal((await purchasesOf(monthly)).length, 0);
});

test('an account that is disabled or restricted is not charged', async () => {
  for (const column of ['disabled_at', 'deleting_at', 'billing_restricted_at']) {
    const owner = await wanting();
    await bed.sql.unsafe(`UPDATE accounts SET ${column} = now() WHERE id = '${owner.accountId}'`);
    await topUpAll(bed.deps, bed.settler);
    assert.equal((await purchasesOf(owner)).length, 0, column);
  }
});

test('the books are right after all of it', async () => {
  assert.deepEqual(await bed.broken(), []);
});
