// POST /api/me/sessions/revoke: one session, or all but the one that asks. They work on no shard
// any more when this is answered.
import * as v from 'valibot';
import { audited } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { endSession, endSessionsBut } from '../../../db/sessions.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { Problem } from '../../../runtime/problem.ts';
import { tellChange } from '../../credentials.ts';
import { defineRoute } from '../../define.ts';

export const revokeSessions = defineRoute({
  method: 'POST',
  path: '/api/me/sessions/revoke',
  operationId: 'revokeSessions',
  summary: 'Sign out somewhere else',
  description:
    'With `session_id` that session ends, which may be the one that asks; with `all_others` all ' +
    'but that one. Their voice sessions end, and are settled.',
  tag: 'Account',
  documents: ['account'],
  access: { kind: 'self' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { all_others: true },
    schema: v.union([
      v.strictObject({ session_id: lineOfText(100) }),
      v.strictObject({ all_others: v.literal(true) }),
    ]),
  },
  replies: {
    200: {
      description: 'What ended.',
      schema: v.strictObject({
        ok: v.literal(true),
        sessions: v.pipe(v.number(), v.integer(), v.description('How many ended.')),
      }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { sql, bus, system } = services;
    const { accountId, signedIn } = caller;
    const sessionId = 'session_id' in body ? body.session_id : null;
    const ended = await withDeadline(
      audited<string[]>(sql, async (transaction) => {
        const result =
          sessionId === null
            ? await endSessionsBut(transaction, accountId, signedIn.id)
            : [await endSession(transaction, accountId, sessionId)].filter((id) => id !== null);
        if (result.length === 0) return { result, event: null };
        const event = {
          id: newAuditId(system.node),
          accountId,
          actor: accountId,
          action: 'session.end',
          subject: sessionId === null ? `account:${accountId}` : `session:${sessionId}`,
          details: { sessions: result.length },
        };
        return { result, event };
      }),
    );
    if (sessionId !== null && ended.length === 0) {
      throw new Problem('not_found', { param: 'session_id' });
    }
    await tellChange(bus, ended, { isWithdrawn: true });
    return { status: 200, json: { ok: true, sessions: ended.length } };
  },
});
