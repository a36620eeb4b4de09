// GET /api/me/purchases: what an account bought, the newest first.
import { withDeadline } from '../../db/driver/sql.ts';
import { listPurchases as readPurchases } from '../../db/purchases.ts';
import { requireBillingOwner } from '../billing/owner.ts';
import { defineRoute } from '../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../page.ts';
import { purchaseBody, purchaseSchema } from './schema.ts';

export const listPurchases = defineRoute({
  method: 'GET',
  path: '/api/me/purchases',
  operationId: 'listPurchases',
  summary: 'List your purchases',
  description: 'The newest first, those that nobody paid among them.',
  tag: 'Billing',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  query: pageQuery,
  replies: { 200: { description: 'A page of purchases.', schema: pageSchema(purchaseSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, caller, services }) {
    const { accountId } = requireBillingOwner(caller);
    const { limit, afterId } = pageRequest(query);
    const page = readPurchases(services.sql, accountId, limit, afterId);
    const { purchases, nextCursor } = await withDeadline(page);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(purchases.map(purchaseBody), nextCursor) },
    };
  },
});
