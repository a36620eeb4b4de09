// POST /api/app/notifications/read: the person has seen these notices.
import * as v from 'valibot';
import { accountNoticesTopic } from '../../actors/app/account-notices.ts';
import { markNoticesRead } from '../../db/app/notices.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { fixedLimits } from '../../runtime/limits.ts';
import { defineRoute } from '../define.ts';

const idsMax = 100;

export const readNotifications = defineRoute({
  method: 'POST',
  path: '/api/app/notifications/read',
  operationId: 'readNotifications',
  summary: 'Mark notices as read',
  description:
    'They are told with `read` true from then on, to every app of the account. Reading one twice ' +
    'changes nothing; ids of what the account is not told are left out.',
  tag: 'Apps',
  documents: ['account'],
  access: { kind: 'user', isPersonal: true },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { ids: ['ntc_0199a2b3c4d5000123456789'] },
    schema: v.strictObject({
      ids: v.pipe(
        v.array(v.pipe(v.string(), v.regex(/^ntc_[a-f0-9]{24}$/, 'expected the id of a notice'))),
        v.minLength(1),
        v.maxLength(idsMax),
      ),
    }),
  },
  replies: { 200: { description: 'Done.', schema: v.strictObject({ ok: v.literal(true) }) } },
  problems: ['dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { sql, bus } = services;
    const { accountId, admin } = caller;
    await withDeadline(markNoticesRead(sql, accountId, body.ids, admin));
    await bus.publish(accountNoticesTopic, accountId);
    return { status: 200, json: { ok: true } };
  },
});
