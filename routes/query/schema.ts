// What a query may be and what it is answered, as the reference tells it. The members of a body
// are read by `media/search/parameters.ts`, which says of each what is wrong with it.
import * as v from 'valibot';
import { queryLimits } from '../../actors/query/limits.ts';
import { anyNormalized } from '../../media/search/schema.ts';
import { surfaceNames } from '../../media/search/surfaces.ts';

/** Taken as it is: a value of another form is left out and named, or refused by its reader. */
const told = (description: string) => v.optional(v.pipe(v.unknown(), v.description(description)));

const parameterEntries = {
  limit: told('1 to 50, default 10; also `num`, `max_results`. The list may be shorter.'),
  page: told('1 to 10, default 1.'),
  gl: told('The country, as two letters.'),
  hl: told('The language, as two letters.'),
  location: told('Where the search is made from, in words.'),
  safe: told('`off`, `moderate` (default) or `strict`.'),
  time_range: told('Lists of pages: `day`, `week`, `month` or `year`.'),
  include_domains: told('Lists of pages: at most 20 hosts, no others are answered.'),
  exclude_domains: told('Lists of pages: at most 20 hosts that are left out.'),
  ll: told('Maps and places: `lat,lng` or `lat,lng,zoom`.'),
  departure_id: told('Flights: an IATA code; also from a query such as `ZRH JFK`.'),
  arrival_id: told('Flights: an IATA code.'),
  outbound_date: told('Flights: an ISO date, default in 14 days.'),
  return_date: told('Flights: an ISO date.'),
  trip: told('Flights: `round` or `one_way`.'),
  adults: told('Flights and hotels: how many.'),
  children: told('Flights and hotels: how many.'),
  children_ages: told('Hotels: the age of each child.'),
  travel_class: told('Flights: `economy`, `premium_economy`, `business` or `first`.'),
  stops: told('Flights: at most so many.'),
  max_price: told('Flights and hotels: in the currency.'),
  min_price: told('Hotels: in the currency.'),
  currency: told('Flights and hotels: default USD.'),
  check_in_date: told('Hotels: an ISO date, default in 14 days.'),
  check_out_date: told('Hotels: an ISO date, default the day after; 1 to 30 nights.'),
  sort_by: told('Hotels: `relevance`, `price`, `rating` or `reviews`.'),
  origin: told('Routes: where it begins; also from a query such as `Zurich to Bern`.'),
  destination: told('Routes: where it ends.'),
  mode: told('Routes: `driving` (default), `transit`, `walking` or `cycling`.'),
  depart_at: told('Routes: when it begins.'),
  arrive_by: told('Routes: when it ends.'),
  avoid: told('Routes: a list of `highways`, `tolls`, `ferries`.'),
};

const paramsSchema = v.pipe(
  v.looseObject(parameterEntries),
  v.title('QueryParameters'),
  v.description(
    'At most 32, 8 KiB in all: names of letters, digits and `_`, values a string of 500 ' +
      'characters, a number, a boolean, or a list of 20 of them. What is not taken is named in ' +
      '`normalized.ignored`.',
  ),
);

/** An open object: anything else in it is a parameter. */
export const querySchema = v.pipe(
  v.looseObject({
    surface: v.pipe(v.picklist(surfaceNames), v.description('What is searched.')),
    query: v.pipe(
      v.string(),
      v.description('1 to 2,000 characters once it is trimmed; autocomplete takes 200.'),
    ),
    params: v.optional(paramsSchema),
    request_id: v.optional(
      v.pipe(v.string(), v.description('The idempotency key, as the header `idempotency-key`.')),
    ),
    max_age_seconds: v.optional(
      v.pipe(
        v.number(),
        v.integer(),
        v.minValue(0),
        v.maxValue(queryLimits.maxAgeSecondsMax),
        v.description("The oldest kept answer that is taken: the surface's age; 0 asks anew."),
      ),
    ),
  }),
  v.title('Query'),
  v.description('Members beside these are parameters, before those of `params`.'),
);

const amount = (description: string) =>
  v.pipe(v.number(), v.integer(), v.minValue(0), v.description(description));

export const queryReplySchema = v.pipe(
  v.strictObject({
    ok: v.literal(true),
    surface: v.picklist(surfaceNames),
    credits_charged: amount('`charge_microcredits` / 10^6, rounded up.'),
    charge_microcredits: amount('What was charged. An empty answer and a kept one cost nothing.'),
    remaining_credits: amount('`remaining_microcredits` / 10^6, rounded down.'),
    remaining_microcredits: amount('What the paying wallet had available afterwards.'),
    request_id: v.pipe(v.string(), v.regex(/^req_[a-f0-9]{24}$/)),
    replayed: v.pipe(
      v.boolean(),
      v.description('Told again under an idempotency key: it was charged before, once.'),
    ),
    simulated: v.boolean(),
    data: v.pipe(
      v.looseObject({}),
      v.description("Members of the provider's own answer, at most 512 KiB; no fixed shape."),
    ),
    normalized: anyNormalized,
  }),
  v.title('QueryReply'),
);
