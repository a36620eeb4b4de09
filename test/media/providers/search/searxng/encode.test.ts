// Requests of the searxng family: forms in the body, and queries that give no orders.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searxngFamily } from '../../../../../media/providers/search/searxng/family.ts';
import { withoutCommands } from '../../../../../media/providers/search/searxng/words.ts';
import type { SearchAsk } from '../../../../../media/search/contract.ts';
import { fc } from '../../../../harness/properties.ts';
import { askOf, targetOf } from '../ask.ts';

const target = targetOf('searxng', 'https://search.example.com/prefix', null);

function sent(ask: SearchAsk, passed: SearchAsk['extra'] = {}) {
  const endpoint = searxngFamily.endpoints[ask.surface];
  assert.ok(endpoint !== undefined);
  const call = endpoint.encode(ask, target, passed);
  return { ...call, form: Object.fromEntries(new URLSearchParams(call.body ?? '')) };
}

test('each surface has its category', () => {
  const categories = {
    web_search: 'general',
    ai_search: 'general',
    engine_images: 'images',
    engine_news: 'news',
    engine_videos: 'videos',
    engine_scholar: 'science',
    engine_maps: 'map',
  } as const;
  for (const [surface, category] of Object.entries(categories)) {
    const { form, method, url } = sent(askOf(surface as keyof typeof categories, 'alps'));
    assert.equal(`${method} ${url}`, 'POST https://search.example.com/prefix/search');
    assert.deepEqual([form.categories, form.format], [category, 'json']);
  }
  const suggested = sent(askOf('engine_autocomplete', 'al', { hl: 'de' }));
  assert.equal(suggested.url, 'https://search.example.com/prefix/autocompleter');
  assert.deepEqual(suggested.form, { q: 'al', language: 'de' });
});

test('a form is sent, as JSON would not be read', () => {
  const { headers, body, url } = sent(askOf('web_search', 'a&b=c ä'));
  assert.equal(headers['content-type'], 'application/x-www-form-urlencoded');
  assert.match(body ?? '', /^q=a%26b%3Dc\+%C3%A4&format=json&/);
  assert.doesNotMatch(url, /\?/);
});

test('known parameters are translated', () => {
  const { form } = sent(
    askOf('engine_news', 'alps', {
      page: 2,
      gl: 'ch',
      hl: 'de',
      safe: 'strict',
      timeRange: 'month',
      includeDomains: ['a.example'],
      excludeDomains: ['b.example'],
    }),
  );
  assert.deepEqual(form, {
    q: 'alps site:a.example -site:b.example',
    format: 'json',
    categories: 'news',
    pageno: '2',
    safesearch: '2',
    time_range: 'month',
    language: 'de-CH',
  });
});

test('a language of another form than ours passes, and others do not', () => {
  const takes = searxngFamily.takes ?? (() => assert.fail('it has forms'));
  assert.equal(takes('web_search', 'language', 'gsw-CH'), true);
  assert.equal(takes('web_search', 'language', '!images'), false);
  assert.equal(takes('web_search', 'language', ['de']), false);
  const { form } = sent(askOf('web_search', 'alps', { hl: 'de' }), { language: 'gsw-CH' });
  assert.equal(form.language, 'gsw-CH');
});

test('maps are told where by their query', () => {
  const { form } = sent(askOf('engine_maps', 'coffee', { location: '!Zurich :fr' }));
  assert.equal(form.q, 'coffee, Zurich fr');
});

test('a key is for the proxy in front of the server', () => {
  const endpoint = searxngFamily.endpoints.web_search;
  const call = endpoint?.encode(askOf('web_search', 'alps'), { ...target, apiKey: 'secret' }, {});
  assert.equal(call?.headers.authorization, 'Bearer secret');
});

test('commands of a query become words', () => {
  const words: [string, string][] = [
    ['!images alps', 'images alps'],
    ['!!g alps', 'g alps'],
    ['alps :fr <3', 'alps fr 3'],
    ['alps !', 'alps'],
    ['?wp alps', 'wp alps'],
    ['what is css !important?', 'what is css important?'],
    ['a<b a:b a!b', 'a<b a:b a!b'],
    ['!<:!wp', 'wp'],
    ['!!! ?', '"!!!?"'],
    // What Python takes for a space.
    ['alps\u001c!wp\u0085:fr\u3000<3', 'alps wp fr 3'],
  ];
  for (const [query, expected] of words) assert.equal(withoutCommands(query), expected);
});

test('no word of any query is a command', () => {
  const piece = fc.constantFrom('!', ':', '<', '?', 'a', '"', ' ', '\t', '\u001d', '\u0085', '漢');
  fc.assert(
    fc.property(fc.string({ unit: piece, minLength: 1 }), (query) => {
      const sentQuery = withoutCommands(query);
      assert.notEqual(sentQuery, '');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: as the server splits
      for (const word of sentQuery.split(/[\s\u001c-\u001f\u0085]+/)) {
        assert.doesNotMatch(word, /^[!:<?]/);
      }
    }),
  );
});
