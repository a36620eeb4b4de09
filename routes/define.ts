// Makes a route value of this application: the kernel's declaration with our services and with the
// callers that its access admits. The table has it with its type parameters erased.
import type { GenericSchema } from 'valibot';
import type { Route, RouteDeclaration } from '../runtime/http/route.ts';
import type { Access, Caller, CallerOf, Services } from './services.ts';

export type AppRoute = Route<Access, Caller, Services>;

export function defineRoute<
  A extends Access,
  Q extends GenericSchema | undefined = undefined,
  P extends GenericSchema | undefined = undefined,
  B extends GenericSchema | undefined = undefined,
>(declaration: RouteDeclaration<A, CallerOf<A>, Services, Q, P, B>): AppRoute {
  return declaration as unknown as AppRoute;
}
