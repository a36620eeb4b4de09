// Flights, whose two lists are one, and hotels. Times are those of the airport.
import type { Reading, SearchAsk } from '../../../../search/contract.ts';
import { isMembers, type Members } from '../../../../transport/members.ts';
import { entriesOf } from '../../reading.ts';
import { pictureOf, within } from './members.ts';

export function readFlights(body: Members, { parameters }: SearchAsk): Reading[] {
  const currency = parameters.flights?.currency;
  return [...entriesOf(body.best_flights), ...entriesOf(body.other_flights)].map((offer) => {
    const flights: unknown[] = Array.isArray(offer.flights) ? offer.flights : [];
    return {
      // A journey without one of its parts would be another one: what is no part stays.
      segments: flights.map((flight) => (isMembers(flight) ? segmentOf(flight) : flight)),
      // Without one the price is not known yet.
      price: offer.price,
      currency,
      totalDurationMinutes: offer.total_duration ?? minutesOf(flights, offer.layovers),
      carbonGrams: within(offer.carbon_emissions, 'this_flight'),
      thumbnail: pictureOf(offer.airline_logo),
    };
  });
}

function segmentOf(flight: Members): object {
  return {
    from: within(flight.departure_airport, 'id'),
    to: within(flight.arrival_airport, 'id'),
    departsAt: within(flight.departure_airport, 'time'),
    arrivesAt: within(flight.arrival_airport, 'time'),
    airline: flight.airline,
    flightNumber: flight.flight_number,
    aircraft: flight.airplane,
    travelClass: flight.travel_class,
    durationMinutes: flight.duration,
  };
}

/** In the air and on the ground between; undefined where a part is not known. */
function minutesOf(flights: unknown[], layovers: unknown): number | undefined {
  let minutes = 0;
  for (const part of [...flights, ...entriesOf(layovers)]) {
    const duration = within(part, 'duration');
    if (typeof duration !== 'number') return undefined;
    minutes += duration;
  }
  return flights.length === 0 ? undefined : minutes;
}

export function readHotels(body: Members, { parameters }: SearchAsk): Reading[] {
  const currency = parameters.hotels?.currency;
  return entriesOf(body.properties).map((property) => ({
    title: property.name,
    url: property.link,
    snippet: property.description,
    thumbnail: pictureOf(entriesOf(property.images)[0]) ?? pictureOf(property.thumbnail),
    pricePerNight: lowestOf(property.rate_per_night),
    totalPrice: lowestOf(property.total_rate),
    currency,
    rating: property.overall_rating,
    ratingCount: property.reviews,
    hotelClass: property.extracted_hotel_class ?? property.hotel_class,
    latitude: within(property.gps_coordinates, 'latitude'),
    longitude: within(property.gps_coordinates, 'longitude'),
    amenities: property.amenities,
  }));
}

/** The number before the text: `currency` is what was asked for. */
function lowestOf(rate: unknown): unknown {
  return within(rate, 'extracted_lowest') ?? within(rate, 'lowest');
}
