// GET /api/enterprise/organizations/{organization_id}/wallet: the wallet of an organization as its
// billing summary, with what this month spent of its cap.
import * as v from 'valibot';
import { readSettings } from '../../actors/organization/settings.ts';
import { readBillingSummary } from '../../db/billing.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { type OrganizationMonth, readMonth } from '../../db/organizations/month.ts';
import { Problem } from '../../runtime/problem.ts';
import { amount } from '../billing/amounts.ts';
import { exact, micros } from '../billing/micros.ts';
import { billingSummarySchema } from '../billing/schema.ts';
import { moneyBodies } from '../billing/summary.ts';
import { defineRoute } from '../define.ts';
import { packageBody } from '../discovery/offers.ts';
import { requireRight } from './access.ts';

const monthSchema = v.strictObject({
  starts_at: v.string(),
  resets_at: v.string(),
  cap_microcredits: v.nullable(micros),
  cap_exact: v.nullable(exact),
  spent_microcredits: micros,
  spent_exact: exact,
  held_microcredits: micros,
  held_exact: exact,
});

export const getOrganizationWallet = defineRoute({
  method: 'GET',
  path: '/api/enterprise/organizations/{organization_id}/wallet',
  operationId: 'getOrganizationWallet',
  summary: "Read an organization's wallet",
  description:
    'The summary of its wallet, with all that its members and keys used of it. `month` is what ' +
    'this month, in UTC, spent and holds of the cap; without a cap that is null. For owners, ' +
    'administrators and billing.',
  tag: 'Organizations',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  params: v.strictObject({ organization_id: v.string() }),
  replies: {
    200: {
      description: 'The wallet.',
      schema: v.strictObject({ ...billingSummarySchema.entries, month: monthSchema }),
    },
  },
  problems: ['forbidden', 'not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const id = params.organization_id;
    const { organization } = await requireRight(caller, id, 'wallet.read', services);
    const { accountId, walletId } = organization;
    const { monthly_spend_limit_micros: cap } = readSettings(organization.settings);
    const { sql } = services;
    const [summary, month] = await withDeadline(
      Promise.all([
        readBillingSummary(sql, accountId, walletId),
        readMonth(sql, walletId, Date.now()),
      ]),
    );
    if (summary === null) throw new Problem('not_found');
    const { packages } = services.catalog.current().snapshot;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        ok: true,
        ...moneyBodies(summary, leftOf(month, cap)),
        packages: packages.map(packageBody),
        month: monthBody(month, cap),
      },
    };
  },
});

/** What the cap leaves; null: there is none. */
function leftOf(month: OrganizationMonth, capMicros: number | null): bigint | null {
  if (capMicros === null) return null;
  const left = BigInt(capMicros) - month.spentMicros - month.heldMicros;
  return left > 0n ? left : 0n;
}

function monthBody(month: OrganizationMonth, capMicros: number | null) {
  return {
    starts_at: new Date(month.startsMs).toISOString(),
    resets_at: new Date(month.endsMs).toISOString(),
    cap_microcredits: capMicros,
    cap_exact: capMicros === null ? null : `${capMicros}`,
    ...amount('spent', month.spentMicros),
    ...amount('held', month.heldMicros),
  };
}
