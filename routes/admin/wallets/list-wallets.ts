// GET /api/admin/wallets: every wallet, or those of one account.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { listWallets as listWalletRows } from '../../../db/journal.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { adminWalletBody, walletSchema } from './schema.ts';

export const listWallets = defineRoute({
  method: 'GET',
  path: '/api/admin/wallets',
  operationId: 'listWallets',
  summary: 'List wallets',
  description: 'Newest first; with `account_id` those of one account.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({
    ...pageQuery.entries,
    account_id: v.optional(lineOfText(100)),
  }),
  replies: { 200: { description: 'A page of wallets.', schema: pageSchema(walletSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, afterId } = pageRequest(query);
    const { account_id = null } = query;
    const page = await withDeadline(listWalletRows(services.sql, account_id, limit, afterId));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(page.wallets.map(adminWalletBody), page.nextCursor) },
    };
  },
});
