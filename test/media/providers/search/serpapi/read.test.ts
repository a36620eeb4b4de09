// Replies of every engine as readings, and what is shown of them as it came.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchReading } from '../../../../../media/providers/search/family.ts';
import { serpapiFamily } from '../../../../../media/providers/search/serpapi/family.ts';
import type { Reading, SearchParameters } from '../../../../../media/search/contract.ts';
import type { ServedSurface } from '../../../../../media/search/surfaces.ts';
import { askOf } from '../ask.ts';
import { flight, journey, stay } from '../travel.ts';
import * as bodies from './bodies.ts';

type Read = Extract<SearchReading, { state: 'read' }>;

function read(
  surface: ServedSurface,
  body: unknown,
  parameters: Partial<SearchParameters> = {},
): Read {
  const ask = askOf(surface, 'swiss alps', parameters);
  const reading = serpapiFamily.endpoints[surface]?.read(body, ask);
  assert.ok(reading?.state === 'read', JSON.stringify(reading));
  return reading;
}

/** Without the members that nothing was found for. */
function bare(readings: readonly Reading[]): object[] {
  return JSON.parse(JSON.stringify(readings));
}

test('pages: links, dates, and no picture that the provider keeps', () => {
  const { readings, related, data } = read('web_search', bodies.pages);
  assert.deepEqual(bare(readings), [
    {
      title: 'Swiss Alps',
      url: 'https://en.example.org/wiki/Swiss_Alps',
      snippet: 'The Alpine region of Switzerland.',
      source: 'Example',
      date: 'Jan 3, 2026',
    },
    { title: 'No link', snippet: 'x', thumbnail: 'https://a.example/2.jpg' },
  ]);
  assert.deepEqual(related, ['alps map', 'alps height']);
  assert.deepEqual(data.local_results, { places: [{ position: 1, title: 'Hut' }] });
  assert.ok(!JSON.stringify(data).includes('Nobody has checked this'));
  assert.deepEqual(bare(read('engine_search', bodies.pages).readings), bare(readings));
});

test('images: their own address, the page and their size', () => {
  assert.deepEqual(bare(read('engine_images', bodies.images).readings), [
    {
      title: 'Eiger',
      url: 'https://a.example/eiger',
      imageUrl: 'https://a.example/eiger.jpg',
      width: 1920,
      height: 1080,
      source: 'Example',
      thumbnail: 'https://thumbs.example/1.jpg',
    },
  ]);
});

test('news: groups become their articles, the chief one first', () => {
  assert.deepEqual(bare(read('engine_news', bodies.news).readings), [
    {
      title: 'Snow',
      url: 'https://news.example/1',
      source: 'News',
      date: '2026-01-03T08:00:00Z',
      thumbnail: 'https://n.example/1.jpg',
    },
    { title: 'Chief', url: 'https://news.example/2', source: 'Chief' },
    { title: 'First', url: 'https://news.example/3', date: '2 days ago' },
    { title: 'Second', url: 'https://news.example/4', source: 'Plain' },
    { title: 'Neither' },
  ]);
});

test('videos: of both engines, with a length unless they are live', () => {
  const youtube = { includeDomains: ['youtube.com'] };
  assert.deepEqual(bare(read('engine_videos', bodies.youtube, youtube).readings), [
    {
      title: 'Climb',
      url: 'https://www.youtube.com/watch?v=1',
      snippet: 'A climb.',
      date: '3 months ago',
      duration: '12:34',
      channel: 'Climbers',
      thumbnail: 'https://i.example/1.jpg',
    },
    { title: 'Live', url: 'https://www.youtube.com/watch?v=2', channel: 'Live' },
  ]);
  const video = {
    title: 'Ski',
    url: 'https://v.example/1',
    snippet: 'Skiing.',
    source: 'Video',
    date: 'Jan 3, 2026',
    duration: '1:02:03',
    thumbnail: 'https://v.example/1.jpg',
  };
  assert.deepEqual(bare(read('engine_videos', bodies.videos).readings), [video]);
  const { video_results: organic_results, ...rest } = Object(bodies.videos);
  assert.deepEqual(bare(read('engine_videos', { ...rest, organic_results }).readings), [video]);
});

const hut = {
  title: 'Hut',
  snippet: 'A hut.',
  thumbnail: 'https://lh5.example/1.jpg',
  address: 'Top 1, 3818 Grindelwald',
  latitude: 46.5,
  longitude: 8.1,
  rating: 4.6,
  ratingCount: 120,
  category: 'Mountain hut',
  phone: '+41 33 000 00 00',
  website: 'https://hut.example',
  openingHours: { monday: '9 AM–5 PM' },
  placeId: 'ChIJ1',
};

test('places: a list, an object with one, or one exact place alone', () => {
  assert.deepEqual(bare(read('engine_maps', bodies.maps).readings), [hut]);
  const [alone] = bare(read('engine_maps', bodies.onePlace).readings);
  assert.deepEqual(alone, { ...hut, openingHours: 'Open ⋅ Closes 5 PM' });
  const object = bodies.reply({ local_results: { places: Object(bodies.maps).local_results } });
  assert.deepEqual(bare(read('engine_maps', object).readings), [hut]);
  assert.deepEqual(bare(read('engine_places', bodies.local).readings), [
    {
      title: 'Bakery',
      address: 'Street 2',
      latitude: '46.9',
      longitude: '7.4',
      rating: 4.1,
      ratingCount: 20,
      category: 'Bakery',
      phone: 'tel:+41310000000',
      website: 'https://bakery.example',
      openingHours: 'Closed',
      placeId: '77',
    },
  ]);
});

test('directions: details of trips are legs, and texts stand in for missing numbers', () => {
  const readings = read('engine_routes', bodies.directions, { routes: journey }).readings;
  assert.deepEqual(bare(readings), [
    {
      title: 'Zürich HB – Bern, A1',
      distanceMeters: 125_300,
      durationSeconds: 5_400,
      mode: 'driving',
      legs: [
        { instruction: 'Head west', distanceMeters: 500, durationSeconds: 60 },
        { instruction: 'Turn left', distanceMeters: '1.5 km' },
        { instruction: 'Follow A1', distanceMeters: '123 km' },
      ],
    },
    {
      durationSeconds: '56 min',
      mode: 'transit',
      departsAt: '8:02 AM',
      arrivesAt: '8:58 AM',
      legs: [{ instruction: 'IC 1' }],
    },
    {
      durationSeconds: 7_000,
      mode: 'driving',
      legs: [{ instruction: 'Just walk' }],
    },
  ]);
});

test('products: the price with its sign, and the page of the shop before the engine’s', () => {
  assert.deepEqual(bare(read('engine_shopping', bodies.shopping).readings), [
    {
      title: 'Rope',
      url: 'https://www.google.com/shopping/product/1',
      snippet: 'Long rope',
      source: 'Shop',
      seller: 'Shop',
      price: '$19.99',
      rating: 4.5,
      ratingCount: 1200,
      thumbnail: 'data:image/webp;base64,AAAA',
    },
    { title: 'Axe', url: 'https://shop.example/axe', price: 80 },
  ]);
});

test('papers: authors, venue, year and host from one text, whichever parts it has', () => {
  const paper = { title: 'On ice', url: 'https://j.example/1', snippet: 'Ice melts.' };
  const authors = ['A Muster', 'B Beispiel'];
  assert.deepEqual(bare(read('engine_scholar', bodies.papers).readings), [
    {
      ...paper,
      authors,
      year: '2019',
      venue: 'Journal of Ice - Snow',
      source: 'j.example',
      citedBy: 42,
      pdfUrl: 'https://j.example/1.pdf',
    },
    { ...paper, authors, year: '2019', venue: 'Journal of Ice', source: 'j.example' },
    { ...paper, authors: ['A Muster'], year: '2018', source: 'books.example' },
    { ...paper, authors: ['A Muster'] },
    { ...paper, authors: ['A Muster'], year: '1998', venue: 'Ice' },
    { title: 'Bare' },
  ]);
});

test('suggestions: objects or texts', () => {
  assert.deepEqual(bare(read('engine_autocomplete', bodies.suggestions).readings), [
    { title: 'swiss alps map' },
    { title: 'swiss alps train' },
  ]);
});

test('flights: both lists, local times, and no price where there is none', () => {
  const [best, other] = bare(read('engine_flights', bodies.flights, { flights: flight }).readings);
  assert.deepEqual(best, {
    segments: [
      {
        from: 'ZRH',
        to: 'LHR',
        departsAt: '2026-12-12 09:55',
        arrivesAt: '2026-12-12 10:40',
        airline: 'SWISS',
        flightNumber: 'LX 318',
        aircraft: 'Airbus A320',
        travelClass: 'Economy',
        durationMinutes: 105,
      },
      {
        from: 'LHR',
        to: 'JFK',
        departsAt: '2026-12-12 12:30',
        arrivesAt: '2026-12-12 15:30',
        airline: 'BA',
        flightNumber: 'BA 175',
        durationMinutes: 480,
      },
    ],
    price: 612,
    currency: 'USD',
    totalDurationMinutes: 695,
    carbonGrams: 500_000,
    thumbnail: 'https://www.gstatic.example/multi.png',
  });
  assert.deepEqual(other, {
    segments: [
      {
        from: 'ZRH',
        to: 'JFK',
        departsAt: '2026-12-12 13:00',
        arrivesAt: '2026-12-12 16:05',
        airline: 'SWISS',
        durationMinutes: 545,
      },
    ],
    currency: 'USD',
    totalDurationMinutes: 545,
  });
});

test('flights without a total last as long as their parts and what lies between', () => {
  const { best_flights: best } = Object(bodies.flights);
  const untold = bodies.reply({ best_flights: [{ ...best[0], total_duration: undefined }] });
  const [first] = read('engine_flights', untold, { flights: flight }).readings;
  assert.equal(first?.totalDurationMinutes, 105 + 110 + 480);
});

test('flights: a part that cannot be read is not left out of its journey', () => {
  const { best_flights: best } = Object(bodies.flights);
  const torn = bodies.reply({ best_flights: [{ flights: [best[0].flights[0], null] }] });
  const [first] = read('engine_flights', torn, { flights: flight }).readings;
  assert.equal(Object(first?.segments)[1], null);
  assert.equal(first?.totalDurationMinutes, undefined);
});

test('hotels: extracted prices in the currency that was asked for, no paid places', () => {
  assert.deepEqual(bare(read('engine_hotels', bodies.hotels, { hotels: stay }).readings), [
    {
      title: 'Bellevue',
      url: 'https://bellevue.example',
      snippet: 'Grand.',
      thumbnail: 'https://lh5.example/h.jpg',
      pricePerNight: 210,
      totalPrice: 420,
      currency: 'EUR',
      rating: 4.7,
      ratingCount: 900,
      hotelClass: 5,
      latitude: 46.94,
      longitude: 7.44,
      amenities: ['Spa', 'Bar'],
    },
    { title: 'Full house', totalPrice: '€99', currency: 'EUR', hotelClass: '3-star hotel' },
  ]);
});
