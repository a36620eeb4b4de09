// GET /api/admin/audit: who changed what, newest first.
import * as v from 'valibot';
import { listAuditEvents } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { momentOf } from '../../../runtime/http/moment.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';

const text = lineOfText(200);
/** Without a zone it would be the time of whatever place the server is at. */
const moment = v.pipe(
  v.string(),
  v.regex(
    /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/,
    'expected an ISO 8601 date, or a time with its zone',
  ),
);

const eventSchema = v.strictObject({
  id: v.string(),
  at: v.string(),
  actor: v.string(),
  action: v.string(),
  subject: v.string(),
  account_id: v.nullable(v.string()),
  details: v.looseObject({}),
});

export const listAudit = defineRoute({
  method: 'GET',
  path: '/api/admin/audit',
  operationId: 'listAuditEvents',
  summary: 'List audit events',
  description:
    'Newest first. Every given filter must fit: `actor` (an account id, `configuration` or ' +
    '`command`), `action` such as `provider.update`, `subject` such as `provider:name`, ' +
    '`account_id`, and the time `from` (inclusive) and `to` (exclusive), ISO 8601: a day in UTC, ' +
    'or a time with its zone. Details hold no secrets.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({
    ...pageQuery.entries,
    actor: v.optional(text),
    action: v.optional(text),
    subject: v.optional(text),
    account_id: v.optional(text),
    from: v.optional(moment),
    to: v.optional(moment),
  }),
  replies: { 200: { description: 'A page of events.', schema: pageSchema(eventSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, afterId } = pageRequest(query);
    const { actor = null, action = null, subject = null, account_id = null } = query;
    const from = requireMoment('from', query.from);
    const to = requireMoment('to', query.to);
    const filter = { actor, action, subject, accountId: account_id, from, to };
    const page = await withDeadline(listAuditEvents(services.sql, filter, limit, afterId));
    const events = page.events.map(({ id, at, accountId, details, ...event }) => ({
      id,
      at: at.toISOString(),
      actor: event.actor,
      action: event.action,
      subject: event.subject,
      account_id: accountId,
      details,
    }));
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(events, page.nextCursor) },
    };
  },
});

function requireMoment(name: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const moment = momentOf(text);
  if (moment !== null) return moment;
  throw new Problem('invalid_request', { message: `${name} is no ISO 8601 time.`, param: name });
}
