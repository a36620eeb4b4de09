// The schemas of what is answered: `normalized` of each of the twelve kinds, with its items. They
// check a reply before it leaves, and they are what is documented.
import * as v from 'valibot';
import { maxCharacters } from '../../runtime/http/text.ts';
import { shownText, webAddress, whole } from './fields.ts';
import { itemsMax } from './item.ts';
import { relatedCharactersMax, relatedMax } from './items.ts';
import { answerItem } from './kinds/answer.ts';
import { flightsItem } from './kinds/flights.ts';
import { hotelsItem } from './kinds/hotels.ts';
import { imagesItem } from './kinds/images.ts';
import { newsItem } from './kinds/news.ts';
import { papersItem } from './kinds/papers.ts';
import { placesItem } from './kinds/places.ts';
import { productsItem } from './kinds/products.ts';
import { routesItem } from './kinds/routes.ts';
import { suggestionsItem } from './kinds/suggestions.ts';
import { videosItem } from './kinds/videos.ts';
import { webItem } from './kinds/web.ts';
import { ignoredCharactersMax, parametersMax } from './parameters/names.ts';
import type { SurfaceKind } from './surfaces.ts';

const parameterScalar = v.pipe(
  v.union([v.string(), v.number(), v.boolean()]),
  v.title('ParameterScalar'),
);
const parameterValue = v.union([parameterScalar, v.array(parameterScalar)]);

const engine = v.pipe(
  v.strictObject({
    name: v.pipe(
      v.string(),
      v.regex(/^r[1-9]\d?$/, 'expected the name of a try'),
      v.description('`r1`, `r2`, … in the order in which they were tried.'),
    ),
    state: v.picklist(['found', 'empty', 'partial', 'failed', 'busy', 'skipped']),
    ms: whole(0, 1e9),
  }),
  v.title('EngineTry'),
);

const citation = v.pipe(
  v.strictObject({
    start: whole(0, 1e9),
    end: whole(0, 1e9),
    position: v.pipe(whole(1, itemsMax), v.description('The item that is cited.')),
    url: webAddress,
    title: v.string(),
    quote: v.pipe(v.string(), v.description('The sentence of the item that supports it.')),
  }),
  v.title('Citation'),
);

const groundedAnswer = v.pipe(
  v.strictObject({
    text: v.string(),
    citations: v.array(citation),
    grounded: v.boolean(),
    model: v.string(),
    removed: v.pipe(whole(0, 1e9), v.description('Marks and addresses that were taken out.')),
  }),
  v.title('GroundedAnswer'),
  v.description('Offsets count code points of `text`. Null: no answer was to be had.'),
);

const shared = {
  related: v.pipe(
    v.array(shownText(relatedCharactersMax)),
    v.maxLength(relatedMax),
    v.description('Other questions.'),
  ),
  empty: v.pipe(v.boolean(), v.description('Nothing was found, twice. It is free.')),
  partial: v.pipe(v.boolean(), v.description('Some sources did not answer.')),
  truncated: v.pipe(v.boolean(), v.description('Lists of `data` lost their tail.')),
  engines: v.pipe(v.array(engine), v.description('Who was tried, in that order.')),
  cache: v.pipe(
    v.strictObject({
      hit: v.boolean(),
      age_seconds: whole(0, 1e9),
      max_age_seconds: whole(0, 1e9),
    }),
    v.title('CacheUse'),
  ),
  ignored: v.pipe(
    v.array(v.pipe(v.string(), maxCharacters(ignoredCharactersMax))),
    v.maxLength(parametersMax),
    v.description('Names of parameters that were not taken.'),
  ),
  assumed: v.pipe(
    v.record(v.string(), parameterValue),
    v.description('Defaults that were filled in.'),
  ),
};

/** `name` is the schema's own, as `title` is each item's. */
function normalized<const K extends SurfaceKind, I extends v.GenericSchema>(
  kind: K,
  item: I,
  name: string,
) {
  return v.pipe(
    v.strictObject({
      kind: v.literal(kind),
      items: v.pipe(v.array(item), v.maxLength(itemsMax)),
      ...shared,
    }),
    v.title(name),
  );
}

/** Likewise, of what may be answered in words. */
function answered<const K extends SurfaceKind, I extends v.GenericSchema>(
  kind: K,
  item: I,
  name: string,
) {
  return v.pipe(
    v.strictObject({
      kind: v.literal(kind),
      items: v.pipe(v.array(item), v.maxLength(itemsMax)),
      answer: v.exactOptional(v.nullable(groundedAnswer)),
      ...shared,
    }),
    v.title(name),
  );
}

const normalizedSchemas = {
  web: answered('web', webItem, 'NormalizedWeb'),
  answer: answered('answer', answerItem, 'NormalizedAnswer'),
  images: normalized('images', imagesItem, 'NormalizedImages'),
  news: normalized('news', newsItem, 'NormalizedNews'),
  videos: normalized('videos', videosItem, 'NormalizedVideos'),
  places: normalized('places', placesItem, 'NormalizedPlaces'),
  routes: normalized('routes', routesItem, 'NormalizedRoutes'),
  products: normalized('products', productsItem, 'NormalizedProducts'),
  papers: normalized('papers', papersItem, 'NormalizedPapers'),
  suggestions: normalized('suggestions', suggestionsItem, 'NormalizedSuggestions'),
  flights: normalized('flights', flightsItem, 'NormalizedFlights'),
  hotels: normalized('hotels', hotelsItem, 'NormalizedHotels'),
} as const;

/** What `normalized` of a kind is checked by before a reply leaves. */
export function normalizedSchema<K extends SurfaceKind>(kind: K): (typeof normalizedSchemas)[K] {
  return normalizedSchemas[kind];
}

/** `normalized` of any kind, for the document. */
export const anyNormalized = v.pipe(
  v.variant('kind', [
    normalizedSchemas.web,
    normalizedSchemas.answer,
    normalizedSchemas.images,
    normalizedSchemas.news,
    normalizedSchemas.videos,
    normalizedSchemas.places,
    normalizedSchemas.routes,
    normalizedSchemas.products,
    normalizedSchemas.papers,
    normalizedSchemas.suggestions,
    normalizedSchemas.flights,
    normalizedSchemas.hotels,
  ]),
  v.title('Normalized'),
);
