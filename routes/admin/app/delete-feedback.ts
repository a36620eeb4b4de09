// DELETE /api/admin/feedback/{feedback_id}: it is gone.
import { deleteFeedback } from '../../../db/app/feedback.ts';
import { defineRoute } from '../../define.ts';
import { feedbackParams } from './feedback-schema.ts';
import { removedReply, removeTold } from './removed.ts';

export const removeFeedback = defineRoute({
  method: 'DELETE',
  path: '/api/admin/feedback/{feedback_id}',
  operationId: 'deleteFeedback',
  summary: 'Delete feedback',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: feedbackParams,
  replies: removedReply,
  problems: ['not_found', 'dependency_unavailable'],
  handle({ params, caller, services }) {
    const told = { noun: 'feedback', id: params.feedback_id, param: 'feedback_id' };
    return removeTold(services, caller.accountId, told, (transaction) =>
      deleteFeedback(transaction, told.id),
    );
  },
});
