// The families of search providers, by the name that a provider's record has.
import type { ServedSurface } from '../../search/surfaces.ts';
import type { SearchEndpoint, SearchFamily } from './family.ts';
import { searxngFamily } from './searxng/family.ts';
import { serpapiFamily } from './serpapi/family.ts';
import { serperFamily } from './serper/family.ts';
import { tavilyFamily } from './tavily/family.ts';

const families: ReadonlyMap<string, SearchFamily> = new Map(
  [serperFamily, searxngFamily, tavilyFamily, serpapiFamily].map((family) => [family.name, family]),
);

/** They stand in the catalog beside the families of models. */
export const searchFamilyNames: readonly string[] = [...families.keys()];

export function searchFamily(name: string): SearchFamily | null {
  return families.get(name) ?? null;
}

/** Whether providers of the family can be asked for the surface, whatever is called so. */
export function servesSurface(family: string, surface: string): boolean {
  const endpoints = families.get(family)?.endpoints;
  return endpoints !== undefined && Object.hasOwn(endpoints, surface);
}

/** How the surface is asked for; null: the family does not serve it. */
export function endpointOf(family: SearchFamily, surface: ServedSurface): SearchEndpoint | null {
  return family.endpoints[surface] ?? null;
}

/** Whether the family's pages have scores and contents. */
export function isScoring(family: string): boolean {
  return families.get(family)?.isScoring ?? false;
}
