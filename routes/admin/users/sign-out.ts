// POST /api/admin/users/{account_id}/sign-out: an account is signed in nowhere any more, and no app
// acts for it. Its keys stay, but those that an app made.
import * as v from 'valibot';
import { findAccount } from '../../../db/accounts.ts';
import { audited } from '../../../db/audit-events.ts';
import { endAuthorizations } from '../../../db/authorizations.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { endSessionsBut } from '../../../db/sessions.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import { tellChange } from '../../credentials.ts';
import { defineRoute } from '../../define.ts';
import { accountParams } from './schema.ts';

const count = v.pipe(v.number(), v.integer());

export const signOutUser = defineRoute({
  method: 'POST',
  path: '/api/admin/users/{account_id}/sign-out',
  operationId: 'signOutUser',
  summary: 'End all sessions and authorizations of an account',
  description:
    'They work nowhere any more when this is answered, and their voice sessions end. Keys stay, ' +
    'but those that an app made through its authorization. Doing it twice changes nothing.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: accountParams,
  replies: {
    200: {
      description: 'How many ended.',
      schema: v.strictObject({
        ok: v.literal(true),
        sessions: count,
        authorizations: count,
        api_keys: count,
      }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { account_id: accountId } = params;
    const { sql, system, bus } = services;
    const ended = await withDeadline(
      audited<string[] | null>(sql, async (transaction) => {
        const account = await findAccount(transaction, accountId);
        if (account === null) return { result: null, event: null };
        const result = [
          ...(await endSessionsBut(transaction, accountId, null)),
          ...(await endAuthorizations(transaction, { accountId }, 'admin')),
        ];
        if (result.length === 0) return { result, event: null };
        const event = {
          id: newAuditId(system.node),
          accountId,
          actor: caller.accountId,
          action: 'account.sign_out',
          subject: `account:${accountId}`,
          details: { ended: result.length },
        };
        return { result, event };
      }),
    );
    if (ended === null) throw new Problem('not_found', { param: 'account_id' });
    await tellChange(bus, ended, { isWithdrawn: true });
    const countOf = (prefix: string) => ended.filter((id) => id.startsWith(prefix)).length;
    const json = {
      ok: true,
      sessions: countOf('ses_'),
      authorizations: countOf('auth_'),
      api_keys: countOf('key_'),
    };
    return { status: 200, json };
  },
});
