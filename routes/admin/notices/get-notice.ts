// GET /api/admin/notifications/{notice_id}: one notice.
import { findNotice } from '../../../db/app/notices.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { noticeAnswer, noticeParams, noticeReply } from './schema.ts';

export const getNotice = defineRoute({
  method: 'GET',
  path: '/api/admin/notifications/{notice_id}',
  operationId: 'getNotification',
  summary: 'Read a notice',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: noticeParams,
  replies: noticeReply,
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, services }) {
    const notice = await withDeadline(findNotice(services.sql, params.notice_id));
    if (notice === null) throw new Problem('not_found', { param: 'notice_id' });
    return noticeAnswer(200, notice);
  },
});
