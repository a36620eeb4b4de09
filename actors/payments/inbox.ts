// Works on what providers called and what their lists told: each event names objects, and the
// purchase behind them is asked about. An event whose work failed is worked on again.
import {
  delayEvent,
  endEvent,
  findCursor,
  keepEvent,
  moveCursor,
  type PaymentEvent,
  takeEvents,
} from '../../db/purchases/events.ts';
import { findPurchase, findPurchaseOf } from '../../db/purchases.ts';
import { listedMin } from '../../media/payments/contract.ts';
import { atOnce } from './at-once.ts';
import type { KnownProvider, PaymentDeps } from './deps.ts';
import { waitAfterTry } from './limits.ts';
import { objectsOf } from './pointer.ts';
import type { Settler } from './settling.ts';

/** Works on events that are due; returns how many there were. */
export async function workInbox(deps: PaymentDeps, settler: Settler): Promise<number> {
  const { sql, limits } = deps;
  const events = await takeEvents(sql, limits.perRound, limits.leaseMs);
  await atOnce(events, limits.atOnce, (event) => workEvent(deps, settler, event));
  return events.length;
}

async function workEvent(deps: PaymentDeps, settler: Settler, event: PaymentEvent): Promise<void> {
  const { sql, limits, log, metrics } = deps;
  try {
    const purchaseId = await purchaseOf(deps, event);
    const settled = purchaseId === null ? 'not_found' : await settler.settle(purchaseId);
    if (settled !== 'unavailable') {
      await endEvent(sql, event, settled === 'not_found' ? null : purchaseId);
      metrics.event(settled === 'not_found' ? 'foreign' : 'done');
      return;
    }
  } catch (error) {
    log.warn({ err: error, event: event.eventId }, 'the work on a payment event failed');
  }
  metrics.event('delayed');
  await delayEvent(sql, event, waitAfterTry(limits, event.tries));
}

/** The purchase of the objects; null: none of ours. Throws where the provider does not answer. */
async function purchaseOf(
  deps: PaymentDeps,
  { provider: name, objects }: PaymentEvent,
): Promise<string | null> {
  const { sql, limits } = deps;
  if (objects.purchase_id !== null) {
    const marked = await findPurchase(sql, objects.purchase_id);
    if (marked?.provider === name) return marked.id;
  }
  for (const orderId of objects.order_ids) {
    const found = await findPurchaseOf(sql, name, { orderId, paymentId: null });
    if (found !== null) return found;
  }
  const provider = deps.provider(name);
  for (const paymentId of objects.payment_ids) {
    const found = await findPurchaseOf(sql, name, { orderId: null, paymentId });
    if (found !== null) return found;
    if (provider === null) continue;
    const signal = AbortSignal.timeout(limits.callMs);
    const orderId = await provider.adapter.orderOf(provider.account, paymentId, signal);
    const owner =
      orderId === null ? null : await findPurchaseOf(sql, name, { orderId, paymentId: null });
    if (owner !== null) return owner;
  }
  return null;
}

/** Reads the lists of all providers, so that no webhook need ever arrive. */
export async function readLists(deps: PaymentDeps): Promise<number> {
  let kept = 0;
  for (const provider of deps.providers()) {
    for (const list of provider.adapter.lists) kept += await readList(deps, provider, list);
  }
  return kept;
}

/** What of a list is new since it was read last, over as many pages as that takes. */
async function readList(deps: PaymentDeps, provider: KnownProvider, list: string): Promise<number> {
  const { sql, limits, log, metrics } = deps;
  const { name } = provider;
  const begunAt = deps.clock();
  const readUntil = await findCursor(sql, name, list);
  const sinceMs =
    readUntil === null ? begunAt - limits.listFirstMs : readUntil.getTime() - limits.listOverlapMs;
  let since = new Date(sinceMs);
  let kept = 0;
  try {
    for (let pages = 0; pages < limits.listPagesMax; pages += 1) {
      const read = await readPage(deps, provider, list, since);
      kept += read.kept;
      if (read.rest === null) {
        await moveCursor(sql, name, list, new Date(begunAt));
        return kept;
      }
      // The next reading begins here, should this one come no further.
      since = read.rest;
      await moveCursor(sql, name, list, since);
    }
    log.warn({ provider: name, list }, 'a list of payments goes on in the next reading');
  } catch (error) {
    metrics.failed(name);
    log.warn({ err: error, provider: name, list }, 'a list of payments cannot be read');
  }
  return kept;
}

/** One page; `rest`: since when there is more, or null where that was all. */
async function readPage(
  { sql, limits }: PaymentDeps,
  { name, adapter, account }: KnownProvider,
  list: string,
  since: Date,
): Promise<{ kept: number; rest: Date | null }> {
  const signal = AbortSignal.timeout(limits.callMs);
  const pointers = await adapter.list(account, list, since, signal);
  let kept = 0;
  for (const pointer of pointers) {
    const { eventId, type } = pointer;
    const event = { provider: name, eventId, type, objects: objectsOf(pointer) };
    if ((await keepEvent(sql, event)) === 'new') kept += 1;
  }
  const last = pointers.at(-1);
  const isFull = pointers.length >= listedMin && last !== undefined && last.at > since;
  return { kept, rest: isFull ? last.at : null };
}
