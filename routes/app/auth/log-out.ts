// POST /api/app/auth/logout: ends the session, or the access token that was shown.
import * as v from 'valibot';
import { defineRoute } from '../../define.ts';
import { signOut } from '../../identity/sign-out.ts';

export const logOutApp = defineRoute({
  method: 'POST',
  path: '/api/app/auth/logout',
  operationId: 'logOutApp',
  summary: 'Sign an app out',
  description:
    'A session ends. Of an OAuth client this ends the access token that was shown; the refresh ' +
    'token stays good, and `POST /oauth/revoke` ends both.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'app' },
  cors: 'web',
  replies: {
    200: { description: 'Signed out.', schema: v.strictObject({ ok: v.literal(true) }) },
  },
  problems: ['dependency_unavailable'],
  async handle({ caller, services }) {
    await signOut(services, caller);
    return { status: 200, headers: { 'cache-control': 'no-store' }, json: { ok: true } };
  },
});
