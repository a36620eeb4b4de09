// The fifteen surfaces of unified query: what each one's items are, how long an answer is good, and
// how long a provider may take.

/** Each kind is a schema of items of its own. */
export type SurfaceKind =
  | 'web'
  | 'answer'
  | 'images'
  | 'news'
  | 'videos'
  | 'places'
  | 'routes'
  | 'products'
  | 'papers'
  | 'suggestions'
  | 'flights'
  | 'hotels';

/** Which parameters are known beside those of all surfaces. */
export type ParameterGroup = 'pages' | 'map' | 'flights' | 'hotels' | 'routes';

interface SurfaceFacts {
  kind: SurfaceKind;
  /** How old a kept answer may be unless the record says otherwise. */
  ageSeconds: number;
  groups: readonly ParameterGroup[];
}

export const surfaceFacts = {
  web_search: { kind: 'web', ageSeconds: 300, groups: ['pages'] },
  ai_search: { kind: 'web', ageSeconds: 300, groups: ['pages'] },
  web_answer: { kind: 'answer', ageSeconds: 0, groups: ['pages'] },
  engine_search: { kind: 'web', ageSeconds: 300, groups: ['pages'] },
  engine_images: { kind: 'images', ageSeconds: 900, groups: ['pages'] },
  engine_news: { kind: 'news', ageSeconds: 60, groups: ['pages'] },
  engine_maps: { kind: 'places', ageSeconds: 3_600, groups: ['map'] },
  engine_places: { kind: 'places', ageSeconds: 3_600, groups: ['map'] },
  engine_routes: { kind: 'routes', ageSeconds: 300, groups: ['routes'] },
  engine_shopping: { kind: 'products', ageSeconds: 300, groups: [] },
  engine_scholar: { kind: 'papers', ageSeconds: 86_400, groups: [] },
  engine_videos: { kind: 'videos', ageSeconds: 900, groups: ['pages'] },
  engine_autocomplete: { kind: 'suggestions', ageSeconds: 600, groups: [] },
  engine_flights: { kind: 'flights', ageSeconds: 0, groups: ['flights'] },
  engine_hotels: { kind: 'hotels', ageSeconds: 0, groups: ['hotels'] },
} as const satisfies Record<string, SurfaceFacts>;

export type SurfaceName = keyof typeof surfaceFacts;
/** A cited answer is made of another surface's items: no provider serves it. */
export type ServedSurface = Exclude<SurfaceName, 'web_answer'>;

export const surfaceNames = Object.keys(surfaceFacts) as readonly SurfaceName[];

export function isSurfaceName(name: string): name is SurfaceName {
  return Object.hasOwn(surfaceFacts, name);
}

export function factsOf(name: SurfaceName): SurfaceFacts {
  return surfaceFacts[name];
}
