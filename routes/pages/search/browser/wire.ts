// What the page reads of the API. Members that it does not use are left out, later ones ignored.

export interface Surface {
  name: string;
  display_name: string;
  kind: string | null;
  available: boolean;
  credits_per_query: string | null;
}

export interface Price {
  amount: string;
  currency: string;
}

export interface Segment {
  from: string;
  to: string;
  departs_at?: string;
  arrives_at?: string;
  airline?: string;
  flight_number?: string;
  aircraft?: string;
  travel_class?: string;
  duration_minutes?: number;
}

export interface Leg {
  instruction?: string;
  distance_meters?: number;
  duration_seconds?: number;
}

/** An item of any kind: each has some of these. */
export interface Item {
  position: number;
  title: string;
  url?: string;
  snippet?: string;
  source?: string;
  published_at?: string;
  published_text?: string;
  thumbnail?: string;
  score?: number;
  content?: string;
  image_url?: string;
  width?: number;
  height?: number;
  duration_seconds?: number;
  channel?: string;
  address?: string;
  latitude?: number;
  longitude?: number;
  rating?: number;
  rating_count?: number;
  category?: string;
  phone?: string;
  website?: string;
  distance_meters?: number;
  mode?: string;
  departs_at?: string;
  arrives_at?: string;
  legs?: Leg[];
  price?: Price;
  seller?: string;
  authors?: string[] | string;
  year?: number;
  venue?: string;
  cited_by?: number;
  pdf_url?: string;
  segments?: Segment[];
  total_duration_minutes?: number;
  stops?: number;
  carbon_grams?: number;
  price_per_night?: Price;
  total_price?: Price;
  hotel_class?: number | string;
  amenities?: string[];
}

export interface Citation {
  start: number;
  end: number;
  position: number;
  url: string;
  title: string;
  quote: string;
}

export interface CitedAnswer {
  text: string;
  citations: Citation[];
  grounded: boolean;
  model: string;
  removed: number;
}

export interface Normalized {
  kind: string;
  items: Item[];
  answer?: CitedAnswer | null;
  related?: string[];
  empty: boolean;
  partial: boolean;
  truncated: boolean;
  engines: { name: string; state: string; ms: number }[];
  cache: { hit: boolean; age_seconds: number; max_age_seconds: number };
  ignored: string[];
  assumed: Record<string, unknown>;
}

export interface Reply {
  surface: string;
  normalized: Normalized;
  data: Record<string, unknown>;
  charge_microcredits: number;
  remaining_microcredits: number;
  request_id: string;
  replayed: boolean;
  simulated: boolean;
}
