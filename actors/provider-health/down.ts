// Routes whose provider refuses the credential. Time does not mend that. Such a route rests until
// its record is another one, or until a probe succeeds. It is a fact, so one shard tells all.
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import { identityOf } from './identity.ts';

/** Bus topic of `DownRoute`. */
export const downTopic = 'provider-down';

export interface DownRoute {
  routeId: string;
  /** The credential that was refused: with another one the route is not down. */
  identity: string;
  /** False: a probe has succeeded. */
  isDown: boolean;
}

type Target = Pick<UpstreamTarget, 'routeId' | 'family' | 'baseUrl' | 'apiKey'>;

export interface DownRoutes {
  isDown(target: Target): boolean;
  /** The provider has refused the credential. */
  refused(target: Target): void;
  /** A probe has succeeded. It is told in any case: who probes may not know that it is down. */
  accepted(target: Target): void;
  /** What another thread has found. */
  heard(found: DownRoute): void;
  forget(routeId: string): void;
}

export function createDownRoutes(tell: (found: DownRoute) => void): DownRoutes {
  /** The refused identity by route. */
  const refused = new Map<string, string>();
  const isDown = (target: Target) => {
    const known = refused.get(target.routeId);
    return known !== undefined && known === identityOf(target);
  };
  const heard = ({ routeId, identity, isDown: isNews }: DownRoute) => {
    if (isNews) refused.set(routeId, identity);
    else if (refused.get(routeId) === identity) refused.delete(routeId);
  };
  const found = (target: Target, isNews: boolean) => {
    const news = { routeId: target.routeId, identity: identityOf(target), isDown: isNews };
    heard(news);
    tell(news);
  };
  return {
    isDown,
    refused: (target) => {
      if (!isDown(target)) found(target, true);
    },
    accepted: (target) => found(target, false),
    heard,
    forget: (routeId) => void refused.delete(routeId),
  };
}
