// GET /api/admin/rewards/submissions: what people handed in, newest first.
import * as v from 'valibot';
import { withDeadline } from '../../../db/driver/sql.ts';
import { listSubmissions } from '../../../db/rewards/submissions.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { defineRoute } from '../../define.ts';
import { pageQuery, pageReply, pageRequest, pageSchema } from '../../page.ts';
import {
  adminSubmissionBody,
  adminSubmissionSchema,
  noStore,
  placePattern,
  rewardStates,
} from '../../rewards/schema.ts';

export const listAllSubmissions = defineRoute({
  method: 'GET',
  path: '/api/admin/rewards/submissions',
  operationId: 'listAllRewardSubmissions',
  summary: 'List submissions for rewards',
  description: 'Newest first. `state` `needs_review`: those that an administrator has to decide.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  query: v.object({
    ...pageQuery.entries,
    state: v.optional(v.picklist(rewardStates)),
    account_id: v.optional(lineOfText(100)),
  }),
  replies: {
    200: { description: 'A page of submissions.', schema: pageSchema(adminSubmissionSchema) },
  },
  problems: ['dependency_unavailable'],
  async handle({ query, services }) {
    const { limit, afterId } = pageRequest(query, placePattern);
    const filter = { accountId: query.account_id ?? null, state: query.state ?? null };
    const page = listSubmissions(services.sql, filter, limit, afterId);
    const { submissions, nextPlace } = await withDeadline(page);
    const json = { ok: true, ...pageReply(submissions.map(adminSubmissionBody), nextPlace) };
    return { status: 200, headers: noStore, json };
  },
});
