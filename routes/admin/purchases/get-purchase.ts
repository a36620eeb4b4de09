// GET /api/admin/purchases/{purchase_id}: one purchase with its refunds.
import { withDeadline } from '../../../db/driver/sql.ts';
import { listRefunds } from '../../../db/purchases/refunds.ts';
import { findPurchase } from '../../../db/purchases.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { purchaseParams } from '../../purchases/schema.ts';
import type { Services } from '../../services.ts';
import { adminPurchaseBody, purchaseDetailSchema, refundBody } from './schema.ts';

export const getAnyPurchase = defineRoute({
  method: 'GET',
  path: '/api/admin/purchases/{purchase_id}',
  operationId: 'getAnyPurchase',
  summary: 'Read a purchase',
  description: 'With the refunds that were asked for here. Reading asks no provider.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: purchaseParams,
  replies: { 200: { description: 'The purchase.', schema: purchaseDetailSchema } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, services }) {
    const { json } = await purchaseDetail(services, params.purchase_id);
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});

/** @throws Problem not_found */
export async function purchaseDetail({ sql }: Pick<Services, 'sql'>, id: string) {
  const reading = Promise.all([findPurchase(sql, id), listRefunds(sql, id)]);
  const [purchase, refunds] = await withDeadline(reading);
  if (purchase === null) throw new Problem('not_found', { param: 'purchase_id' });
  const json = {
    ok: true,
    purchase: adminPurchaseBody(purchase),
    refunds: refunds.map(refundBody),
  };
  return { accountId: purchase.accountId, json };
}
