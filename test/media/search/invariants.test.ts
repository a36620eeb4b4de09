// Whatever a provider replies, each item passes the schema of its kind. It holds no character that
// nobody sees, no tag, and only addresses of http or https. The seed is printed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeParse } from 'valibot';
import type { Reading } from '../../../media/search/contract.ts';
import { itemsOf, relatedOf } from '../../../media/search/items.ts';
import { factsOf, type ServedSurface, surfaceNames } from '../../../media/search/surfaces.ts';
import { fc } from '../../harness/properties.ts';
import { sampledRuns } from '../../harness/sample.ts';
import { itemSchemas } from '../../harness/search-items.ts';
import { testSeed } from '../../harness/seed.ts';
import { askOf, nowMs } from './asks.ts';

const runs = sampledRuns(10_000, 400);
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Variation_Selector}\u2028\u2029]|<[a-z/!?]/iu;
const served = surfaceNames.filter((name): name is ServedSurface => name !== 'web_answer');

const pieces = [
  ...['<b>', '</b>', '<script>', '</script>', '<img src=x onerror=alert(1)>', '<', '>', '<!--'],
  ...['-->', '&lt;', '&gt;', '&amp;', '&#60;', '&#x3c;', '&#8238;', '&#x200b;', '&zwj;', '&', ';'],
  ...['\u202e', '\u2066', '\u200b', '\u200d', '\ufeff', '\u0000', '\u001b', '\ud800', '\udc00'],
  ...['javascript:', 'data:text/html,', 'https://', 'http://u:p@', 'example.com', '/a?b=c#d', '\\'],
  ...['2026-01-03', '0000-00-00', '3 days ago', '12:34', '1,234.56', '€', '$', 'CHF', '%', 'e9'],
  ...[
    'word',
    'ü',
    '😀',
    '漢字',
    ' ',
    '\n',
    '\u00a0',
    '9'.repeat(30),
    '-',
    '.',
    ',',
    'ZRH',
    '__proto__',
  ],
];
const crafted = fc
  .array(fc.constantFrom(...pieces), { maxLength: 12 })
  .map((parts) => parts.join(''));
const address = fc.constantFrom(
  ...['https://example.com/a', 'http://u:p@example.com/\u202e', 'javascript:alert(1)', '//b.com'],
  ...[
    'data:image/png;base64,x',
    'https://xn--bcher-kva.example/?q=<b>',
    'HTTPS://A.COM',
    'ftp://a',
  ],
);
const scalar = fc.oneof(
  crafted,
  address,
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
  fc.constantFrom(null, undefined, true, Number.NaN, 1_767_434_400, 4.5, '4.5', '12.3 km', 'ZRH'),
);
const nested = fc.record({
  ...{ from: fc.constantFrom('ZRH', 'JFK', 'x', null), to: fc.constantFrom('LHR', 'CDG', 5) },
  ...{
    name: scalar,
    instruction: scalar,
    departsAt: scalar,
    airline: scalar,
    flightNumber: scalar,
  },
  ...{ distanceMeters: scalar, durationSeconds: scalar, durationMinutes: scalar },
});
const value = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(fc.oneof(scalar, nested), { maxLength: 4 }) },
  { weight: 1, arbitrary: nested },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>({ toString: 1, name: { valueOf: 2 } }, [[[1]]]),
  },
  {
    weight: 1,
    arbitrary: fc.dictionary(crafted, fc.oneof(scalar, fc.array(scalar)), { maxKeys: 3 }),
  },
);
const names: readonly (keyof Reading)[] = [
  ...(['title', 'url', 'snippet', 'source', 'date', 'thumbnail', 'score', 'content'] as const),
  ...(['imageUrl', 'width', 'height', 'resolution', 'duration', 'channel', 'address'] as const),
  ...(['latitude', 'longitude', 'rating', 'ratingCount', 'category', 'phone', 'website'] as const),
  ...(['openingHours', 'placeId', 'hotelClass', 'amenities', 'pricePerNight'] as const),
  ...(['totalPrice', 'price', 'currency', 'seller', 'authors', 'year', 'venue'] as const),
  ...(['citedBy', 'pdfUrl', 'durationSeconds', 'distanceMeters', 'mode', 'departsAt'] as const),
  ...(['arrivesAt', 'legs', 'segments', 'totalDurationMinutes', 'carbonGrams'] as const),
];
/** What makes an item of it is mostly good, so that the rest is looked at. */
const likely: Partial<Record<keyof Reading, fc.Arbitrary<unknown>>> = {
  title: fc.oneof(fc.constant('Title'), crafted),
  url: address,
  imageUrl: address,
  durationSeconds: fc.oneof(fc.constant(60), scalar),
  segments: fc.oneof(fc.constant([{ from: 'ZRH', to: 'JFK' }]), fc.array(nested, { maxLength: 3 })),
};
const reading: fc.Arbitrary<Reading> = fc.record(
  Object.fromEntries(names.map((name) => [name, likely[name] ?? value])),
  { requiredKeys: [] },
);

function textsIn(given: unknown): string[] {
  if (typeof given === 'string') return [given];
  if (typeof given !== 'object' || given === null) return [];
  return Object.values(given).flatMap(textsIn);
}

test('every item of every kind is clean and passes its schema', (context) => {
  context.diagnostic(`seed ${testSeed}, ${runs} runs`);
  const asks = new Map(served.map((surface) => [surface, askOf(surface, { gl: 'de' })]));
  let made = 0;
  const lists = fc.array(reading, { maxLength: 4 });
  fc.assert(
    fc.property(fc.constantFrom(...served), lists, (surface, readings) => {
      const { kind } = factsOf(surface);
      const ask = asks.get(surface);
      assert.ok(ask);
      const { items, dropped } = itemsOf(ask, kind, readings, nowMs);
      assert.ok(items.length + dropped <= readings.length);
      let lastScore = 1;
      for (const [at, item] of items.entries()) {
        made += 1;
        assert.deepEqual(safeParse(itemSchemas[kind], item).issues, undefined);
        assert.equal(item.position, at + 1);
        for (const text of textsIn(item)) assert.doesNotMatch(text, unseen);
        for (const [name, address] of Object.entries(item)) {
          if (!/url|website|thumbnail/.test(name)) continue;
          const { protocol, username, password } = new URL(String(address));
          assert.match(protocol, /^https?:$/);
          assert.equal(username + password, '');
        }
        assert.ok((item.score ?? 0) <= lastScore);
        lastScore = item.score ?? lastScore;
      }
      assert.equal(new Set(items.map(({ position }) => position)).size, items.length);
    }),
    { numRuns: runs },
  );
  assert.ok(made > runs / 4, `${made} items were looked at`);
});

test('related questions are clean, whatever they are', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 30 }), (related) => {
      const texts = relatedOf(related);
      assert.ok(texts.length <= 20);
      for (const text of texts) {
        assert.doesNotMatch(text, unseen);
        assert.ok(text !== '' && [...text].length <= 300);
      }
      assert.equal(new Set(texts).size, texts.length);
    }),
    { numRuns: sampledRuns(2_000, 100) },
  );
});
