// GET /api/auth/session: who is signed in on this browser, if anybody is.
import * as v from 'valibot';
import { findPerson } from '../../db/accounts/person.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { defineRoute } from '../define.ts';
import { sessionBody, sessionSchema, userBody, userSchema } from './view.ts';

export const getBrowserSession = defineRoute({
  method: 'GET',
  path: '/api/auth/session',
  operationId: 'getBrowserSession',
  summary: 'Who is signed in on this browser',
  description: 'A session that is over counts as none. Credentials in headers are ignored.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'optional-cookie' },
  cors: 'web',
  replies: {
    200: {
      description: 'The person and the session, if `authenticated`.',
      schema: v.strictObject({
        ok: v.literal(true),
        authenticated: v.boolean(),
        user: v.optional(userSchema),
        session: v.optional(sessionSchema),
      }),
    },
  },
  problems: ['dependency_unavailable'],
  async handle({ caller, services }) {
    const headers = { 'cache-control': 'no-store' };
    const person =
      caller.kind === 'anonymous'
        ? null
        : await withDeadline(findPerson(services.sql, caller.accountId));
    if (caller.kind === 'anonymous' || person === null) {
      return { status: 200, headers, json: { ok: true, authenticated: false } };
    }
    const user = userBody(person);
    const session = sessionBody(caller.signedIn);
    return { status: 200, headers, json: { ok: true, authenticated: true, user, session } };
  },
});
