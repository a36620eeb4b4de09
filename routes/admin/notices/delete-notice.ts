// DELETE /api/admin/notifications/{notice_id}: it is told no more, and forgotten.
import { defineRoute } from '../../define.ts';
import { expectedRevision, revisionAdvice, revisionHeader } from '../revision.ts';
import { deleteNoticeRecord } from './change.ts';
import { noticeAnswer, noticeParams, noticeReply } from './schema.ts';

export const removeNotice = defineRoute({
  method: 'DELETE',
  path: '/api/admin/notifications/{notice_id}',
  operationId: 'deleteNotification',
  summary: 'Delete a notice',
  description: `Answers with it as it was. ${revisionAdvice}`,
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  headers: revisionHeader,
  params: noticeParams,
  replies: noticeReply,
  problems: ['not_found', 'conflict', 'dependency_unavailable'],
  async handle({ params, caller, services, exchange }) {
    const revision = expectedRevision(exchange, undefined);
    const { accountId } = caller;
    const id = params.notice_id;
    return noticeAnswer(200, await deleteNoticeRecord(services, accountId, id, revision));
  },
});
