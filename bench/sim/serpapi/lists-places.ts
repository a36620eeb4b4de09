// Engines of maps: places, local results, hotels and directions.
import type { Members } from '../members.ts';
import { pictureOf, placeOf, productOf } from '../search/facts.ts';
import type { Found } from '../search/found.ts';
import { type Lists, type Rendered, titleOf } from './list.ts';

type PlaceEngine = 'google_maps' | 'google_local' | 'google_hotels' | 'google_maps_directions';

export const placeLists: Readonly<Record<PlaceEngine, Lists>> = {
  google_maps: {
    state: 'local',
    // One exact hit is an object under another name.
    render: (found) =>
      found.length === 1
        ? { place_results: found.map(mapPlace)[0] }
        : { local_results: found.map(mapPlace) },
  },
  google_local: {
    state: 'local',
    render: (found) => ({ local_results: found.map(localPlace) }),
  },
  google_hotels: {
    state: 'hotels',
    render: (found, { isPartial }) => ({
      ...(isPartial ? {} : { brands: [{ id: 1, name: 'Simulated Inns', children: [] }], ads: [] }),
      properties: found.map(property),
    }),
  },
  google_maps_directions: {
    state: 'directions',
    render: (found, rendered) => ({
      places_info: [rendered.parameters.start_addr, rendered.parameters.end_addr].map(
        (address) => ({ address: address ?? null, data_id: '0x0:0x1' }),
      ),
      directions: found.map((result) => direction(result, rendered)),
    }),
  },
};

function mapPlace(result: Found, index: number): Members {
  const place = placeOf(result);
  return {
    position: index + 1,
    ...titleOf(result),
    place_id: place.placeId,
    data_id: `0x0:0x${result.hash.toString(16)}`,
    data_cid: place.cid,
    reviews_link: 'https://serpapi.com/search.json?engine=google_maps_reviews',
    gps_coordinates: { latitude: place.latitude, longitude: place.longitude },
    rating: place.rating,
    reviews: place.ratingCount,
    ...(result.hash % 3 === 0 ? { price: '$$' } : {}),
    type: place.category,
    types: [place.category, 'Point of interest'],
    address: place.address,
    open_state: 'Open ⋅ Closes 5 PM',
    hours: 'Open ⋅ Closes 5 PM',
    operating_hours: Object.fromEntries(
      Object.entries(place.openingHours).map(([day, hours]) => [day.toLowerCase(), hours]),
    ),
    ...(place.phone === null ? {} : { phone: place.phone }),
    ...(place.website === null ? {} : { website: place.website }),
    description: result.snippet,
    thumbnail: pictureOf(result).thumbnailUrl,
  };
}

/** Its place_id is the number that others call the CID. */
function localPlace(result: Found, index: number): Members {
  const place = placeOf(result);
  const { phone, website } = place;
  return {
    position: index + 1,
    ...titleOf(result),
    rating: place.rating,
    reviews_original: `(${place.ratingCount})`,
    reviews: place.ratingCount,
    type: place.category,
    address: place.address,
    hours: 'Open ⋅ Closes 5 PM',
    description: result.snippet,
    place_id: place.cid,
    thumbnail: pictureOf(result).thumbnailUrl,
    gps_coordinates: { latitude: place.latitude, longitude: place.longitude },
    ...(phone === null ? {} : { phone }),
    ...(website === null ? {} : { links: { website, ...(phone === null ? {} : { phone }) } }),
  };
}

function property(result: Found): Members {
  const { rating, ratingCount, latitude, longitude } = placeOf(result);
  const dollars = 40 + Math.round(productOf(result).dollars);
  const stars = (result.hash % 5) + 1;
  const rate = (amount: number) => ({
    lowest: `$${amount.toLocaleString('en-US')}`,
    extracted_lowest: amount,
    before_taxes_fees: `$${(amount - 9).toLocaleString('en-US')}`,
    extracted_before_taxes_fees: amount - 9,
  });
  return {
    type: 'hotel',
    ...(result.isBad ? {} : { name: result.title, link: result.link }),
    description: result.snippet,
    property_token: `token-${result.hash.toString(36)}`,
    serpapi_property_details_link: 'https://serpapi.com/search.json?engine=google_hotels',
    gps_coordinates: { latitude, longitude },
    check_in_time: '3:00 PM',
    check_out_time: '11:00 AM',
    // Full houses have no price.
    ...(result.hash % 9 === 0
      ? {}
      : { rate_per_night: rate(dollars), total_rate: rate(dollars * 2), prices: [] }),
    nearby_places: [{ name: 'Station', transportations: [{ type: 'Walking', duration: '4 min' }] }],
    hotel_class: `${stars}-star hotel`,
    extracted_hotel_class: stars,
    images: [
      { thumbnail: pictureOf(result).thumbnailUrl, original_image: pictureOf(result).imageUrl },
    ],
    overall_rating: rating,
    reviews: ratingCount,
    ratings: [{ stars: 5, count: ratingCount }],
    reviews_breakdown: [],
    amenities: ['Free Wi-Fi', 'Breakfast', ...(result.hash % 2 === 0 ? ['Pool'] : [])],
  };
}

const modes: Readonly<Record<string, string>> = {
  '0': 'Driving',
  '1': 'Cycling',
  '2': 'Walking',
  '3': 'Transit',
};

function direction(result: Found, { parameters }: Rendered): Members {
  const { hash, title, isBad } = result;
  const meters = 1_000 + (hash % 90_000);
  const seconds = Math.round(meters / 12);
  const mode = modes[parameters.travel_mode ?? '6'] ?? 'Driving';
  const { latitude, longitude } = placeOf(result);
  const half = { distance: Math.floor(meters / 2), duration: Math.floor(seconds / 2) };
  const step = (action: string) => ({
    title: `${action} on the road of ${title}`,
    action,
    ...half,
    formatted_distance: `${(half.distance / 1_000).toFixed(1)} km`,
    formatted_duration: `${Math.ceil(half.duration / 60)} min`,
    gps_coordinates: { latitude, longitude },
  });
  return {
    travel_mode: mode,
    via: title,
    ...(mode === 'Transit' ? { start_time: '8:00 AM', end_time: '9:00 AM' } : {}),
    distance: meters,
    ...(isBad ? {} : { duration: seconds }),
    formatted_distance: `${(meters / 1_000).toFixed(1)} km`,
    ...(isBad ? {} : { formatted_duration: `${Math.ceil(seconds / 60)} min` }),
    trips: [
      {
        travel_mode: mode,
        title: `Follow ${title}`,
        distance: meters,
        duration: seconds,
        formatted_distance: `${(meters / 1_000).toFixed(1)} km`,
        formatted_duration: `${Math.ceil(seconds / 60)} min`,
        details: [step('Straight'), step('Turn left')],
      },
    ],
  };
}
