// Makes a route value of this application: the kernel's declaration with our access, caller and
// services, its type parameters erased for the table.
import type { GenericSchema } from 'valibot';
import type { Route, RouteDeclaration } from '../runtime/http/route.ts';
import type { Access, Caller, Services } from './services.ts';

export type AppRoute = Route<Access, Caller, Services>;

export function defineRoute<
  Q extends GenericSchema | undefined = undefined,
  P extends GenericSchema | undefined = undefined,
  B extends GenericSchema | undefined = undefined,
>(declaration: RouteDeclaration<Access, Caller, Services, Q, P, B>): AppRoute {
  return declaration as unknown as AppRoute;
}
