// GET /api/admin/purchases: everybody's purchases, or those of one account, state or provider.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { type PurchaseStatus, searchPurchases } from '../../../db/purchases.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { purchaseEntries } from '../../purchases/schema.ts';
import { adminPurchaseBody, adminPurchaseSchema } from './schema.ts';

export const listAllPurchases = defineRoute({
  method: 'GET',
  path: '/api/admin/purchases',
  operationId: 'listAllPurchases',
  summary: 'List purchases',
  description: 'Newest first; all filters must fit.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({
    ...pageQuery.entries,
    account_id: v.optional(lineOfText(100)),
    status: v.optional(purchaseEntries.status),
    provider: v.optional(lineOfText(120)),
  }),
  replies: {
    200: { description: 'A page of purchases.', schema: pageSchema(adminPurchaseSchema) },
  },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, afterId } = pageRequest(query);
    const { account_id: accountId = null, provider = null, status } = query;
    const filter = { accountId, provider, status: statesOf(status) };
    const page = await withDeadline(searchPurchases(services.sql, filter, limit, afterId));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(page.purchases.map(adminPurchaseBody), page.nextCursor) },
    };
  },
});

/** What is not at its provider yet is told as pending, too. */
function statesOf(status: Exclude<PurchaseStatus, 'created'> | undefined): PurchaseStatus[] | null {
  if (status === undefined) return null;
  return status === 'pending' ? ['created', 'pending'] : [status];
}
