// What is wrong with a surface beyond its schema, such as providers that do not serve it. A record
// with a provider alone and no price is an older one: what was good before is not refused.
import { servesSurface } from '../../../media/providers/search/families.ts';
import { isSurfaceName, type SurfaceName, surfaceFacts } from '../../../media/search/surfaces.ts';
import type { SurfaceRecord } from '../document.ts';
import type { PathFault } from '../path-fault.ts';
import { writesAnswers } from './build.ts';

/** What one account finds there is near to where its people are. */
const unsharedSurfaces: ReadonlySet<string> = new Set([
  'engine_maps',
  'engine_places',
  'engine_routes',
] satisfies SurfaceName[]);

export interface SurfaceContext {
  /** The families of search providers by the provider's name. */
  searching: ReadonlyMap<string, string>;
  /** Aliases that a text can be asked of. */
  writing: ReadonlySet<string>;
}

export function surfaceFaults(record: SurfaceRecord, context: SurfaceContext): PathFault[] {
  return [
    ...placeFaults(record, context),
    ...priceFaults(record),
    ...answerFaults(record, context),
    ...canaryFaults(record),
    ...(record.cache?.scope === 'shared' && unsharedSurfaces.has(record.name)
      ? [{ path: 'cache.scope', message: `answers of ${record.name} are of one account alone` }]
      : []),
  ];
}

function placeFaults(record: SurfaceRecord, { searching }: SurfaceContext): PathFault[] {
  const { name, provider, targets, price } = record;
  const faults: PathFault[] = [];
  const check = (place: string, path: string, isChecked: boolean) => {
    const message = placeFault(name, place, searching, isChecked);
    if (message !== null) faults.push({ path, message });
  };
  if (provider !== undefined) check(provider, 'provider', price !== undefined);
  if (provider !== undefined && targets !== undefined) {
    faults.push({ path: 'targets', message: 'it names `provider`, too: one of the two is enough' });
  }
  const seen = new Set<string>();
  targets?.forEach(({ provider: place }, index) => {
    const path = `targets[${index}].provider`;
    check(place, path, true);
    if (seen.has(place)) faults.push({ path, message: `"${place}" is declared twice` });
    seen.add(place);
  });
  return faults;
}

/** Null: there is such a provider, and it serves the surface where that has to be. */
function placeFault(
  surface: string,
  provider: string,
  searching: ReadonlyMap<string, string>,
  isChecked: boolean,
): string | null {
  const family = searching.get(provider);
  if (family === undefined) return `there is no search provider "${provider}"`;
  if (!isChecked || !isSurfaceName(surface)) return null;
  if (surface === 'web_answer') return 'no provider serves it: it answers from `search_surface`';
  if (servesSurface(family, surface)) return null;
  return `"${provider}" is of the family ${family}, which does not serve ${surface}`;
}

function priceFaults({ targets, price = {}, answer_model: model, name }: SurfaceRecord) {
  const isPriced = price.credits_per_query !== undefined || price.per_search_call !== undefined;
  const isOffered = targets !== undefined || (name === 'web_answer' && model !== undefined);
  if (isPriced || !isOffered) return [];
  return [{ path: 'price', message: 'it has neither `credits_per_query` nor `per_search_call`' }];
}

function answerFaults(record: SurfaceRecord, { writing }: SurfaceContext): PathFault[] {
  const { name, price, answer_model: model, search_surface: looked } = record;
  const faults: PathFault[] = [];
  if (model !== undefined && !writesAnswers(name)) {
    faults.push({ path: 'answer_model', message: 'web_answer and ai_search alone have answers' });
  } else if (model !== undefined && !writing.has(model)) {
    faults.push({ path: 'answer_model', message: `there is no generation model "${model}"` });
  }
  if (name === 'web_answer' && model === undefined && price !== undefined) {
    faults.push({ path: 'answer_model', message: 'no model writes its answers' });
  }
  if (looked === undefined) return faults;
  if (name !== 'web_answer') {
    faults.push({ path: 'search_surface', message: 'web_answer alone answers from another one' });
  } else if (!isSurfaceName(looked) || surfaceFacts[looked].kind !== 'web') {
    faults.push({ path: 'search_surface', message: `"${looked}" is no surface of pages` });
  }
  return faults;
}

function canaryFaults({ name, canary }: SurfaceRecord): PathFault[] {
  if (canary === undefined) return [];
  if (!isSurfaceName(name)) {
    return [{ path: 'canary', message: 'it is displayed alone: nobody can be asked' }];
  }
  if (surfaceFacts[name].kind === 'suggestions') {
    return [{ path: 'canary', message: `results of ${name} have no host` }];
  }
  if (canary.query.trim() !== '') return [];
  return [{ path: 'canary.query', message: 'it asks for nothing' }];
}
