// POST /api/auth/logout: the browser's session ends, and its cookie expires, whether there was one.
import * as v from 'valibot';
import { defineRoute } from '../define.ts';
import { refuseForeignPage } from './asker.ts';
import { browserHeaders, expireSessionCookie } from './cookies.ts';
import { signOut } from './sign-out.ts';

export const logOutBrowser = defineRoute({
  method: 'POST',
  path: '/api/auth/logout',
  operationId: 'logOutBrowser',
  summary: 'Sign this browser out',
  description: 'The same without a session. Credentials in headers are ignored.',
  tag: 'Sign-in',
  documents: ['account'],
  access: { kind: 'optional-cookie' },
  cors: 'web',
  headers: browserHeaders,
  replies: {
    200: {
      description: 'Signed out.',
      schema: v.strictObject({ ok: v.literal(true) }),
      headers: { 'set-cookie': '`svc_session`, expired.' },
    },
  },
  problems: ['forbidden', 'dependency_unavailable'],
  async handle({ caller, exchange, services }) {
    refuseForeignPage(exchange, services);
    if (caller.kind === 'user') await signOut(services, caller);
    expireSessionCookie(exchange, services.config);
    return { status: 200, headers: { 'cache-control': 'no-store' }, json: { ok: true } };
  },
});
