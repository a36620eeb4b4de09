// GET /api/me/rewards/submissions: what the account has begun, newest first.
import { withDeadline } from '../../db/driver/sql.ts';
import { listSubmissions as listRows } from '../../db/rewards/submissions.ts';
import { defineRoute } from '../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../page.ts';
import { noStore, placePattern, submissionBody, submissionSchema } from './schema.ts';

export const listSubmissions = defineRoute({
  method: 'GET',
  path: '/api/me/rewards/submissions',
  operationId: 'listRewardSubmissions',
  summary: 'List what you have begun for rewards',
  description: 'Newest first.',
  tag: 'Rewards',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  query: pageQuery,
  replies: {
    200: { description: 'A page of submissions.', schema: pageSchema(submissionSchema) },
  },
  problems: ['dependency_unavailable'],
  async handle({ query, caller, services }) {
    const { limit, afterId } = pageRequest(query, placePattern);
    const filter = { accountId: caller.accountId, state: null };
    const page = listRows(services.sql, filter, limit, afterId);
    const { submissions, nextPlace } = await withDeadline(page);
    const json = { ok: true, ...pageReply(submissions.map(submissionBody), nextPlace) };
    return { status: 200, headers: noStore, json };
  },
});
