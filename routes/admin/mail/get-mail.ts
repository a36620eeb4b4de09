// GET /api/admin/mail: whether mail leaves, how much waits, and what went wrong last.
import * as v from 'valibot';
import { describeMailError } from '../../../actors/mail/outcome.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { readMailCounts } from '../../../db/mails.ts';
import { defineRoute } from '../../define.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const mailSchema = v.strictObject({
  configured: v.pipe(
    v.boolean(),
    v.description('False: no mail leaves, and nobody is sent a code.'),
  ),
  counts: v.strictObject({ queued: count, sent: count, failed: count }),
  oldest_queued_at: v.nullable(v.string()),
  last_error: v.nullable(v.strictObject({ at: v.string(), message: v.string() })),
});

export const getMail = defineRoute({
  method: 'GET',
  path: '/api/admin/mail',
  operationId: 'getMail',
  summary: 'Read the state of mail',
  description:
    'Mails are counted as long as they are kept: a day after they were sent, a week after they ' +
    'failed. In development mode without a server they go to the mailbox.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  replies: {
    200: {
      description: 'Counts by state, the oldest that waits, and the last error.',
      schema: v.strictObject({ ok: v.literal(true), mail: mailSchema }),
    },
  },
  problems: ['dependency_unavailable'],
  async handle({ services }) {
    const { queued, sent, failed, oldestQueuedAt, lastError } = await withDeadline(
      readMailCounts(services.sql),
    );
    const mail = {
      configured: services.mail.isAvailable,
      counts: { queued, sent, failed },
      oldest_queued_at: oldestQueuedAt?.toISOString() ?? null,
      last_error:
        lastError === null
          ? null
          : { at: lastError.at.toISOString(), message: describeMailError(lastError.text) },
    };
    return { status: 200, headers: { 'cache-control': 'no-store' }, json: { ok: true, mail } };
  },
});
