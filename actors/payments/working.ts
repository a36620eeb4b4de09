// Payments as the main thread has them: the desk that shards ask, and the rounds that make up for
// whatever was not told.

import { sweepEvents } from '../../db/purchases/events.ts';
import { endUnpaid, listDueLooks, listUnposted, planLook } from '../../db/purchases/moves.ts';
import {
  findInstallation,
  findPurchase,
  listOpenBeyond,
  type Purchase,
} from '../../db/purchases.ts';
import { PaymentFault } from '../../media/payments/contract.ts';
import type { MaintenanceQueue } from '../../runtime/work/queue.ts';
import { atOnce } from './at-once.ts';
import type { PaymentDesk } from './desk.ts';
import { readLists, workInbox } from './inbox.ts';
import { nextLookAt } from './limits.ts';
import { openCheckout } from './opening.ts';
import { postPurchase } from './posting.ts';
import type { AskedOutcome, OpenedOutcome } from './protocol.ts';
import { askRefund, pursueRefund, workRefunds } from './refunding.ts';
import { createSettler, type Settler } from './settling.ts';
import { type TopUpDeps, topUp, topUpAll } from './top-up.ts';

export interface PaymentsWorking {
  desk: PaymentDesk;
  schedule(rounds: Pick<MaintenanceQueue, 'schedule'>): void;
  /** What is under way is over, or its time is. */
  stop(timeoutMs: number): Promise<void>;
}

export type WorkingGiven = Omit<TopUpDeps, 'installation'>;

export function createPaymentsWorking(given: WorkingGiven): PaymentsWorking {
  let installation: Promise<string> | null = null;
  const deps: TopUpDeps = {
    ...given,
    installation() {
      installation ??= findInstallation(given.sql).catch((error: unknown) => {
        installation = null;
        throw error;
      });
      return installation;
    },
  };
  const settler = createSettler(deps);
  const running = new Set<Promise<unknown>>();
  const run = <T>(work: Promise<T>): Promise<T> => {
    running.add(work);
    const end = () => running.delete(work);
    work.then(end, end);
    return work;
  };
  const inbox = createInboxRuns(deps, settler, run);
  return {
    desk: createDesk(deps, settler, run, inbox),
    schedule(rounds) {
      const { limits, sql } = deps;
      rounds.schedule('payments', limits.paymentsRoundMs, async () => {
        await inbox();
        await postAll(deps);
        await workRefunds(deps, settler);
      });
      const lists = createHourly(deps);
      rounds.schedule('reconcile', limits.reconcileMs, async () => {
        await lookAll(deps, settler);
        await lists();
      });
      rounds.schedule('topups', limits.topUpMs, async () => {
        await topUpAll(deps, settler);
      });
      rounds.schedule('payment-events', limits.retentionMs, async () => {
        await sweepEvents(sql, limits.eventsKeptDays, limits.perRound);
      });
    },
    async stop(timeoutMs) {
      const late = new Promise((resolve) => setTimeout(resolve, timeoutMs).unref());
      await Promise.race([Promise.allSettled(running), late]);
    },
  };
}

type Run = <T>(work: Promise<T>) => Promise<T>;

/** One look into the inbox at a time; who asks meanwhile has it looked into once more. */
function createInboxRuns(deps: TopUpDeps, settler: Settler, run: Run): () => Promise<void> {
  let current: Promise<void> | null = null;
  let again = false;
  const work = async (): Promise<void> => {
    do {
      again = false;
      await workInbox(deps, settler);
    } while (again);
  };
  return () => {
    if (current !== null) {
      again = true;
      return current;
    }
    current = run(work()).finally(() => {
      current = null;
    });
    return current;
  };
}

function createDesk(
  deps: TopUpDeps,
  settler: Settler,
  run: Run,
  inbox: () => Promise<void>,
): PaymentDesk {
  const { log } = deps;
  const guarded = async <T>(work: Promise<T>, otherwise: T, what: string): Promise<T> => {
    try {
      return await run(work);
    } catch (error) {
      log.warn({ err: error }, what);
      return otherwise;
    }
  };
  const unavailable = { status: 'unavailable' } as const;
  return {
    open: (request) =>
      guarded(openOne(deps, settler, request.purchaseId), unavailable, 'a checkout is not open'),
    settle: (request) =>
      guarded(settleProven(deps, settler, request), unavailable, 'a purchase was not asked about'),
    arrived() {
      void guarded(inbox(), undefined, 'the inbox of payments was not worked on');
    },
    low(request) {
      void guarded(topUp(deps, settler, request), undefined, 'a top-up waits for the round');
    },
    refund: (wish) =>
      guarded(refundOne(deps, settler, wish), unavailable, 'a refund was not asked for'),
    async test({ provider: name }) {
      const provider = deps.provider(name);
      if (provider === null) return { ok: false, reason: 'There is no such provider.' };
      try {
        await provider.adapter.test(provider.account, AbortSignal.timeout(deps.limits.callMs));
        return { ok: true, reason: null };
      } catch (error) {
        return { ok: false, reason: testReason(error) };
      }
    },
  };
}

function testReason(error: unknown): string {
  if (!(error instanceof PaymentFault)) return 'The provider does not answer.';
  switch (error.kind) {
    case 'misconfigured':
      return 'The provider does not accept the credentials.';
    case 'slow_down':
      return 'The provider asks for a pause.';
    case 'refused':
    case 'not_found':
      return 'The provider refuses the account.';
    case 'unknown':
      return 'The provider does not answer.';
  }
}

async function openOne(
  deps: TopUpDeps,
  settler: Settler,
  purchaseId: string,
): Promise<OpenedOutcome> {
  const purchase = await findPurchase(deps.sql, purchaseId);
  if (purchase === null) return { status: 'ended' };
  if (purchase.kind === 'free') {
    const isPosted = await postPurchase(deps, purchaseId);
    return { status: isPosted ? 'opened' : 'unavailable' };
  }
  const provider = purchase.provider === null ? null : deps.provider(purchase.provider);
  if (provider === null) return { status: 'unavailable' };
  const status = await openCheckout(deps, purchase, provider);
  await closeBeyond(deps, settler, purchase.accountId);
  return { status };
}

/** An account has so many open ones: the oldest make room. */
async function closeBeyond(deps: TopUpDeps, settler: Settler, accountId: string): Promise<void> {
  const { sql, limits, log } = deps;
  for (const id of await listOpenBeyond(sql, accountId, limits.openMax)) {
    try {
      await closeOne(deps, settler, id);
    } catch (error) {
      log.warn({ err: error, purchase: id }, 'an old checkout is still open');
    }
  }
}

/** Closes an open one at its provider, unless somebody is just paying it. */
async function closeOne(deps: TopUpDeps, settler: Settler, id: string): Promise<void> {
  const purchase = await findPurchase(deps.sql, id);
  const provider = purchase?.provider == null ? null : deps.provider(purchase.provider);
  if (purchase === null || provider === null) return;
  if (purchase.orderId === null) {
    await endUnpaid(deps.sql, id, 'expired', null);
    return;
  }
  const signal = AbortSignal.timeout(deps.limits.callMs);
  const look = await provider.adapter.look(provider.account, purchase.orderId, signal);
  if (look.state === 'open') {
    await provider.adapter.close(provider.account, purchase.orderId, signal);
  }
  await settler.settle(id);
}

async function settleProven(
  deps: TopUpDeps,
  settler: Settler,
  { purchaseId, proof }: Parameters<PaymentDesk['settle']>[0],
): Promise<AskedOutcome> {
  if (proof !== null) {
    const purchase = await findPurchase(deps.sql, purchaseId);
    if (purchase === null) return { status: 'not_found' };
    if (!isProven(deps, purchase, proof)) return { status: 'bad_proof' };
  }
  return { status: await settler.settle(purchaseId) };
}

/** The signature is over the order that we stored, not over what the client says. */
function isProven(
  deps: TopUpDeps,
  { provider: name, orderId }: Purchase,
  proof: { paymentId: string; signature: string },
): boolean {
  const provider = name === null ? null : deps.provider(name);
  const check = provider?.adapter.checkProof;
  if (provider == null || check == null || orderId === null) return false;
  return check(provider.account, { orderId, ...proof });
}

async function refundOne(
  deps: TopUpDeps,
  settler: Settler,
  wish: Parameters<PaymentDesk['refund']>[0],
) {
  const answer = await askRefund(deps, wish);
  if (answer.status === 'asked') await pursueRefund(deps, settler, answer.refundId);
  return answer;
}

/** Credits what is paid, and posts what facts reverse, if whoever began it did not end it. */
async function postAll(deps: TopUpDeps): Promise<void> {
  const ids = await listUnposted(deps.sql, deps.limits.perRound);
  await atOnce(ids, deps.limits.atOnce, async (id) => {
    try {
      await postPurchase(deps, id);
    } catch (error) {
      deps.log.warn({ err: error, purchase: id }, 'a purchase waits for the next round');
    }
  });
}

/** Asks about purchases whose time has come. */
async function lookAll(deps: TopUpDeps, settler: Settler): Promise<void> {
  const { sql, limits, log } = deps;
  const ids = await listDueLooks(sql, limits.perRound);
  await atOnce(ids, limits.atOnce, async (id) => {
    try {
      const settled = await settler.settle(id);
      const purchase = await findPurchase(sql, id);
      if (purchase !== null) await planNext(deps, purchase, settled === 'unavailable');
    } catch (error) {
      log.warn({ err: error, purchase: id }, 'a purchase is asked about in the next round');
    }
  });
}

async function planNext(
  { sql, limits, clock }: TopUpDeps,
  { id, status, createdAt, looks }: Purchase,
  isUnanswered: boolean,
): Promise<void> {
  const isCredited = status === 'completed' || status === 'refunded';
  const planned = isCredited ? null : nextLookAt(limits, createdAt.getTime(), clock());
  const soon = new Date(clock() + limits.retryMs);
  const next = isUnanswered && planned !== null && planned > soon ? soon : planned;
  await planLook(sql, id, looks + 1, next);
}

/** Reads the lists of providers when this process has not done so for an hour. */
function createHourly(deps: TopUpDeps): () => Promise<void> {
  let lastMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = performance.now();
    if (now - lastMs < deps.limits.listMs) return;
    lastMs = now;
    await readLists(deps);
  };
}
