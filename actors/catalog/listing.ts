// What can be called, as lines for the operator who has just started the server: the aliases of
// each provider, and the managed routes.
import type { CatalogSnapshot } from './snapshot.ts';

/** A local runner may have a hundred models; a screen shows the first of them. */
const aliasesMax = 12;
const linesMax = 20;

/** One line a provider; simulated ones share one behind the others. Long lists are cut. */
export function callableLines({ models, routes }: CatalogSnapshot): string[] {
  const groups = new Map<string, string[]>();
  const add = (group: string, alias: string) => {
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [alias]);
    else known.push(alias);
  };
  const real = models.filter((model) => !model.simulated);
  for (const { alias, simulated, targets } of [
    ...real,
    ...models.filter((model) => model.simulated),
  ]) {
    const providers = targets.map(({ routeId }) => routeId.slice(0, routeId.indexOf('/')));
    const owners = simulated && targets.length > 0 ? ['the simulator'] : new Set(providers);
    for (const owner of owners) add(`models of ${owner}`, alias);
  }
  for (const route of routes) if (route.public.available) add('managed routes', route.alias);
  const lines = [...groups].map(([group, aliases]) => `${group}: ${listed(aliases)}`);
  if (lines.length <= linesMax) return lines;
  return [...lines.slice(0, linesMax), `and ${lines.length - linesMax} more providers`];
}

function listed(aliases: readonly string[]): string {
  const more = aliases.length - aliasesMax;
  const shown = aliases.slice(0, aliasesMax).join(', ');
  return more > 0 ? `${shown} and ${more} more: GET /v1/models` : shown;
}
