// What providers called and what their lists told: kept, worked on once it can be, and never lost.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readLists, workInbox } from '../../../actors/payments/inbox.ts';
import { objectsOf } from '../../../actors/payments/pointer.ts';
import { keepEvent, moveCursor, sweepEvents } from '../../../db/purchases/events.ts';
import type { Pointer } from '../../../media/payments/contract.ts';
import { openPaymentBed, type PaymentBed } from './bed.ts';

let bed: PaymentBed;
before(async () => {
  bed = await openPaymentBed();
});
after(() => bed.database.close());

let events = 0;
function pointer(change: Partial<Pointer>): Pointer {
  events += 1;
  return {
    eventId: `evt_${events}`,
    type: 'payment.captured',
    at: new Date(),
    purchaseId: null,
    orderIds: [],
    paymentIds: [],
    ...change,
  };
}

const keep = (told: Pointer) =>
  keepEvent(bed.sql, {
    provider: 'stripe',
    eventId: told.eventId,
    type: told.type,
    objects: objectsOf(told),
  });

async function paidOne() {
  const owner = await bed.account();
  const { id } = await bed.purchase(owner);
  await bed.settler.settle(id);
  return { id, payment: bed.model.pay(id) };
}

async function rowOf(eventId: string) {
  const [row] = await bed.sql<{ done: boolean; tries: number; purchase_id: string | null }[]>`
    SELECT done_at IS NOT NULL AS done, tries, purchase_id FROM payment_events
    WHERE event_id = ${eventId}`;
  return { ...row };
}

test('an event finds its purchase by mark, by order and by payment', async () => {
  for (const by of ['mark', 'order', 'payment'] as const) {
    const { id, payment } = await paidOne();
    const told = pointer({
      purchaseId: by === 'mark' ? id : null,
      orderIds: by === 'order' ? [bed.model.orderOf(id).id] : [],
      paymentIds: by === 'payment' ? [payment.id] : [],
    });
    assert.equal(await keep(told), 'new');
    await workInbox(bed.deps, bed.settler);
    assert.equal((await bed.read(id)).status, 'completed', by);
    assert.deepEqual(await rowOf(told.eventId), { done: true, tries: 1, purchase_id: id });
  }
});

test('an event of nobody here is done, and a repeated one works nothing anew', async () => {
  const foreign = pointer({ purchaseId: 'pur_other', orderIds: ['cs_x'], paymentIds: ['pi_x'] });
  await keep(foreign);
  await workInbox(bed.deps, bed.settler);
  assert.deepEqual(await rowOf(foreign.eventId), { done: true, tries: 1, purchase_id: null });
  assert.equal(await keep(foreign), 'known');
  assert.equal(await workInbox(bed.deps, bed.settler), 0);
});

test('an event whose work failed is worked on again, and a repetition makes it due', async () => {
  const { id } = await paidOne();
  const told = pointer({ purchaseId: id });
  await keep(told);
  bed.model.faults.push('down');
  await workInbox(bed.deps, bed.settler);
  assert.deepEqual(await rowOf(told.eventId), { done: false, tries: 1, purchase_id: null });
  assert.equal(await workInbox(bed.deps, bed.settler), 0, 'not before its time');
  assert.equal(await keep(told), 'known');
  assert.equal(await workInbox(bed.deps, bed.settler), 1);
  assert.equal((await bed.read(id)).status, 'completed');
});

test('what a worker took and never ended is another one’s after the lease', async () => {
  const { id } = await paidOne();
  const told = pointer({ purchaseId: id });
  await keep(told);
  const never = { settle: () => Promise.reject(new Error('killed')) };
  const hung = { ...bed.deps, log: bed.deps.log, limits: { ...bed.deps.limits, leaseMs: 1 } };
  await workInbox(hung, never);
  await bed.sql`UPDATE payment_events SET next_try_at = now() WHERE event_id = ${told.eventId}`;
  await workInbox(bed.deps, bed.settler);
  assert.equal((await bed.read(id)).status, 'completed');
});

test('lists make up for every webhook that was lost, and are read with an overlap', async () => {
  const { id } = await paidOne();
  const told = pointer({ purchaseId: id, at: new Date(Date.now() - 5 * 60_000) });
  bed.model.told.push(told);
  await moveCursor(bed.sql, 'stripe', 'events', new Date());
  assert.equal(await readLists(bed.deps), 1);
  assert.equal(await readLists(bed.deps), 0, 'known by its id');
  await workInbox(bed.deps, bed.settler);
  assert.equal((await bed.read(id)).status, 'completed');
  bed.model.faults.push('down');
  assert.equal(await readLists(bed.deps), 0);
});

test('old events go when their work is done, and no other', async () => {
  const open = pointer({ purchaseId: 'pur_open' });
  await keep(open);
  await bed.sql`UPDATE payment_events SET received_at = now() - interval '91 days'`;
  await sweepEvents(bed.sql, 90, 1_000);
  const left = await bed.sql`SELECT event_id FROM payment_events`;
  assert.deepEqual(
    left.map(({ event_id: id }) => id),
    [open.eventId],
  );
});

test('a list that is longer than a page is read to its end', async () => {
  const from = Date.now() - 60_000;
  const all = Array.from({ length: 1_200 }, (_, at) =>
    pointer({ purchaseId: 'pur_none', at: new Date(from + at) }),
  );
  const inPages = async (_account: unknown, _list: string, since: Date) =>
    all.filter(({ at }) => at >= since).slice(0, 500);
  const known = bed.deps.provider('stripe');
  assert.ok(known !== null);
  const provider = { ...known, adapter: { ...known.adapter, list: inPages } };
  const deps = { ...bed.deps, providers: () => [provider] };
  assert.equal(await readLists(deps), 1_200);
  assert.equal(await readLists(deps), 0);
});
