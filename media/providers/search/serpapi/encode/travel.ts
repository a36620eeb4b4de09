// Parameters of the engines of flights and hotels, which have numbers for most of our words.
import type { FlightParameters, HotelParameters } from '../../../../search/contract.ts';
import { type EngineEncoder, type EngineParameters, queryOf, regionOf } from './parameters.ts';

const tripTypes = { round: 1, one_way: 2 } as const;
const travelClasses = { economy: 1, premium_economy: 2, business: 3, first: 4 } as const;
/** Its number is one more than the stops; beyond two it knows only any. */
const stopsNamedMax = 2;

export const flightsParameters: EngineEncoder = ({ parameters }) => ({
  ...(parameters.flights === null ? {} : flightOf(parameters.flights)),
  ...regionOf(parameters),
});

function flightOf(flight: FlightParameters): EngineParameters {
  const { stopsMax, travelClass } = flight;
  return {
    departure_id: flight.departureId,
    arrival_id: flight.arrivalId,
    type: tripTypes[flight.trip],
    outbound_date: flight.outboundDate,
    return_date: flight.trip === 'round' ? flight.returnDate : null,
    adults: flight.adults,
    children: flight.children === 0 ? null : flight.children,
    travel_class: travelClass === null ? null : travelClasses[travelClass],
    stops: stopsMax === null || stopsMax > stopsNamedMax ? null : stopsMax + 1,
    max_price: flight.maxPrice,
    currency: flight.currency,
  };
}

/** Relevance is what it sorts by unless it is told. */
const sortings = { relevance: null, price: 3, rating: 8, reviews: 13 } as const;

export const hotelsParameters: EngineEncoder = ({ query, parameters }) => ({
  q: queryOf(query),
  ...(parameters.hotels === null ? {} : stayOf(parameters.hotels)),
  ...regionOf(parameters),
});

/** It refuses children without ages; those that nobody told are neither infants nor adults. */
const childAge = 10;

function stayOf(stay: HotelParameters): EngineParameters {
  const told = stay.childrenAges;
  const ages = told.length > 0 ? told : Array.from({ length: stay.children }, () => childAge);
  return {
    check_in_date: stay.checkInDate,
    check_out_date: stay.checkOutDate,
    adults: stay.adults,
    children: ages.length === 0 ? null : ages.length,
    children_ages: ages.length === 0 ? null : ages.join(','),
    min_price: stay.minPrice,
    max_price: stay.maxPrice,
    sort_by: stay.sortBy === null ? null : sortings[stay.sortBy],
    currency: stay.currency,
  };
}
