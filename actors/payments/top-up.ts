// Buys credits without the person, as it decided before. The row comes first and is the only one of
// its wallet; a charge whose outcome is unknown is asked for, and never made anew.

import { notifyAccount } from '../../db/app/notices.ts';
import {
  type BillingSettings,
  type DueTopUp,
  delayAuto,
  findSettings,
  findStanding,
  holdTopUps,
  listDueTopUps,
  pauseAuto,
  readAutoSpent,
} from '../../db/billing/settings.ts';
import { endUnpaid, noteOrder } from '../../db/purchases/moves.ts';
import {
  findPurchase,
  insertPurchase,
  type NewPurchase,
  type Purchase,
} from '../../db/purchases.ts';
import { type ChargeOutcome, PaymentFault } from '../../media/payments/contract.ts';
import { newId } from '../../runtime/ids.ts';
import { atOnce } from './at-once.ts';
import type { KnownProvider, PaymentDeps } from './deps.ts';
import { writeTo } from './mails.ts';
import type { SoldPackage } from './packages.ts';
import type { Settler } from './settling.ts';

export interface TopUpDeps extends PaymentDeps {
  /** What is sold now, in a currency of the provider; null: it is not. */
  sold(slug: string, currencies: readonly string[]): SoldPackage | null;
}

/** Charges whoever has less than it wants; returns how many were looked at. */
export async function topUpAll(deps: TopUpDeps, settler: Settler): Promise<number> {
  const { limits, log } = deps;
  const due = await listDueTopUps(deps.sql, limits.perRound, limits.topUpApartMs);
  await atOnce(due, limits.atOnce, async (each) => {
    try {
      await topUp(deps, settler, each);
    } catch (error) {
      log.warn({ err: error, account: each.accountId }, 'a top-up waits for the next round');
    }
  });
  return due.length;
}

/** One charge of one wallet, if nothing speaks against it. */
export async function topUp(deps: TopUpDeps, settler: Settler, due: DueTopUp): Promise<void> {
  const { sql } = deps;
  const { accountId, walletId } = due;
  const settings = await findSettings(sql, accountId);
  const { method, auto } = settings;
  if (!auto.enabled || auto.pausedReason !== null || method === null) return;
  const standing = await findStanding(sql, accountId);
  if (standing === null || standing.restrictedAt !== null) return;
  const provider = deps.provider(method.provider);
  const sold =
    provider === null || !provider.enabled || provider.account.automaticTax
      ? null
      : deps.sold(auto.packageSlug ?? '', provider.currencies);
  if (provider === null || provider.adapter.charge === null || sold === null) {
    await pause(deps, accountId, 'unsellable');
    return;
  }
  // Memory of the wallet may be ahead of its row.
  const balance = await deps.wallet(walletId, 'balance', {});
  if (balance.status !== 'ok' || balance.availableMicros >= (auto.thresholdMicros ?? 0n)) return;
  const purchase = newTopUp(deps, due, provider, sold);
  if (!(await insertTopUp(deps, due, purchase, auto))) return;
  const made = await findPurchase(sql, purchase.id);
  if (made !== null) await charge(deps, settler, made, provider, settings);
}

/**
 * One row at a time of a wallet, within what the person said. False: another round was quicker, the
 * balance that was read may be older than its charge; or a limit is reached.
 */
function insertTopUp(
  { sql, limits }: TopUpDeps,
  due: DueTopUp,
  purchase: NewPurchase,
  { perDayMax, monthMaxCents }: BillingSettings['auto'],
): Promise<boolean> {
  return sql.begin(async (transaction) => {
    if (!(await holdTopUps(transaction, due, limits.topUpApartMs))) return false;
    const spent = await readAutoSpent(transaction, due.walletId, purchase.currency);
    if (spent.today >= perDayMax) return false;
    const month = spent.monthCents + purchase.priceCents;
    if (monthMaxCents !== null && month > monthMaxCents) return false;
    return insertPurchase(transaction, purchase);
  });
}

function newTopUp(
  { node, limits, clock }: TopUpDeps,
  { accountId, walletId }: DueTopUp,
  { name, adapter }: KnownProvider,
  { slug, creditsMicros, priceCents, currency }: SoldPackage,
): NewPurchase {
  return {
    id: newId('pur', node),
    accountId,
    walletId,
    packageId: slug,
    kind: 'auto',
    provider: name,
    providerKind: adapter.kind,
    returnPath: null,
    savesPaymentMethod: false,
    key: null,
    creditsMicros,
    priceCents: BigInt(priceCents),
    currency,
    status: 'created',
    expiresAt: null,
    nextLookAt: new Date(clock() + limits.retryMs),
  };
}

async function charge(
  deps: TopUpDeps,
  settler: Settler,
  purchase: Purchase,
  { adapter, account }: KnownProvider,
  { method }: BillingSettings,
): Promise<void> {
  if (adapter.charge === null || method === null) return;
  const signal = AbortSignal.timeout(deps.limits.callMs);
  let outcome: ChargeOutcome;
  try {
    outcome = await adapter.charge(
      account,
      {
        purchaseId: purchase.id,
        installation: await deps.installation(),
        amountCents: Number(purchase.priceCents),
        currency: purchase.currency,
        description: deps.packageName(purchase.packageId),
        card: method,
      },
      signal,
    );
  } catch (error) {
    const isRefused = error instanceof PaymentFault && error.kind === 'refused';
    if (!isRefused) {
      // Nobody knows: the round looks for it at the provider, and never charges anew.
      deps.metrics.toppedUp('unknown');
      throw error;
    }
    outcome = { status: 'declined', orderId: null, code: error.providerCode };
  }
  await applyOutcome(deps, settler, purchase, outcome);
}

async function applyOutcome(
  deps: TopUpDeps,
  settler: Settler,
  { id, accountId }: Purchase,
  outcome: ChargeOutcome,
): Promise<void> {
  const { sql, limits, metrics } = deps;
  const { orderId } = outcome;
  if (orderId !== null) await noteOrder(sql, id, { orderId, checkout: null, expiresAt: null });
  if (outcome.status === 'paid' || outcome.status === 'under_way') {
    await settler.settle(id);
    metrics.toppedUp('paid');
    return;
  }
  if (!('code' in outcome)) return;
  await endUnpaid(sql, id, 'failed', outcome.code ?? outcome.status);
  metrics.toppedUp('declined');
  if (outcome.status !== 'soft_declined') {
    await pause(deps, accountId, outcome.status === 'declined' ? 'declined' : 'needs_person');
    return;
  }
  const { auto } = await findSettings(sql, accountId);
  const wait = limits.topUpTriesMs[auto.tries];
  if (wait === undefined) await pause(deps, accountId, 'declined');
  else await delayAuto(sql, accountId, wait);
}

const pauseNotes = {
  needs_person: 'Your bank wants to hear from you before your saved card is charged.',
  declined: 'Your saved card was declined.',
  unsellable: 'What you chose to buy is not sold any more, or not with your saved card.',
} as const;

/** Once a pause: the mail and the notice go with it. */
async function pause(
  deps: TopUpDeps,
  accountId: string,
  why: keyof typeof pauseNotes,
): Promise<void> {
  const mailIds = await deps.sql.begin(async (transaction) => {
    if (!(await pauseAuto(transaction, accountId, why))) return { ids: null };
    await notifyAccount(transaction, {
      id: newId('ntc', deps.node),
      accountId,
      title: 'Automatic top-ups are paused',
      body: pauseNotes[why],
      level: 'warning',
      actionUrl: '/account',
    });
    const mail = { template: 'top_up_paused', why } as const;
    return { ids: await writeTo(deps, transaction, accountId, mail) };
  });
  if (mailIds.ids === null) return;
  deps.metrics.toppedUp('paused');
  for (const id of mailIds.ids) deps.mail.send(id);
}
