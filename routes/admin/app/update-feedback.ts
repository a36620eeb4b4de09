// PATCH /api/admin/feedback/{feedback_id}: somebody has seen to it, or it is open again.
import * as v from 'valibot';
import { handleFeedback } from '../../../db/app/feedback.ts';
import { audited } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { adminEvent } from '../board-change.ts';
import { feedbackBody, feedbackParams, feedbackSchema } from './feedback-schema.ts';

const reply = v.strictObject({ ok: v.literal(true), feedback: feedbackSchema });

export const updateFeedback = defineRoute({
  method: 'PATCH',
  path: '/api/admin/feedback/{feedback_id}',
  operationId: 'updateFeedback',
  summary: 'Mark feedback as handled',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: feedbackParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { handled: true },
    schema: v.strictObject({ handled: v.boolean() }),
  },
  replies: { 200: { description: 'As it is now.', schema: reply } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const id = params.feedback_id;
    const handled = await withDeadline(
      audited(services.sql, async (transaction) => {
        const result = await handleFeedback(transaction, id, body.handled);
        const details = { handled: body.handled };
        const { accountId } = caller;
        const event = adminEvent(services, accountId, 'feedback.update', `feedback:${id}`, details);
        return { result, event: result === null ? null : event };
      }),
    );
    if (handled === null) throw new Problem('not_found', { param: 'feedback_id' });
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: { ok: true, feedback: feedbackBody(handled, services) },
    };
  },
});
