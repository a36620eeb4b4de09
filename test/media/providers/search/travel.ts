// Journeys as the parameters of callers become them, for tests of encoders and readers.

export const flight = {
  departureId: 'ZRH',
  arrivalId: 'JFK',
  outboundDate: '2026-12-12',
  returnDate: '2026-12-20',
  trip: 'round',
  adults: 2,
  children: 0,
  travelClass: null,
  stopsMax: null,
  maxPrice: null,
  currency: 'USD',
} as const;

export const stay = {
  checkInDate: '2026-12-12',
  checkOutDate: '2026-12-14',
  adults: 2,
  children: 0,
  childrenAges: [],
  currency: 'EUR',
  minPrice: null,
  maxPrice: null,
  sortBy: null,
} as const;

export const journey = {
  origin: 'Zürich HB',
  destination: 'Bern',
  mode: 'driving',
  departAt: null,
  arriveBy: null,
  avoid: [],
} as const;
