// GET /api/admin/feedback: what people say of apps, newest first.
import * as v from 'valibot';
import { listFeedback } from '../../../db/app/feedback.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import { feedbackBody, feedbackSchema } from './feedback-schema.ts';

export const listAdminFeedback = defineRoute({
  method: 'GET',
  path: '/api/admin/feedback',
  operationId: 'listFeedback',
  summary: 'List what people say of apps',
  description: 'Newest first. Kept for 400 days, an address for 180.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({
    ...pageQuery.entries,
    category: v.optional(lineOfText(40)),
    rating: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5))),
    handled: v.optional(v.boolean()),
    account_id: v.optional(lineOfText(100)),
  }),
  replies: { 200: { description: 'A page of them.', schema: pageSchema(feedbackSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, afterId } = pageRequest(query);
    const { category = null, rating = null, handled = null, account_id: accountId = null } = query;
    const filter = { category, rating, handled, accountId };
    const rows = await withDeadline(listFeedback(services.sql, filter, limit + 1, afterId));
    const shown = rows.slice(0, limit);
    const lastId = rows.length > limit ? (shown.at(-1)?.id ?? null) : null;
    const items = shown.map((said) => feedbackBody(said, services));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(items, lastId) },
    };
  },
});
