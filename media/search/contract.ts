// What a search is between the caller's request, a provider's wire format and the items that are
// answered: plain data, no vendor's words.
import type { ServedSurface } from './surfaces.ts';

export type ParameterValue = string | number | boolean | readonly (string | number | boolean)[];

export interface MapPoint {
  latitude: number;
  longitude: number;
  zoom: number | null;
}

export interface FlightParameters {
  departureId: string;
  arrivalId: string;
  /** ISO dates. */
  outboundDate: string;
  returnDate: string | null;
  trip: 'round' | 'one_way';
  adults: number;
  children: number;
  travelClass: 'economy' | 'premium_economy' | 'business' | 'first' | null;
  /** At most so many; null: any. */
  stopsMax: number | null;
  maxPrice: number | null;
  currency: string;
}

export interface HotelParameters {
  checkInDate: string;
  checkOutDate: string;
  adults: number;
  children: number;
  childrenAges: readonly number[];
  currency: string;
  minPrice: number | null;
  maxPrice: number | null;
  sortBy: 'relevance' | 'price' | 'rating' | 'reviews' | null;
}

export interface RouteParameters {
  origin: string;
  destination: string;
  mode: 'driving' | 'transit' | 'walking' | 'cycling';
  /** Epoch seconds. */
  departAt: number | null;
  arriveBy: number | null;
  avoid: readonly ('highways' | 'tolls' | 'ferries')[];
}

/** Known parameters, checked. Null: not given, or not of this surface. */
export interface SearchParameters {
  /** 1 to 50. */
  limit: number;
  /** From 1. */
  page: number;
  /** Two small letters each: the country, the language. */
  gl: string | null;
  hl: string | null;
  location: string | null;
  safe: 'off' | 'moderate' | 'strict';
  timeRange: 'day' | 'week' | 'month' | 'year' | null;
  /** Host names in small letters. */
  includeDomains: readonly string[];
  excludeDomains: readonly string[];
  ll: MapPoint | null;
  flights: FlightParameters | null;
  hotels: HotelParameters | null;
  routes: RouteParameters | null;
}

/** What providers are asked. */
export interface SearchAsk {
  surface: ServedSurface;
  query: string;
  parameters: SearchParameters;
  /** Parameters that nobody here knows, of a form that may pass. Families have lists of theirs. */
  extra: Readonly<Record<string, ParameterValue>>;
}

/**
 * One result as a provider's reader found it: values as they came, under our names. Only the
 * readers of kinds turn them into items, and trust none of them.
 */
export interface Reading {
  title?: unknown;
  url?: unknown;
  snippet?: unknown;
  source?: unknown;
  /** ISO, RFC 1123, `Jan 3, 2026`, `3 days ago`, epoch: whatever the provider says. */
  date?: unknown;
  thumbnail?: unknown;
  /** Pages that are scored. */
  score?: unknown;
  content?: unknown;
  /** Pictures. */
  imageUrl?: unknown;
  width?: unknown;
  height?: unknown;
  /** `1920 x 1080`, where that is all there is. */
  resolution?: unknown;
  /** Videos: seconds, or `12:34`. */
  duration?: unknown;
  channel?: unknown;
  /** Places and hotels. */
  address?: unknown;
  latitude?: unknown;
  longitude?: unknown;
  rating?: unknown;
  ratingCount?: unknown;
  category?: unknown;
  phone?: unknown;
  website?: unknown;
  /** A text, a list, or an object by weekday. */
  openingHours?: unknown;
  placeId?: unknown;
  hotelClass?: unknown;
  amenities?: unknown;
  pricePerNight?: unknown;
  totalPrice?: unknown;
  /** A number, or `$19.99`; `currency` where the provider or the request says it. */
  price?: unknown;
  currency?: unknown;
  seller?: unknown;
  /** Papers. */
  authors?: unknown;
  year?: unknown;
  venue?: unknown;
  citedBy?: unknown;
  pdfUrl?: unknown;
  /** Routes: seconds and meters, numbers or texts. */
  durationSeconds?: unknown;
  distanceMeters?: unknown;
  mode?: unknown;
  departsAt?: unknown;
  arrivesAt?: unknown;
  /** `{instruction, distanceMeters, durationSeconds}` each. */
  legs?: unknown;
  /**
   * Flights: `{from, to, departsAt, arrivesAt, airline, flightNumber, aircraft, travelClass,
   * durationMinutes}` each.
   */
  segments?: unknown;
  totalDurationMinutes?: unknown;
  carbonGrams?: unknown;
}

/** What every item has; a kind has more members (`kinds/`). It is of the form that is answered. */
export interface SearchItem {
  position: number;
  title: string;
  url?: string;
  snippet?: string;
  source?: string;
  published_at?: string;
  published_text?: string;
  thumbnail?: string;
  /** `ai_search` has these two. */
  score?: number;
  content?: string;
}

/** What one attempt came to. */
export type SearchOutcome =
  | {
      state: 'found' | 'partial' | 'empty';
      items: SearchItem[];
      related: string[];
      /** The provider's members by its allowlist, at most 512 KiB of JSON: an object. */
      dataJson: string;
      isTruncated: boolean;
      /** Names of `extra` that this family did not take. */
      ignored: string[];
    }
  | {
      /** `aborted`: by the caller's signal. */
      state: 'refused' | 'busy' | 'exhausted' | 'credential' | 'failed' | 'timeout' | 'aborted';
      retryAfterMs: number | null;
      /** For the log: made of family, surface and status alone. */
      detail: string;
    };

export type FoundOutcome = Extract<SearchOutcome, { items: SearchItem[] }>;
export type FailedOutcome = Exclude<SearchOutcome, FoundOutcome>;
