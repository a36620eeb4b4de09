// POST /api/admin/mail/test: a mail that shows whether mail arrives. What comes of it is told by
// GET /api/admin/mail.
import * as v from 'valibot';
import { parseAddress } from '../../../actors/identity/address.ts';
import { audited } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';

export const sendTestMail = defineRoute({
  method: 'POST',
  path: '/api/admin/mail/test',
  operationId: 'sendTestMail',
  summary: 'Send a mail, to see whether mail arrives',
  description: 'Without a server and outside of development mode: 503 `dependency_unavailable`.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { to: 'someone@example.com' },
    schema: v.strictObject({ to: lineOfText(254) }),
  },
  replies: {
    202: {
      description: 'It leaves within moments.',
      schema: v.strictObject({ ok: v.literal(true), mail_id: v.string() }),
    },
  },
  problems: ['dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { sql, mail, system } = services;
    const to = parseAddress(body.to);
    if (to === null) {
      throw new Problem('invalid_request', { message: 'That is no address.', param: 'to' });
    }
    if (!mail.isAvailable) throw new Problem('dependency_unavailable');
    const test = { to, accountId: null, expiresAt: null, mail: { template: 'test' as const } };
    const written = audited(sql, async (transaction) => {
      const id = await mail.write(transaction, test);
      const event = {
        id: newAuditId(system.node),
        accountId: null,
        actor: caller.accountId,
        action: 'mail.test',
        subject: `mail:${id}`,
        details: {},
      };
      return { result: id, event };
    });
    const mail_id = await withDeadline(written);
    mail.send(mail_id);
    return { status: 202, headers: { 'cache-control': 'no-store' }, json: { ok: true, mail_id } };
  },
});
