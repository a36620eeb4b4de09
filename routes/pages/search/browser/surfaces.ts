// The surfaces as tabs: what each is called here, what is asked for, and its own parameters with an
// example each.

export interface Field {
  name: string;
  label: string;
  type: 'text' | 'number' | 'date' | 'choice' | 'list';
  example?: string;
  choices?: readonly string[];
}

export interface Tab {
  name: string;
  label: string;
  /** What the query is. */
  asks: string;
  example: string;
  fields: readonly Field[];
}

const choice = (name: string, label: string, choices: readonly string[]): Field => ({
  name,
  label,
  type: 'choice',
  choices,
});
const number = (name: string, label: string, example: string): Field => ({
  name,
  label,
  type: 'number',
  example,
});
const text = (name: string, label: string, example: string): Field => ({
  name,
  label,
  type: 'text',
  example,
});
const date = (name: string, label: string): Field => ({ name, label, type: 'date' });
const list = (name: string, label: string, example: string): Field => ({
  name,
  label,
  type: 'list',
  example,
});

const timeRange = choice('time_range', 'Not older than', ['day', 'week', 'month', 'year']);
const pages = [
  timeRange,
  list('include_domains', 'Only these hosts', 'example.com, example.org'),
  list('exclude_domains', 'Not these hosts', 'example.net'),
];
const point = [text('ll', 'Around (latitude, longitude, zoom)', '47.37,8.54,14')];
const what = 'What to search for';

/** In the order of the tabs. */
export const tabs: readonly Tab[] = [
  { name: 'web_search', label: 'Web', asks: what, example: 'tollgate', fields: pages },
  { name: 'ai_search', label: 'Passages', asks: what, example: 'how locks work', fields: pages },
  {
    name: 'web_answer',
    label: 'Cited answer',
    asks: 'Your question',
    example: 'Why is the sky blue?',
    fields: pages,
  },
  { name: 'engine_search', label: 'Engine', asks: what, example: 'tollgate', fields: pages },
  { name: 'engine_images', label: 'Pictures', asks: what, example: 'matterhorn', fields: pages },
  { name: 'engine_news', label: 'News', asks: what, example: 'solar power', fields: pages },
  { name: 'engine_videos', label: 'Videos', asks: what, example: 'sourdough', fields: pages },
  { name: 'engine_scholar', label: 'Papers', asks: what, example: 'actor model', fields: [] },
  { name: 'engine_shopping', label: 'Products', asks: what, example: 'head lamp', fields: [] },
  {
    name: 'engine_autocomplete',
    label: 'Suggestions',
    asks: 'The beginning of a query',
    example: 'how to',
    fields: [],
  },
  { name: 'engine_maps', label: 'Map', asks: what, example: 'bakery in Zurich', fields: point },
  { name: 'engine_places', label: 'Places', asks: what, example: 'museum in Basel', fields: point },
  {
    name: 'engine_routes',
    label: 'Routes',
    asks: 'From where to where',
    example: 'Bern to Zurich',
    fields: [
      choice('mode', 'By', ['driving', 'transit', 'walking', 'cycling']),
      list('avoid', 'Avoid', 'highways, tolls, ferries'),
    ],
  },
  {
    name: 'engine_flights',
    label: 'Flights',
    asks: 'Two airports',
    example: 'ZRH to JFK',
    fields: [
      date('outbound_date', 'Out'),
      date('return_date', 'Back'),
      number('adults', 'Adults', '1'),
      choice('travel_class', 'Class', ['economy', 'premium_economy', 'business', 'first']),
      text('currency', 'Currency', 'USD'),
    ],
  },
  {
    name: 'engine_hotels',
    label: 'Hotels',
    asks: 'The place',
    example: 'Lugano',
    fields: [
      date('check_in_date', 'From'),
      date('check_out_date', 'To'),
      number('adults', 'Adults', '2'),
      number('max_price', 'At most, a night', '250'),
      text('currency', 'Currency', 'USD'),
    ],
  },
];

/** All surfaces have these. */
export const moreFields: readonly Field[] = [
  number('limit', 'How many', '10'),
  number('page', 'Page', '1'),
  text('gl', 'Country', 'ch'),
  text('hl', 'Language', 'de'),
  text('location', 'Location', 'Zurich, Switzerland'),
  choice('safe', 'Safe search', ['off', 'moderate', 'strict']),
  number('max_age_seconds', 'Kept answers up to (seconds)', '300'),
];
