// GET /api/admin/users: all accounts, newest first, or those that a search finds.
import * as v from 'valibot';
import { listAccounts } from '../../../db/accounts.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { accountStatuses, userBody, userListItem } from './schema.ts';

export const listUsers = defineRoute({
  method: 'GET',
  path: '/api/admin/users',
  operationId: 'listUsers',
  summary: 'List or search accounts',
  description:
    'Newest first. `search` is the beginning of an address or an account id, a part of a label, ' +
    'in any case, or a whole wallet id, API key id or display prefix of a key.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({
    ...pageQuery.entries,
    search: v.optional(lineOfText(100)),
    role: v.optional(v.picklist(['user', 'admin'])),
    status: v.optional(v.picklist(accountStatuses)),
  }),
  replies: { 200: { description: 'A page of accounts.', schema: pageSchema(userListItem) } },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, afterId } = pageRequest(query);
    const { search = null, role = null, status = null } = query;
    const filter = { search, role, status };
    const found = await withDeadline(listAccounts(services.sql, filter, limit, afterId));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(found.accounts.map(userBody), found.nextCursor) },
    };
  },
});
