// GET /api/app/auth/session: who an app acts for, and with what.
import * as v from 'valibot';
import { findPerson } from '../../../db/accounts/person.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { sessionBody, sessionSchema, userBody, userSchema } from '../../identity/view.ts';

export const getAppSession = defineRoute({
  method: 'GET',
  path: '/api/app/auth/session',
  operationId: 'getAppSession',
  summary: 'Who an app acts for',
  description: 'Of an access token `session` names the client and its scopes.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'app' },
  cors: 'web',
  replies: {
    200: {
      description: 'The person and the session.',
      schema: v.strictObject({ ok: v.literal(true), user: userSchema, session: sessionSchema }),
    },
  },
  problems: ['dependency_unavailable'],
  async handle({ caller, services }) {
    const person = await withDeadline(findPerson(services.sql, caller.accountId));
    if (person === null) throw new Problem('session_expired');
    const json = { ok: true, user: userBody(person), session: sessionBody(caller.signedIn) };
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
