// The simulator's search providers and the fifteen surfaces, which development mode declares.
import { simulatedSearchProviders } from '../../../media/providers/search/simulated.ts';
import { type ServedSurface, surfaceNames } from '../../../media/search/surfaces.ts';
import type { CatalogDocument, SurfaceRecord } from '../document.ts';

/** With one to spare the other takes over when it fails. */
const targetsEach = 2;
/** Credits a query. Journeys are asked of slower places, and an answer takes a model as well. */
const usualCredits = '1';
const dearerCredits = '2';
const dearer: ReadonlySet<string> = new Set([
  'engine_flights',
  'engine_hotels',
  'engine_routes',
  'web_answer',
]);

/** What the file declares by such a name goes first. `aliases` are the simulated models. */
export function addSearch(
  document: CatalogDocument,
  simulatorUrl: string,
  aliases: readonly string[],
): void {
  for (const { name, family, basePath } of simulatedSearchProviders) {
    const base_url = simulatorUrl + basePath;
    document.providers.push({ name, family, base_url, simulated: true, enabled: true });
  }
  const declared = new Set(document.surfaces.map(({ name }) => name));
  const models = document.models.filter(({ kind }) => kind === 'generation');
  const model = models.find(({ alias }) => aliases.includes(alias));
  for (const name of surfaceNames.filter((each) => !declared.has(each))) {
    const places = name === 'web_answer' ? answering(model?.alias) : searching(name);
    if (places === null) continue;
    document.surfaces.push({
      name,
      display_name: displayName(name),
      ...places,
      price: { credits_per_query: dearer.has(name) ? dearerCredits : usualCredits },
      enabled: true,
    });
  }
}

type Places = Pick<SurfaceRecord, 'targets' | 'answer_model'>;

/** Null: the file has taken the names of all simulated models. */
function answering(model: string | undefined): Places | null {
  return model === undefined ? null : { answer_model: model };
}

/** In the order of the simulator's list. */
function searching(surface: ServedSurface): Places | null {
  const serving = simulatedSearchProviders.filter(({ surfaces }) => surfaces.includes(surface));
  const chosen = serving.slice(0, targetsEach);
  return chosen.length === 0 ? null : { targets: chosen.map(({ name }) => ({ provider: name })) };
}

/** `engine_images` is `Engine images`, `ai_search` is `AI search`. */
function displayName(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.startsWith('ai ') ? `AI${words.slice(2)}` : words[0]?.toUpperCase() + words.slice(1);
}
