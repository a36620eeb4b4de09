// What customers see of SerpApi's replies, by engine. Its parameters, times, tokens of pages and
// links to further calls of its own are left out.
import type { Shape, ShapeMembers } from '../reading.ts';
import type { Engine } from './engine.ts';

const named = { name: true, link: true } as const;
const page = {
  position: true,
  title: true,
  link: true,
  source: true,
  date: true,
  snippet: true,
  thumbnail: true,
} as const;
const related = { related_searches: [{ query: true }] } as const;
const coordinates = { latitude: true, longitude: true } as const;

const place = {
  position: true,
  title: true,
  place_id: true,
  data_id: true,
  data_cid: true,
  gps_coordinates: coordinates,
  rating: true,
  reviews: true,
  price: true,
  type: true,
  types: true,
  address: true,
  open_state: true,
  hours: true,
  operating_hours: true,
  phone: true,
  website: true,
  description: true,
  thumbnail: true,
  links: { website: true, phone: true, directions: true },
} as const;

const article = { ...page, source: named, iso_date: true } as const;

const videos = {
  video_results: [
    {
      ...page,
      displayed_link: true,
      description: true,
      published_date: true,
      views: true,
      length: true,
      duration: true,
      channel: { ...named, verified: true },
      thumbnail: { static: true },
    },
  ],
} as const;

const airport = { id: true, name: true, time: true } as const;
const city = {
  airport: { id: true, name: true },
  city: true,
  country: true,
  country_code: true,
} as const;
const offers: Shape = [
  {
    flights: [
      {
        departure_airport: airport,
        arrival_airport: airport,
        duration: true,
        airplane: true,
        airline: true,
        airline_logo: true,
        travel_class: true,
        flight_number: true,
        legroom: true,
        extensions: true,
        overnight: true,
        often_delayed_by_over_30_min: true,
      },
    ],
    layovers: [{ duration: true, name: true, id: true, overnight: true }],
    total_duration: true,
    carbon_emissions: {
      this_flight: true,
      typical_for_this_route: true,
      difference_percent: true,
    },
    price: true,
    type: true,
    airline_logo: true,
    extensions: true,
  },
];

const rate = {
  lowest: true,
  extracted_lowest: true,
  before_taxes_fees: true,
  extracted_before_taxes_fees: true,
} as const;

const measured = {
  distance: true,
  duration: true,
  formatted_distance: true,
  formatted_duration: true,
} as const;

export const shapes: Readonly<Record<Engine, ShapeMembers>> = {
  google: {
    organic_results: [
      {
        ...page,
        displayed_link: true,
        author: true,
        sitelinks: { inline: [{ title: true, link: true }] },
      },
    ],
    answer_box: { type: true, title: true, answer: true, snippet: true, link: true, date: true },
    knowledge_graph: {
      title: true,
      type: true,
      entity_type: true,
      description: true,
      source: named,
      website: true,
    },
    local_results: { places: [place] },
    top_stories: [page],
    related_questions: [{ question: true, snippet: true, title: true, link: true }],
    ...related,
  },
  google_images: {
    images_results: [
      { ...page, original: true, original_width: true, original_height: true, is_product: true },
    ],
    ...related,
  },
  google_news: { news_results: [{ ...article, highlight: article, stories: [article] }] },
  google_videos: { ...videos, organic_results: videos.video_results, ...related },
  youtube: videos,
  google_maps: { local_results: [place], place_results: place },
  google_local: { local_results: [place], place_results: place },
  google_maps_directions: {
    directions: [
      {
        ...measured,
        travel_mode: true,
        via: true,
        start_time: true,
        end_time: true,
        typical_duration_range: true,
        cost: true,
        currency: true,
        trips: [
          {
            ...measured,
            travel_mode: true,
            title: true,
            start_stop: { name: true, time: true },
            end_stop: { name: true, time: true },
            details: [{ ...measured, title: true, action: true, gps_coordinates: coordinates }],
          },
        ],
      },
    ],
  },
  google_shopping: {
    shopping_results: [
      {
        position: true,
        title: true,
        link: true,
        product_link: true,
        product_id: true,
        source: true,
        price: true,
        extracted_price: true,
        old_price: true,
        extracted_old_price: true,
        rating: true,
        reviews: true,
        snippet: true,
        extensions: true,
        thumbnail: true,
        delivery: true,
      },
    ],
    ...related,
  },
  google_scholar: {
    organic_results: [
      {
        position: true,
        title: true,
        result_id: true,
        type: true,
        link: true,
        snippet: true,
        publication_info: { summary: true, authors: [{ name: true }] },
        inline_links: { cited_by: { total: true } },
        resources: [{ title: true, file_format: true, link: true }],
      },
    ],
    ...related,
  },
  google_autocomplete: { suggestions: [{ value: true, relevance: true, type: true }] },
  google_flights: {
    best_flights: offers,
    other_flights: offers,
    price_insights: { lowest_price: true, price_level: true, typical_price_range: true },
    airports: [{ departure: [city], arrival: [city] }],
  },
  google_hotels: {
    properties: [
      {
        type: true,
        name: true,
        description: true,
        link: true,
        gps_coordinates: coordinates,
        check_in_time: true,
        check_out_time: true,
        rate_per_night: rate,
        total_rate: rate,
        prices: [{ source: true, num_guests: true, rate_per_night: rate }],
        nearby_places: [{ name: true, transportations: [{ type: true, duration: true }] }],
        hotel_class: true,
        extracted_hotel_class: true,
        images: [{ thumbnail: true, original_image: true }],
        overall_rating: true,
        reviews: true,
        ratings: [{ stars: true, count: true }],
        amenities: true,
      },
    ],
  },
};
