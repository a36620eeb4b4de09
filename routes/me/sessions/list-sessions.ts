// GET /api/me/sessions: where the account is signed in, newest first.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { listSessions as listSessionRows } from '../../../db/sessions.ts';
import { defineRoute } from '../../define.ts';
import { listedSessionBody, listedSessionEntries } from '../../identity/view.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';

const itemSchema = v.strictObject({ ...listedSessionEntries, current: v.boolean() });

export const listSessions = defineRoute({
  method: 'GET',
  path: '/api/me/sessions',
  operationId: 'listSessions',
  summary: 'List where you are signed in',
  description:
    'Newest first. `current` is the session that asks. A page may have fewer items than `limit` ' +
    'although there are more: `next_cursor` alone says so.',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  query: pageQuery,
  replies: { 200: { description: 'A page of sessions.', schema: pageSchema(itemSchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, caller, services }) {
    const { limit, afterId } = pageRequest(query);
    const page = listSessionRows(services.sql, caller.accountId, limit, afterId);
    const { sessions, nextCursor } = await withDeadline(page);
    const items = sessions.flatMap((session) => {
      const body = listedSessionBody(session);
      return body === null ? [] : [{ ...body, current: session.id === caller.signedIn.id }];
    });
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(items, nextCursor) },
    };
  },
});
