// POST /api/admin/notifications: a new notice.
import * as v from 'valibot';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { createNoticeRecord } from './change.ts';
import { newNoticeEntries } from './members.ts';
import { noticeAnswer, noticeReply } from './schema.ts';

export const createNotice = defineRoute({
  method: 'POST',
  path: '/api/admin/notifications',
  operationId: 'createNotification',
  summary: 'Write a notice',
  description:
    'Told from `starts_at` (now) to `ends_at` (never): to everybody, to whoever is signed in, to ' +
    'administrators, or to the accounts of `account_ids`. `platforms`, `channels` and the two ' +
    'versions, both included, narrow that to apps. Every shard tells it when this is answered. ' +
    'Of those that are not for named accounts 200 are told at once; then 409 `conflict`.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    halves: 'replaced',
    example: { title: 'Maintenance on Sunday', body: 'From 2 to 3 UTC.', level: 'warning' },
    schema: v.strictObject(newNoticeEntries),
  },
  replies: { 201: noticeReply[200] },
  problems: ['conflict', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    return noticeAnswer(201, await createNoticeRecord(services, caller.accountId, body));
  },
});
