// GET /api/me/dashboard: what a person sees first of its account.
import * as v from 'valibot';
import { readDashboard } from '../db/billing/dashboard.ts';
import { withDeadline } from '../db/driver/sql.ts';
import { Problem } from '../runtime/problem.ts';
import { ledgerLineBody, walletBody } from './billing/amounts.ts';
import { billingOwner } from './billing/owner.ts';
import { ledgerLineSchema, walletEntries } from './billing/schema.ts';
import { defineRoute } from './define.ts';
import { packageBody, packageSchema, surfaceBodies, surfaceSchema } from './discovery/offers.ts';
import { userBody, userSchema } from './identity/view.ts';
import { apiKeyBody, apiKeySchema } from './keys/schema.ts';
import { purchaseBody, purchaseSchema } from './purchases/schema.ts';

const listLength = 20;

const dashboardSchema = v.strictObject({
  ok: v.literal(true),
  user: userSchema,
  wallet: v.nullable(v.strictObject(walletEntries)),
  packages: v.array(packageSchema),
  api_keys: v.array(apiKeySchema),
  purchases: v.array(purchaseSchema),
  ledger: v.array(ledgerLineSchema),
  surfaces: v.array(surfaceSchema),
});

export const dashboard = defineRoute({
  method: 'GET',
  path: '/api/me/dashboard',
  operationId: 'getDashboard',
  summary: 'Read the newest of your account',
  description:
    `Of API keys, purchases and the ledger the newest ${listLength}. In an organization the ` +
    'wallet, purchases and ledger are its own, for owners, administrators and billing alone.',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  replies: { 200: { description: 'The dashboard.', schema: dashboardSchema } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ caller, services }) {
    const { personId, accountId } = caller;
    const reader = { personId, accountId, owner: billingOwner(caller) };
    const read = await withDeadline(readDashboard(services.sql, reader, listLength));
    if (read === null) throw new Problem('not_found');
    const { packages } = services.catalog.current().snapshot;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        ok: true,
        user: userBody(read.person),
        wallet: read.wallet && walletBody(read.wallet),
        packages: packages.map(packageBody),
        api_keys: read.keys.map(apiKeyBody),
        purchases: read.purchases.map(purchaseBody),
        ledger: read.lines.map(ledgerLineBody),
        surfaces: surfaceBodies(services.catalog),
      },
    };
  },
});
