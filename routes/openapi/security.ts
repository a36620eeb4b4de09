// Who may call a route, as the documents say it: security schemes, the scope of a key, and the
// refusals of whoever may not.
import type { Scope } from '../../actors/credentials/scope.ts';
import type { ProblemCode } from '../../runtime/problem.ts';
import type { AppRoute } from '../define.ts';
import type { Access } from '../services.ts';

const securitySchemes: Record<string, Record<string, unknown>> = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key, `svc_live_…`, with the scope that is named. Replies to a key say what is left ' +
      'of its limits: `x-ratelimit-{limit,remaining,reset}-{requests,concurrency}`, reset in ' +
      'seconds.',
  },
  apiKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description:
      'The same key in a header of its own. Where both headers are sent, the one that has the ' +
      'form of our keys is taken, `Authorization` before this one.',
  },
  session: { type: 'apiKey', in: 'header', name: 'x-svc-session' },
  ticket: {
    type: 'apiKey',
    in: 'query',
    name: 'ticket',
    description: 'From `POST /v1/voice/tickets`: for browsers, once.',
  },
  sessionCookie: { type: 'apiKey', in: 'cookie', name: 'svc_session' },
};

const keyProblems: ProblemCode[] = [
  'unauthenticated',
  'invalid_api_key',
  'insufficient_scope',
  'rate_limited',
  'concurrency_limited',
  'dependency_unavailable',
];
const userProblems: ProblemCode[] = [
  'unauthenticated',
  'session_expired',
  'rate_limited',
  'forbidden',
  'dependency_unavailable',
];

/** The credentials that a route takes, and what access to it may be refused with. */
export function accessOf(access: Access): {
  security: Record<string, string[]>[];
  problems: ProblemCode[];
} {
  // Of a scheme that is not OAuth these are "role names" (OpenAPI 3.1, 4.8.30).
  const key = (scope: Scope) => [{ apiKey: [scope] }, { apiKeyHeader: [scope] }];
  const user = [{ session: [] }, { sessionCookie: [] }];
  switch (access.kind) {
    case 'none':
      return { security: [], problems: [] };
    case 'key':
      return { security: key(access.scope), problems: keyProblems };
    case 'user':
    case 'admin':
      return { security: user, problems: userProblems };
    case 'socket':
      return {
        security: [...key(access.scope), { ticket: [] }, { session: [] }],
        problems: [...new Set([...keyProblems, ...userProblems])],
      };
    case 'key-or-user':
      return {
        security: [...key(access.scope), ...user],
        problems: [...new Set([...keyProblems, ...userProblems])],
      };
  }
}

/** Only the schemes that a route of the document takes. */
export function schemesOf(routes: readonly AppRoute[]): typeof securitySchemes {
  const used = new Set(
    routes.flatMap((route) => accessOf(route.access).security.flatMap(Object.keys)),
  );
  return Object.fromEntries(Object.entries(securitySchemes).filter(([name]) => used.has(name)));
}
