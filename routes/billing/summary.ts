// GET /api/me/billing/summary: the exact wallet, in one snapshot, also for keys with billing:read.
import type { BillingSummary } from '../../db/billing.ts';
import { readBillingSummary } from '../../db/billing.ts';
import { type Sql, withDeadline } from '../../db/driver/sql.ts';
import { Problem } from '../../runtime/problem.ts';
import { TransientMap } from '../../runtime/transient.ts';
import { defineRoute } from '../define.ts';
import { amount, grantBody, reservationBody, walletBody } from './amounts.ts';
import { billingSummarySchema } from './schema.ts';

export const billingSummary = defineRoute({
  method: 'GET',
  path: '/api/me/billing/summary',
  operationId: 'getBillingSummary',
  summary: 'Read your wallet, reservations and usage',
  description:
    '`balance = available + held`. Grants are in spending order. Reservations and purchases are ' +
    'the newest 100, usage is of the last 30 days.',
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'key-or-user', scope: 'billing:read' },
  cors: 'web',
  replies: { 200: { description: 'The summary.', schema: billingSummarySchema } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ caller, services }) {
    const { accountId, walletId } = caller;
    const summary = await withDeadline(readInTurn(services.sql, accountId, walletId));
    if (summary === null) throw new Problem('not_found');
    const packages = services.catalog.current().snapshot.packages;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        ok: true,
        wallet: walletBody(summary.wallet),
        grants: summary.grants.map(grantBody),
        ...reservationsBody(summary),
        usage: summary.usage.map((row) => ({
          model: row.model,
          requests: Number(row.requests),
          input_tokens: Number(row.inputTokens),
          cached_input_tokens: Number(row.cachedInputTokens),
          cache_write_tokens: Number(row.cacheWriteTokens),
          output_tokens: Number(row.outputTokens),
          reasoning_tokens: Number(row.reasoningTokens),
          ...amount('charge', row.chargeMicros),
        })),
        packages: packages.map(({ slug, name, credits, price_usd }) => ({
          slug,
          name,
          credits,
          price_usd,
        })),
        purchases: summary.purchases.map((row) => ({
          id: row.id,
          package_id: row.packageId,
          status: row.status,
          ...amount('credits', row.creditsMicros),
          price_cents: Number(row.priceCents),
          currency: row.currency,
          created_at: row.createdAt.toISOString(),
        })),
      },
    };
  },
});

type Summary = BillingSummary | null;

/** Of one wallet, what is read now, and what those get who asked since it began. */
interface Reading {
  now: Promise<Summary>;
  next: Promise<Summary> | null;
}

const readings = new TransientMap<string, Reading>();

/**
 * One of a wallet at a time: usage of a million answers takes a second, and four that asked at once
 * had every connection of the shard, so that nobody else's key could be looked up. Who asks
 * meanwhile shares the next one: it sees all that was done before.
 */
function readInTurn(sql: Sql, accountId: string, walletId: string): Promise<Summary> {
  const begin = (): Promise<Summary> => {
    const reading: Reading = { now: readBillingSummary(sql, accountId, walletId), next: null };
    readings.set(walletId, reading);
    const end = () => {
      if (reading.next === null) readings.delete(walletId);
    };
    reading.now.then(end, end);
    return reading.now;
  };
  const reading = readings.get(walletId);
  if (reading === undefined) return begin();
  reading.next ??= reading.now.then(begin, begin);
  return reading.next;
}

function reservationsBody({ active, released }: BillingSummary) {
  return {
    reservations: {
      active: active.map(reservationBody),
      released: released.map((row) => ({
        id: row.id,
        ...amount('amount', row.amountMicros),
        reason: row.reason,
        released_at: row.releasedAt.toISOString(),
      })),
    },
  };
}
