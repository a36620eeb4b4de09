// Makes a route value of this application: the kernel's declaration with our services and with the
// callers that its access admits. The table has it with its type parameters erased.
import { strict as assert } from 'node:assert';
import * as v from 'valibot';
import type { Route, RouteDeclaration } from '../runtime/http/route.ts';
import { isContextual, organizationHeader } from './context.ts';
import { noteBlocked } from './policy.ts';
import type { Access, Caller, CallerOf, Services } from './services.ts';

export type AppRoute = Route<Access, Caller, Services>;

export function defineRoute<
  A extends Access,
  Q extends v.GenericSchema | undefined = undefined,
  P extends v.GenericSchema | undefined = undefined,
  B extends v.GenericSchema | undefined = undefined,
>(declaration: RouteDeclaration<A, CallerOf<A>, Services, Q, P, B>): AppRoute {
  const route = noted(declaration as unknown as AppRoute);
  return isContextual(route.access) ? withOrganization(route) : route;
}

/** What a policy blocks there is told to the audit of the organization that the caller acts in. */
function noted(route: AppRoute): AppRoute {
  if (!['key', 'user', 'key-or-user'].includes(route.access.kind)) return route;
  return {
    ...route,
    handle(input) {
      const { caller, services } = input;
      if (caller.kind === 'anonymous' || caller.organization === null) return route.handle(input);
      const note = (error: unknown): never => {
        noteBlocked(error, caller, route.operationId, services);
        throw error;
      };
      try {
        const reply = route.handle(input);
        return reply instanceof Promise ? reply.catch(note) : reply;
      } catch (error) {
        return note(error);
      }
    },
  };
}

const named =
  "Its id, or `personal`; without it the person's default one. Keys act as they were made.";

/** Where people act in an organization, header and query name it. */
function withOrganization(route: AppRoute): AppRoute {
  const headers = {
    ...route.headers,
    [organizationHeader]: { description: `The organization to act in. ${named}` },
  };
  const { query } = route;
  // A WebSocket reads its query itself.
  if (route.method !== 'GET' || route.socket !== undefined) return { ...route, headers };
  const organization = v.optional(v.pipe(v.string(), v.description(`As the header. ${named}`)));
  const entries = query !== undefined && isObject(query) ? query.entries : {};
  assert(query === undefined || isObject(query), `the query of ${route.path} is an object`);
  const all = { ...entries, organization };
  const isStrict = query?.type === 'strict_object';
  return { ...route, headers, query: isStrict ? v.strictObject(all) : v.object(all) };
}

function isObject(
  schema: v.GenericSchema,
): schema is v.GenericSchema & { entries: v.ObjectEntries } {
  return 'entries' in schema;
}
