// Flights: their segments in the order in which they are flown, and what all of it costs.
import * as v from 'valibot';
import type { Reading } from '../contract.ts';
import { localTime, price, shownText, whole } from '../fields.ts';
import {
  itemEntries,
  known,
  listOf,
  type ReadItem,
  type ReadingContext,
  readBase,
  titleMax,
} from '../item.ts';
import { localTimeOf } from '../values/date.ts';
import { wholeOf } from '../values/number.ts';
import { priceOf } from '../values/price.ts';
import { cutCharacters, textOf } from '../values/text.ts';

const segmentsMax = 12;
const wordsMax = 100;
/** A week: no journey by air is longer. */
const minutesMax = 10_080;
const gramsMax = 1e9;
const classes = ['economy', 'premium_economy', 'business', 'first'] as const;
type TravelClass = (typeof classes)[number];

const airport = v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, 'expected an IATA code'));
const minutes = whole(0, minutesMax);

export const flightsItem = v.pipe(
  v.strictObject({
    ...itemEntries,
    segments: v.pipe(
      v.array(
        v.strictObject({
          from: airport,
          to: airport,
          departs_at: v.exactOptional(v.pipe(localTime, v.description('At the airport.'))),
          arrives_at: v.exactOptional(v.pipe(localTime, v.description('At the airport.'))),
          airline: v.exactOptional(shownText(wordsMax)),
          flight_number: v.exactOptional(shownText(20)),
          aircraft: v.exactOptional(shownText(wordsMax)),
          travel_class: v.exactOptional(v.picklist(classes)),
          duration_minutes: v.exactOptional(minutes),
        }),
      ),
      v.minLength(1),
      v.maxLength(segmentsMax),
    ),
    price: v.exactOptional(price),
    total_duration_minutes: v.exactOptional(minutes),
    stops: v.exactOptional(whole(0, segmentsMax)),
    carbon_grams: v.exactOptional(whole(0, gramsMax)),
  }),
  v.title('FlightsItem'),
);

interface Segment {
  from: string;
  to: string;
  departs_at?: string;
  arrives_at?: string;
  airline?: string;
  flight_number?: string;
  aircraft?: string;
  travel_class?: TravelClass;
  duration_minutes?: number;
}

export function readFlight(reading: Reading, context: ReadingContext): ReadItem | null {
  const segments = segmentsOf(reading.segments);
  if (segments === null) return null;
  const { title, ...base } = readBase(reading, context);
  const own = known({
    price: priceOf(reading.price, reading.currency, context.ask.parameters.flights?.currency),
    total_duration_minutes: wholeOf(reading.totalDurationMinutes, 0, minutesMax),
    carbon_grams: wholeOf(reading.carbonGrams, 0, gramsMax),
  });
  const stops = segments.length - 1;
  const item = { title: title ?? nameOf(segments), ...base, segments, ...own, stops };
  return { item, same: JSON.stringify([segments, own.price]) };
}

/** One that cannot be read would make another journey of it: then there is none. */
function segmentsOf(value: unknown): Segment[] | null {
  const list = listOf(value);
  if (list.length === 0 || list.length > segmentsMax) return null;
  const segments: Segment[] = [];
  for (const each of list) {
    const segment = segmentOf(each);
    if (segment === null) return null;
    segments.push(segment);
  }
  return segments;
}

function segmentOf(value: unknown): Segment | null {
  if (typeof value !== 'object' || value === null) return null;
  const given: Record<string, unknown> = { ...value };
  const [from, to] = [airportOf(given.from), airportOf(given.to)];
  if (from === null || to === null) return null;
  const own = known({
    departs_at: localTimeOf(given.departsAt),
    arrives_at: localTimeOf(given.arrivesAt),
    airline: textOf(given.airline, wordsMax),
    flight_number: textOf(given.flightNumber, 20),
    aircraft: textOf(given.aircraft, wordsMax),
    travel_class: classOf(given.travelClass),
    duration_minutes: wholeOf(given.durationMinutes, 0, minutesMax),
  });
  return { from, to, ...own };
}

function airportOf(value: unknown): string | null {
  const code = typeof value === 'string' ? value.trim().toUpperCase() : '';
  return /^[A-Z]{3}$/.test(code) ? code : null;
}

function classOf(value: unknown): TravelClass | undefined {
  if (typeof value !== 'string') return undefined;
  const word = value
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
    .replace(/_class$/, '');
  return classes.find((each) => each === word);
}

function nameOf(segments: readonly Segment[]): string {
  const stops = [segments[0]?.from ?? '', ...segments.map(({ to }) => to)].join(' – ');
  const airlines = new Set(segments.flatMap(({ airline }) => airline ?? []));
  return cutCharacters([stops, ...airlines].join(', '), titleMax);
}
