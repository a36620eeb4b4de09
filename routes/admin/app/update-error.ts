// PATCH /api/admin/errors/{fingerprint}: the fault is mended, or it is open again.
import * as v from 'valibot';
import { resolveError } from '../../../db/app/errors.ts';
import { audited } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import { adminEvent } from '../board-change.ts';
import { errorAnswer, errorParams, errorReply } from './error-schema.ts';

export const updateAppError = defineRoute({
  method: 'PATCH',
  path: '/api/admin/errors/{fingerprint}',
  operationId: 'updateAppError',
  summary: 'Mark a group of errors as resolved',
  description: 'It is open again by itself when it comes again.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: errorParams,
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { resolved: true },
    schema: v.strictObject({ resolved: v.boolean() }),
  },
  replies: errorReply,
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params: { fingerprint }, body, caller, services }) {
    const { resolved } = body;
    await withDeadline(
      audited(services.sql, async (transaction) => {
        const result = await resolveError(transaction, fingerprint, resolved);
        const subject = `app_error:${fingerprint}`;
        const { accountId } = caller;
        const event = adminEvent(services, accountId, 'app_error.update', subject, { resolved });
        return { result, event: result ? event : null };
      }),
    );
    return errorAnswer(services, fingerprint);
  },
});
