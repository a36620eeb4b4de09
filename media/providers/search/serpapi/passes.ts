// Parameters that nobody here knows and that SerpApi does, each with what it is good for. Each has
// its surfaces, as others would take it for something else. None of them changes the price, and no
// token of a page is among them.
import type { ServedSurface } from '../../../search/surfaces.ts';

interface Pass {
  reason: string;
  surfaces: ReadonlySet<ServedSurface>;
}

const pages: ServedSurface[] = ['web_search', 'engine_search', 'engine_images', 'engine_videos'];

function passesOf(
  surfaces: readonly ServedSurface[],
  reasons: Readonly<Record<string, string>>,
): [string, Pass][] {
  const known = new Set(surfaces);
  return Object.entries(reasons).map(([name, reason]) => [name, { reason, surfaces: known }]);
}

const entries: ReadonlyMap<string, Pass> = new Map([
  ...passesOf([...pages, 'engine_shopping'], {
    google_domain: 'the Google of a country ranks otherwise than that of the world',
    device: 'pages differ for telephones',
    tbs: 'sizes, exact dates and other filters that are finer than our times',
  }),
  ...passesOf([...pages, 'engine_scholar'], {
    lr: 'languages of what is found, which is not the language of the page',
  }),
  ...passesOf(pages, {
    cr: 'countries of what is found, which is not the country of the reader',
    nfpr: 'a query that is meant as it is written is not to be corrected',
    filter: 'similar results may be wanted',
  }),
  ...passesOf(['engine_images'], {
    imgsz: 'pictures have sizes',
    imgar: 'pictures have shapes',
    image_color: 'pictures have colors',
    image_type: 'photographs, drawings or faces',
    licenses: 'not every picture may be used',
  }),
  ...passesOf(['engine_scholar'], {
    as_ylo: 'papers have years, not times',
    as_yhi: 'papers have years, not times',
    as_sdt: 'patents and case law may be wanted',
    as_vis: 'mere citations may be unwanted',
    as_rr: 'reviews alone',
    scisbd: 'the newest first',
  }),
  ...passesOf(['engine_routes'], { prefer: 'bus, train or tram' }),
  ...passesOf(['engine_flights'], {
    include_airlines: 'these airlines alone',
    exclude_airlines: 'none of these airlines',
    include_connections: 'by way of these airports alone',
    exclude_connections: 'by way of none of these airports',
    infants_in_seat: 'infants travel too',
    infants_on_lap: 'infants travel too',
    bags: 'bags that the price is to have in it',
    emissions: 'flights of low emission alone',
    layover_duration: 'the shortest and longest time between flights',
    max_duration: 'the longest flight',
    outbound_times: 'hours of departure and arrival',
    return_times: 'hours of the flight back',
    exclude_basic: 'no basic economy',
    sort_by: 'by price, time or emission',
  }),
  ...passesOf(['engine_hotels'], {
    property_types: 'kinds of houses',
    amenities: 'what the house must have',
    brands: 'houses of these brands alone',
    rating: 'the lowest rating',
    hotel_class: 'stars',
    free_cancellation: 'plans change',
    special_offers: 'offers alone',
    eco_certified: 'certified houses alone',
    vacation_rentals: 'flats in place of hotels',
    bedrooms: 'flats have them in number',
    bathrooms: 'flats have them in number',
  }),
]);

export const passes: Readonly<Record<string, string>> = Object.fromEntries(
  [...entries].map(([name, { reason }]) => [name, reason]),
);

export function takes(surface: ServedSurface, name: string): boolean {
  return entries.get(name)?.surfaces.has(surface) ?? false;
}
