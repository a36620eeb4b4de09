// Places of maps and of local results. A list is what several places are; in a page of Google it
// is an object with one, and a single exact place stands alone.
import type { Reading } from '../../../../search/contract.ts';
import { isMembers, type Members } from '../../../../transport/members.ts';
import { entriesOf } from '../../reading.ts';
import { pictureOf, within } from './members.ts';

export function readPlaces({ local_results: local, place_results: place }: Members): Reading[] {
  const places = isMembers(local) ? entriesOf(local.places) : entriesOf(local);
  const alone = isMembers(place) ? [place] : entriesOf(place);
  return (places.length > 0 ? places : alone).map(placeOf);
}

function placeOf(place: Members): Reading {
  const { latitude, longitude } = isMembers(place.gps_coordinates) ? place.gps_coordinates : place;
  return {
    title: place.title,
    snippet: place.description,
    thumbnail: pictureOf(place.thumbnail),
    address: place.address,
    latitude,
    longitude,
    rating: place.rating,
    ratingCount: place.reviews,
    category: firstOf(place.type) ?? firstOf(place.types),
    phone: place.phone ?? within(place.links, 'phone'),
    website: place.website ?? within(place.links, 'website'),
    openingHours: place.operating_hours ?? place.hours,
    placeId: place.place_id ?? place.data_id,
  };
}

/** Several may be a list. */
function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}
