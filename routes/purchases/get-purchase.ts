// GET /api/me/purchases/{id}: one purchase as it is now.
import * as v from 'valibot';
import { withDeadline } from '../../db/driver/sql.ts';
import { findOwnPurchase } from '../../db/purchases.ts';
import { Problem } from '../../runtime/problem.ts';
import { requireBillingOwner } from '../billing/owner.ts';
import { defineRoute } from '../define.ts';
import { purchaseBody, purchaseParams, purchaseSchema } from './schema.ts';

export const getPurchase = defineRoute({
  method: 'GET',
  path: '/api/me/purchases/{purchase_id}',
  operationId: 'getPurchase',
  summary: 'Read a purchase',
  description: 'As it is now: reading asks no provider. `verify` does.',
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  params: purchaseParams,
  replies: {
    200: {
      description: 'The purchase.',
      schema: v.strictObject({ ok: v.literal(true), purchase: purchaseSchema }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { purchase_id: id } = params;
    const { accountId } = requireBillingOwner(caller);
    const found = await withDeadline(findOwnPurchase(services.sql, accountId, id));
    if (found === null) throw new Problem('not_found');
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, purchase: purchaseBody(found) },
    };
  },
});
