// GET /api/admin/notifications: all notices, newest first.
import * as v from 'valibot';
import { listNotices } from '../../../db/app/notices.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { audiences, noticeBody, noticeSchema } from './schema.ts';

export const listAdminNotices = defineRoute({
  method: 'GET',
  path: '/api/admin/notifications',
  operationId: 'listAdminNotifications',
  summary: 'List notices',
  description:
    'Newest first, those that have ended too. `account_id`: those for this account. The origin ' +
    '`billing` are notices that the service wrote to one account.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({
    ...pageQuery.entries,
    audience: v.optional(v.picklist(audiences)),
    origin: v.optional(v.picklist(['admin', 'billing'])),
    account_id: v.optional(lineOfText(100)),
  }),
  replies: { 200: { description: 'A page of notices.', schema: pageSchema(noticeSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, afterId } = pageRequest(query);
    const { audience = null, origin = null, account_id: accountId = null } = query;
    const filter = { audience, origin, accountId };
    const rows = await withDeadline(listNotices(services.sql, filter, limit + 1, afterId));
    const shown = rows.slice(0, limit);
    const lastId = rows.length > limit ? (shown.at(-1)?.id ?? null) : null;
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(shown.map(noticeBody), lastId) },
    };
  },
});
