// GET /api/me/api-keys: the keys of the account, newest first, a page at a time.
import { withDeadline } from '../../db/driver/sql.ts';
import { listKeys as listKeyRows } from '../../db/keys.ts';
import { defineRoute } from '../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../page.ts';
import { apiKeyBody, apiKeySchema } from './schema.ts';

export const listKeys = defineRoute({
  method: 'GET',
  path: '/api/me/api-keys',
  operationId: 'listApiKeys',
  summary: 'List your API keys',
  tag: 'Keys',
  documents: ['account'],
  access: { kind: 'user' },
  cors: 'web',
  query: pageQuery,
  replies: { 200: { description: 'A page of keys.', schema: pageSchema(apiKeySchema) } },
  problems: ['dependency_unavailable'],
  async handle({ query, caller, services }) {
    const { accountId } = caller;
    const { limit, afterId } = pageRequest(query);
    const page = listKeyRows(services.sql, accountId, limit, afterId);
    const { keys, nextCursor } = await withDeadline(page);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, ...pageReply(keys.map(apiKeyBody), nextCursor) },
    };
  },
});
