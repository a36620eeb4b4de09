// PATCH /api/admin/notifications/{notice_id}: another text, audience or time.
import * as v from 'valibot';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { expectedRevision, revisionAdvice, revisionHeader } from '../revision.ts';
import { updateNoticeRecord } from './change.ts';
import { noticePatchEntries } from './members.ts';
import { noticeAnswer, noticeParams, noticeReply } from './schema.ts';

export const updateNotice = defineRoute({
  method: 'PATCH',
  path: '/api/admin/notifications/{notice_id}',
  operationId: 'updateNotification',
  summary: 'Change a notice',
  description: `What is absent stays. Who has read it has read it still. ${revisionAdvice}`,
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  headers: revisionHeader,
  params: noticeParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    halves: 'replaced',
    schema: v.strictObject(noticePatchEntries),
  },
  replies: noticeReply,
  problems: ['not_found', 'conflict', 'dependency_unavailable'],
  async handle({ params, body, caller, services, exchange }) {
    const revision = expectedRevision(exchange, body);
    const id = params.notice_id;
    const notice = await updateNoticeRecord(services, caller.accountId, id, body, revision);
    return noticeAnswer(200, notice);
  },
});
