// Flights: local times on the day that was asked for, some with a stop, some without a price.
import type { Members } from '../members.ts';
import { productOf } from '../search/facts.ts';
import type { Found } from '../search/found.ts';
import type { Lists } from './list.ts';
import type { Parameters } from './request.ts';

const bestCount = 2;

export const flightLists: Readonly<Record<'google_flights', Lists>> = {
  google_flights: {
    state: 'flights',
    render(found, { parameters, isPartial }) {
      const journeys = found.map((result) => journey(result, parameters));
      const prices = found.map(priceOf);
      const lowest = Math.min(...prices);
      const best = isPartial ? [] : journeys.slice(0, bestCount);
      return {
        ...(best.length === 0 ? {} : { best_flights: best }),
        other_flights: journeys.slice(best.length),
        ...(isPartial
          ? {}
          : {
              price_insights: {
                lowest_price: lowest,
                price_level: 'typical',
                typical_price_range: [lowest, lowest + 200],
                price_history: [[1_768_435_200, lowest]],
              },
              airports: [],
            }),
      };
    },
  },
};

const classes = ['Economy', 'Premium economy', 'Business', 'First'];
const layoverMinutes = 75;

function priceOf(result: Found): number {
  return 90 + Math.round(productOf(result).dollars);
}

function journey(result: Found, parameters: Parameters): Members {
  const { hash, isBad } = result;
  const [from = '', to = ''] = [parameters.departure_id, parameters.arrival_id];
  const hasStop = hash % 3 === 0 && parameters.stops !== '1';
  const minutes = 60 + (hash % 240);
  const leg = (start: string, end: string, afterMinutes: number) =>
    flight(result, parameters, { start, end, afterMinutes, minutes });
  const flights = hasStop
    ? [leg(from, 'XSM', 0), leg('XSM', to, minutes + layoverMinutes)]
    : [leg(from, to, 0)];
  const carbon = 50_000 + (hash % 400_000);
  return {
    ...(isBad ? {} : { flights }),
    ...(hasStop
      ? { layovers: [{ duration: layoverMinutes, name: 'Middle Airport', id: 'XSM' }] }
      : {}),
    total_duration: hasStop ? minutes * 2 + layoverMinutes : minutes,
    carbon_emissions: {
      this_flight: carbon,
      typical_for_this_route: carbon + 5_000,
      difference_percent: -5,
    },
    ...(hash % 11 === 0 ? {} : { price: priceOf(result) }),
    type: parameters.type === '2' ? 'One way' : 'Round trip',
    airline_logo: 'https://www.gstatic.example.com/airline.png',
    departure_token: `token-${hash.toString(36)}`,
  };
}

interface Leg {
  start: string;
  end: string;
  /** It starts so long after the journey. */
  afterMinutes: number;
  minutes: number;
}

function flight(
  { hash }: Found,
  parameters: Parameters,
  { start, end, afterMinutes, minutes }: Leg,
): Members {
  const startMs = Date.parse(`${parameters.outbound_date}T0${hash % 10}:${10 + (hash % 50)}:00Z`);
  const at = (sinceMinutes: number) =>
    new Date(startMs + sinceMinutes * 60_000).toISOString().slice(0, 16).replace('T', ' ');
  return {
    departure_airport: { name: `${start} Airport`, id: start, time: at(afterMinutes) },
    arrival_airport: { name: `${end} Airport`, id: end, time: at(afterMinutes + minutes) },
    duration: minutes,
    airplane: 'Simulated 320',
    airline: 'Simulated Air',
    airline_logo: 'https://www.gstatic.example.com/airline.png',
    travel_class: classes[Number(parameters.travel_class ?? 1) - 1] ?? 'Economy',
    flight_number: `SM ${100 + (hash % 900)}`,
    legroom: '79 cm',
    extensions: ['Average legroom (79 cm)'],
    ...(minutes > 280 ? { overnight: true } : {}),
  };
}
