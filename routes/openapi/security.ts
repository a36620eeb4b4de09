// Who may call a route, as the documents say it: security schemes, the scope of a key, and the
// refusals of whoever may not.
import type { Scope } from '../../actors/credentials/scope.ts';
import type { ProblemCode } from '../../runtime/problem.ts';
import { isContextual } from '../context.ts';
import type { AppRoute } from '../define.ts';
import type { Access } from '../services.ts';
import { securitySchemes } from './schemes.ts';

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

/** What the organization's status or membership refuses. */
const contextProblems: ProblemCode[] = ['policy_blocked', 'invalid_state', 'invalid_request'];

const appProblems: ProblemCode[] = [...userProblems, 'insufficient_scope', 'concurrency_limited'];

/** What a person shows, and an app that acts for it. */
const session = { session: [] };
const cookie = { sessionCookie: [] };
const app = { oauth: ['app'] };
/** A route that is open too lists no credential as one of its choices (OpenAPI 3.1, 4.8.10). */
const nobody = {};

/** The credentials that a route takes, and what access to it may be refused with. */
export function accessOf(access: Access): {
  security: Record<string, string[]>[];
  problems: ProblemCode[];
} {
  // Of a scheme that is not OAuth these are "role names" (OpenAPI 3.1, 4.8.30).
  const key = (scope: Scope) => [{ apiKey: [scope] }, { apiKeyHeader: [scope] }];
  switch (access.kind) {
    case 'none':
      return { security: [], problems: [] };
    case 'key':
      return { security: key(access.scope), problems: [...keyProblems, 'policy_blocked'] };
    case 'user': {
      const problems = isContextual(access) ? [...appProblems, ...contextProblems] : appProblems;
      return { security: [session, cookie, app], problems };
    }
    case 'optional-user':
      return { security: [nobody, session, cookie, app], problems: appProblems };
    case 'app':
      return { security: [session, app], problems: appProblems };
    case 'bearer':
      return {
        security: access.scopes.map((scope) => ({ oauth: [scope] })),
        problems: appProblems,
      };
    case 'self':
    case 'admin':
      return { security: [session, cookie], problems: [...userProblems, 'concurrency_limited'] };
    case 'cookie':
      return { security: [cookie], problems: [...userProblems, 'concurrency_limited'] };
    case 'optional-cookie':
      return {
        security: [nobody, cookie],
        problems: ['rate_limited', 'forbidden', 'concurrency_limited', 'dependency_unavailable'],
      };
    case 'socket':
      return {
        security: [...key(access.scope), { ticket: [] }, session, app],
        problems: [...new Set([...keyProblems, ...appProblems, ...contextProblems])],
      };
    case 'key-or-user':
      return {
        security: [...key(access.scope), session, cookie, app],
        problems: [...new Set([...keyProblems, ...appProblems, ...contextProblems])],
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
