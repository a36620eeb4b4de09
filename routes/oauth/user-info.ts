// GET /oauth/userinfo: who the person is, as far as the access token's scopes go. No OpenID
// Connect: there is no id token.
import * as v from 'valibot';
import { findPerson } from '../../db/accounts/person.ts';
import { withDeadline } from '../../db/driver/sql.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';

export const getUserInfo = defineRoute({
  method: 'GET',
  path: '/oauth/userinfo',
  operationId: 'getUserInfo',
  summary: 'Read who the person is',
  description:
    'With an access token in `Authorization`, nowhere else. The scope `profile` tells `sub`, the ' +
    'account id, and `name`; `email` tells `email` and `email_verified`. What the account has ' +
    'not is left out. A token that is good for nothing is 401 `invalid_token`.',
  tag: 'OAuth',
  documents: ['account'],
  access: { kind: 'bearer', scopes: ['profile', 'email'] },
  cors: 'public',
  replies: {
    200: {
      description: 'The person.',
      schema: v.strictObject({
        sub: v.optional(v.string()),
        name: v.optional(v.string()),
        email: v.optional(v.string()),
        email_verified: v.optional(v.boolean()),
      }),
    },
  },
  problems: ['dependency_unavailable'],
  async handle({ caller, services }) {
    const person = await withDeadline(findPerson(services.sql, caller.accountId));
    if (person === null) throw new Problem('session_expired');
    const scopes = caller.signedIn.client?.scopes ?? [];
    const { id: sub, fullName, email, emailVerifiedAt } = person;
    const name = fullName === null ? {} : { name: fullName };
    const address = email === null ? {} : { email, email_verified: emailVerifiedAt !== null };
    const json = {
      ...(scopes.includes('profile') ? { sub, ...name } : {}),
      ...(scopes.includes('email') ? address : {}),
    };
    return { status: 200, headers: { 'cache-control': 'no-store' }, json };
  },
});
