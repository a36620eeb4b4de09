// Every engine: the parameters that it cannot do without, the text that is searched for, and how
// many results come at once.

export interface Engine {
  /** Each entry: one of these names is there. */
  required: readonly (readonly string[])[];
  /** Where the topic stands; joined, so that another journey finds other results. */
  topic: readonly string[];
  results: number;
  resultsMax: number;
  /** What comes before the first result. */
  skippedBy(parameters: Readonly<Record<string, string>>): number;
}

const none = () => 0;

function startOf({ start }: Readonly<Record<string, string>>): number {
  return Number(start ?? 0) || 0;
}

const pages: Engine = {
  required: [['q']],
  topic: ['q'],
  results: 10,
  resultsMax: 100,
  skippedBy: startOf,
};
/** It has a number of results of its own. */
const fixed = (results: number): Engine => ({ ...pages, results, resultsMax: results });

export const engines = {
  google: pages,
  google_images: {
    ...fixed(100),
    skippedBy: ({ ijn }: Readonly<Record<string, string>>) => (Number(ijn ?? 0) || 0) * 100,
  },
  google_news: { ...fixed(20), skippedBy: none },
  google_local: fixed(20),
  google_maps: { ...fixed(20), required: [['q'], ['type']] },
  google_shopping: { ...pages, results: 60 },
  google_scholar: { ...pages, resultsMax: 20 },
  google_videos: pages,
  youtube: {
    ...fixed(20),
    required: [['search_query']],
    topic: ['search_query'],
    skippedBy: none,
  },
  google_autocomplete: { ...fixed(10), skippedBy: none },
  google_maps_directions: {
    ...fixed(3),
    required: [
      ['start_addr', 'start_coords', 'start_data_id'],
      ['end_addr', 'end_coords', 'end_data_id'],
    ],
    topic: ['start_addr', 'start_coords', 'end_addr', 'end_coords', 'travel_mode'],
    skippedBy: none,
  },
  google_flights: {
    ...fixed(10),
    required: [['departure_id'], ['arrival_id'], ['outbound_date']],
    topic: ['departure_id', 'arrival_id', 'outbound_date'],
    skippedBy: none,
  },
  google_hotels: {
    ...fixed(18),
    required: [['q'], ['check_in_date'], ['check_out_date']],
    topic: ['q'],
    skippedBy: none,
  },
} as const satisfies Record<string, Engine>;

export type EngineName = keyof typeof engines;

export function isEngineName(name: string): name is EngineName {
  return Object.hasOwn(engines, name);
}
