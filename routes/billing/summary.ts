// GET /api/me/billing/summary: the exact wallet, in one snapshot, also for keys with billing:read.
import * as v from 'valibot';
import type { BillingSummary } from '../../db/billing.ts';
import { readBillingSummary } from '../../db/billing.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { packageBody } from '../discovery/offers.ts';
import { purchaseBody } from '../purchases/schema.ts';
import { amount, grantBody, reservationBody, usageBody, walletBody } from './amounts.ts';
import { keySummary, keySummaryEntries } from './key-summary.ts';
import { billingSummarySchema } from './schema.ts';
import { autoTopUpBody } from './settings-body.ts';

const summarySchema = v.strictObject({ ...billingSummarySchema.entries, ...keySummaryEntries });

export const billingSummary = defineRoute({
  method: 'GET',
  path: '/api/me/billing/summary',
  operationId: 'getBillingSummary',
  summary: 'Read your wallet, reservations and usage',
  description:
    '`balance = available + held`. Grants are in spending order. Reservations and purchases are ' +
    'the newest 100. Usage is of today and the 29 days before, in UTC, and counts what began ' +
    'since `usage_since`. `debt` is what refunds and disputes could not take back.',
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'key-or-user', scope: 'billing:read' },
  cors: 'web',
  replies: { 200: { description: 'The summary.', schema: summarySchema } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ caller, services }) {
    const { accountId, walletId } = caller;
    const summary = await withDeadline(readBillingSummary(services.sql, accountId, walletId));
    if (summary === null) throw new Problem('not_found');
    const { packages } = services.catalog.current().snapshot;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        ok: true,
        ...(await keySummary(services, caller)),
        wallet: walletBody(summary.wallet),
        grants: summary.grants.map(grantBody),
        reservations: reservationsBody(summary),
        ...usageBodies(summary),
        ...amount('debt', summary.debtMicros),
        packages: packages.map(packageBody),
        purchases: summary.purchases.map(purchaseBody),
        auto_top_up: autoTopUpBody(summary.settings, summary.isChargeable),
      },
    };
  },
});

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
