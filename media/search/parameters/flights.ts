// Parameters of flights. Both airports may stand in the query.
import type { FlightParameters } from '../contract.ts';
import { dayAhead, defaultAheadDays, isoDay, takeDay } from './days.ts';
import { takeCurrency, takeList, takeWhole, takeWord } from './forms.ts';
import { assume, type Parameters, refuse, refuseAt } from './given.ts';

const priceMax = 1_000_000;
const adultsMax = 9;
const childrenMax = 8;
const stopsMax = 2;
/** Airports of one city that are meant together. */
const airportsMax = 5;
const trips = ['round', 'round_trip', 'one_way', 'oneway'] as const;
const classes = ['economy', 'premium_economy', 'business', 'first'] as const;
const pair = /^([a-z]{3})(?: to | ?(?:-|–|->|→) ?| )([a-z]{3})$/i;

/** Null: there is a fault. */
export function readFlights(parameters: Parameters, query: string): FlightParameters | null {
  const airports = readAirports(parameters, query);
  const outbound = takeDay(parameters, 'outbound_date') ?? defaultDay(parameters, 'outbound_date');
  const back = takeDay(parameters, 'return_date');
  const trip = readTrip(parameters, back !== null);
  if (trip === 'round' && back === null)
    refuse(parameters, 'return_date', 'a date: it is a round trip');
  if (back !== null && back < outbound)
    refuse(parameters, 'return_date', 'no date before outbound_date');
  if (trip === 'one_way' && back !== null) parameters.ignored.add('return_date');
  const rest = readTravellers(parameters);
  if (airports === null || parameters.fault !== null) return null;
  return {
    ...airports,
    outboundDate: isoDay(outbound),
    returnDate: trip === 'one_way' || back === null ? null : isoDay(back),
    trip,
    ...rest,
  };
}

function readTravellers(parameters: Parameters) {
  return {
    adults: takeWhole(parameters, 'adults', 1, adultsMax) ?? assume(parameters, 'adults', 1),
    children:
      takeWhole(parameters, 'children', 0, childrenMax) ?? assume(parameters, 'children', 0),
    travelClass: takeWord(parameters, 'travel_class', classes),
    stopsMax: takeWhole(parameters, 'stops', 0, stopsMax),
    maxPrice: takeWhole(parameters, 'max_price', 1, priceMax),
    currency: takeCurrency(parameters) ?? assume(parameters, 'currency', 'USD'),
  };
}

export function defaultDay(parameters: Parameters, name: string): number {
  const atMs = dayAhead(parameters, defaultAheadDays);
  assume(parameters, name, isoDay(atMs));
  return atMs;
}

function readTrip(parameters: Parameters, hasReturn: boolean): 'round' | 'one_way' {
  const trip = takeWord(parameters, 'trip', trips);
  if (trip === null) return assume(parameters, 'trip', hasReturn ? 'round' : 'one_way');
  return trip === 'round' || trip === 'round_trip' ? 'round' : 'one_way';
}

function readAirports(
  parameters: Parameters,
  query: string,
): { departureId: string; arrivalId: string } | null {
  const departure = takeAirports(parameters, 'departure_id');
  const arrival = takeAirports(parameters, 'arrival_id');
  const [, from, to] = pair.exec(query.replace(/\s+/g, ' ')) ?? [];
  const hasNone = !parameters.given.has('departure_id') && !parameters.given.has('arrival_id');
  if (hasNone && from === undefined) {
    const message =
      "Two airports cannot be read from 'query': expected two IATA codes, as in ZRH JFK.";
    return refuseAt(parameters, 'query', message);
  }
  const departureId = departure ?? from?.toUpperCase();
  const arrivalId = arrival ?? to?.toUpperCase();
  const form = 'an IATA code, as in ZRH';
  if (departureId === undefined) return refuse(parameters, 'departure_id', form);
  if (arrivalId === undefined) return refuse(parameters, 'arrival_id', form);
  if (departureId !== arrivalId) return { departureId, arrivalId };
  if (hasNone) return refuseAt(parameters, 'query', "Both airports of 'query' are the same.");
  return refuse(parameters, 'arrival_id', 'another airport than departure_id');
}

/** One code, or some of them with commas. */
function takeAirports(parameters: Parameters, name: string): string | null {
  const list = takeList(parameters, name);
  if (list === null) return null;
  const codes = list.map((each) => String(each).toUpperCase());
  const isGood = codes.length > 0 && codes.length <= airportsMax;
  if (isGood && codes.every((code) => /^[A-Z]{3}$/.test(code))) return codes.join(',');
  return refuse(parameters, name, 'an IATA code, as in ZRH');
}
