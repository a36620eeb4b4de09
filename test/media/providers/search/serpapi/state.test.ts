// What a reply with 200 is in truth: found, empty, still running or an error; never an exception,
// and never a way to the provider.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serpapiFamily } from '../../../../../media/providers/search/serpapi/family.ts';
import type { ServedSurface } from '../../../../../media/search/surfaces.ts';
import { fc } from '../../../../harness/properties.ts';
import { testSeed } from '../../../../harness/seed.ts';
import { askOf } from '../ask.ts';
import { withJunk } from '../junk.ts';
import { flight, journey, stay } from '../travel.ts';
import * as bodies from './bodies.ts';

const recorded: [ServedSurface, object][] = [
  ['web_search', bodies.pages],
  ['engine_search', bodies.pages],
  ['engine_images', bodies.images],
  ['engine_news', bodies.news],
  ['engine_videos', bodies.videos],
  ['engine_videos', bodies.youtube],
  ['engine_maps', bodies.maps],
  ['engine_maps', bodies.onePlace],
  ['engine_places', bodies.local],
  ['engine_routes', bodies.directions],
  ['engine_shopping', bodies.shopping],
  ['engine_scholar', bodies.papers],
  ['engine_autocomplete', bodies.suggestions],
  ['engine_flights', bodies.flights],
  ['engine_hotels', bodies.hotels],
];

const asked = { flights: flight, hotels: stay, routes: journey };

function read(surface: ServedSurface, body: unknown, page = { page: 1, limit: 10 }) {
  const ask = askOf(surface, 'x', { ...asked, ...page });
  const reading = serpapiFamily.endpoints[surface]?.read(body, ask);
  assert.ok(reading !== undefined, surface);
  return reading;
}

test('every surface that is served has a recorded reply', () => {
  const surfaces = new Set(recorded.map(([surface]) => surface));
  assert.deepEqual([...surfaces].sort(), Object.keys(serpapiFamily.endpoints).sort());
});

test('what says that it is fully empty is empty, by its state or by its words', () => {
  for (const [surface] of recorded) {
    assert.deepEqual(read(surface, bodies.nothing), { state: 'empty' }, surface);
    const bySilence = { search_metadata: { status: 'Success' } };
    assert.deepEqual(read(surface, bySilence), { state: 'empty' }, surface);
    const byState = { search_information: { local_results_state: 'Fully empty' }, error: 'x' };
    assert.deepEqual(read(surface, byState), { state: 'empty' }, surface);
    const byWords = bodies.reply({ error: "Google hasn't returned any results for this query." });
    assert.deepEqual(read(surface, byWords), { state: 'empty' }, surface);
  }
});

test('any other error without items has failed', () => {
  for (const error of ['Something went wrong.', { text: 'x' }, 7, '']) {
    const reading = read('web_search', bodies.reply({ error }));
    assert.deepEqual(reading, { state: 'failed' }, JSON.stringify(error));
  }
});

test('items beside an error were found', () => {
  for (const [surface, body] of recorded) {
    assert.equal(read(surface, { ...body, error: 'Something.' }).state, 'read', surface);
  }
});

test('a search that still runs has failed, whatever stands in it', () => {
  for (const status of ['Processing', 'Queued']) {
    const body = { ...bodies.pages, search_metadata: { status } };
    assert.deepEqual(read('web_search', body), { state: 'failed' });
  }
});

test('what is no reply has failed', () => {
  for (const wrong of [null, undefined, 1, 'x', [], {}, { error: 'x' }, { organic_results: 7 }]) {
    assert.deepEqual(read('web_search', wrong), { state: 'failed' }, JSON.stringify(wrong));
  }
});

test('nothing that is shown leads to the provider, its tokens or the request', () => {
  for (const [surface, body] of recorded) {
    const reading = read(surface, body);
    assert.ok(reading.state === 'read', surface);
    const own = /tok-\d|metadata|search_parameters|pagination|"serpapi|_token|search\.json/;
    assert.doesNotMatch(JSON.stringify(reading.data), own, surface);
    assert.doesNotMatch(JSON.stringify(reading.readings), /serpapi\.com|tok-\d/, surface);
    assert.ok(Object.keys(reading.data).length > 0, surface);
  }
});

test('engines without pages are paged here', () => {
  const news = bodies.reply({
    news_results: Array.from({ length: 25 }, (_, at) => ({
      title: String(at + 1),
      link: `https://news.example/${at + 1}`,
    })),
  });
  const titles = (page: number) => {
    const reading = read('engine_news', news, { page, limit: 10 });
    return reading.state === 'read' ? reading.readings.map(({ title }) => title) : reading.state;
  };
  assert.equal(titles(1)[0], '1');
  assert.deepEqual(titles(3), ['21', '22', '23', '24', '25']);
  assert.equal(titles(4), 'empty');
});

test('the second page of an engine that knows pages is read from its first result', () => {
  const { readings } = Object(read('web_search', bodies.pages, { page: 2, limit: 10 }));
  assert.equal(readings.length, 2);
});

test(`no JSON makes a reader throw (seed ${testSeed})`, () => {
  for (const [surface, body] of recorded) {
    fc.assert(
      fc.property(withJunk(body), (value) => void read(surface, value)),
      { numRuns: 200 },
    );
    fc.assert(fc.property(fc.jsonValue(), (value) => void read(surface, value)));
  }
});

test('a reply that is as deep as a parser allows does not end the stack', () => {
  const deep = JSON.parse(`${'{"a":['.repeat(5_000)}1${']}'.repeat(5_000)}`);
  for (const [surface, body] of recorded) {
    const names = Object.keys(body).filter((name) => !name.startsWith('search_'));
    for (const name of names) read(surface, { ...body, [name]: [deep] });
  }
});

test('members that are called like those of a prototype are only members', () => {
  const body = JSON.parse(
    '{"search_metadata":{"status":"Success"},"organic_results":[{"__proto__":{"title":"x"}}]}',
  );
  const reading = read('web_search', body);
  assert.ok(reading.state === 'read');
  assert.equal(reading.readings[0]?.title, undefined);
  assert.ok(!Object.hasOwn(Object.prototype, 'title'));
});
