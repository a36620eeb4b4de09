// GET /api/me/billing/summary: the exact wallet, in one snapshot, also for keys with billing:read.
import * as v from 'valibot';
import type { BillingSummary } from '../../db/billing.ts';
import { readBillingSummary, readOwnPart } from '../../db/billing.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { packageBody } from '../discovery/offers.ts';
import { purchaseBody } from '../purchases/schema.ts';
import type { AccountCaller, Services } from '../services.ts';
import { amount, grantBody, reservationBody, usageBody, walletBody } from './amounts.ts';
import { keySummary, keySummaryEntries } from './key-summary.ts';
import { billingOwner } from './owner.ts';
import { billingSummarySchema } from './schema.ts';
import { autoTopUpBody } from './settings-body.ts';

const summarySchema = v.strictObject({ ...billingSummarySchema.entries, ...keySummaryEntries });

export const billingSummary = defineRoute({
  method: 'GET',
  path: '/api/me/billing/summary',
  operationId: 'getBillingSummary',
  summary: 'Read your wallet, reservations and usage',
  description:
    '`balance = available + held`; in an organization `available` is at most what caps leave. ' +
    'Grants are in spending order. Reservations and purchases are ' +
    'the newest 100. Usage is of today and the 29 days before, in UTC, and counts what began ' +
    'since `usage_since`. `debt` is what refunds and disputes could not take back. In an ' +
    'organization it is of its wallet, for owners, administrators and billing; others get their ' +
    'own `usage`, no `wallet`, and empty lists.',
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'key-or-user', scope: 'billing:read' },
  cors: 'web',
  replies: { 200: { description: 'The summary.', schema: summarySchema } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ caller, services }) {
    const summary = await summaryOf(services, caller);
    const leftMicros = await leftOf(services, caller);
    const { packages } = services.catalog.current().snapshot;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        ok: true,
        ...(await keySummary(services, caller)),
        ...moneyBodies(summary, leftMicros),
        packages: packages.map(packageBody),
      },
    };
  },
});

/** @throws Problem not_found */
async function summaryOf(
  { sql }: Pick<Services, 'sql'>,
  caller: AccountCaller,
): Promise<BillingSummary> {
  const owner = billingOwner(caller);
  const { accountId, walletId } = caller;
  const reading =
    owner === null
      ? readOwnPart(sql, accountId, walletId)
      : readBillingSummary(sql, owner.accountId, owner.walletId);
  const summary = await withDeadline(reading);
  if (summary === null) throw new Problem('not_found');
  return summary;
}

/** What caps of the organization and of the caller leave; null: it acts as the person. */
async function leftOf(
  { wallet, limits }: Pick<Services, 'wallet' | 'limits'>,
  { organization, accountId, walletId, ...caller }: AccountCaller,
): Promise<bigint | null> {
  if (organization === null) return null;
  const apiKeyId = 'keyId' in caller ? caller.keyId : null;
  const look = { amountMicros: 0n, spender: { accountId, apiKeyId } };
  const answer = await wallet(walletId).ask('look', look, limits.ledger.askTimeoutMs);
  if (!answer.ok || answer.value.status !== 'ok') return null;
  return answer.value.availableMicros;
}

/** What a summary tells beside the key and what is offered. */
export function moneyBodies(
  summary: BillingSummary,
  leftMicros: bigint | null = null,
): Record<string, unknown> {
  return {
    wallet: summary.wallet && walletBody({ ...summary.wallet, leftMicros }),
    grants: summary.grants.map(grantBody),
    reservations: reservationsBody(summary),
    ...usageBodies(summary),
    ...amount('debt', summary.debtMicros),
    purchases: summary.purchases.map(purchaseBody),
    auto_top_up: autoTopUpBody(summary.settings, summary.isChargeable),
  };
}

function reservationsBody({ active, released }: BillingSummary) {
  return {
    active: active.map(reservationBody),
    released: released.map((row) => ({
      id: row.id,
      ...amount('amount', row.amountMicros),
      reason: row.reason,
      released_at: row.releasedAt.toISOString(),
    })),
  };
}

function usageBodies({ usage: { models, days, keys }, usageSince }: BillingSummary) {
  return {
    usage: models.map((row) => ({ model: row.model, ...usageBody(row) })),
    usage_by_day: days.map((row) => ({ day: row.day, ...usageBody(row) })),
    usage_by_key: keys.map((row) => ({ api_key_id: row.apiKeyId, ...usageBody(row) })),
    usage_since: usageSince.toISOString(),
  };
}
