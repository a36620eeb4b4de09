// Replies of Tavily: scored results, nothing at all, and what is no reply of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tavilyFamily } from '../../../../../media/providers/search/tavily/family.ts';
import { fc } from '../../../../harness/properties.ts';
import { testSeed } from '../../../../harness/seed.ts';
import { askOf } from '../ask.ts';
import { withJunk } from '../junk.ts';

const ask = askOf('ai_search', 'x');

const results = [
  {
    title: 'Swiss Alps',
    url: 'https://en.example.org/wiki/Swiss_Alps',
    content: 'The Alpine region of Switzerland.',
    score: 0.91,
    raw_content: null,
    favicon: 'https://en.example.org/favicon.ico',
  },
  {
    title: 'Avalanche',
    url: 'https://news.example.com/1',
    content: 'Snow fell.',
    score: 0.5,
    published_date: 'Sat, 03 Jan 2026 10:00:00 GMT',
    raw_content: 'Snow fell. Much of it.',
  },
];

const body = {
  query: 'swiss alps',
  follow_up_questions: ['How high are they?'],
  answer: 'They are high.',
  images: ['https://a.example/1.jpg', { url: 'https://a.example/2.jpg', description: 'Eiger' }],
  results,
  response_time: '1.09',
  auto_parameters: { topic: 'general' },
  usage: { credits: 1 },
  request_id: '7d3c',
};

const read = (value: unknown, asked = ask) => {
  const reading = tavilyFamily.endpoints.ai_search?.read(value, asked);
  assert.ok(reading !== undefined);
  return reading;
};

test('results are pages with score, content and date', () => {
  const reading = read(body);
  assert.ok(reading.state === 'read');
  assert.deepEqual(reading.readings, [
    {
      title: 'Swiss Alps',
      url: 'https://en.example.org/wiki/Swiss_Alps',
      snippet: 'The Alpine region of Switzerland.',
      content: 'The Alpine region of Switzerland.',
      score: 0.91,
      date: undefined,
    },
    {
      title: 'Avalanche',
      url: 'https://news.example.com/1',
      snippet: 'Snow fell.',
      content: 'Snow fell.',
      score: 0.5,
      date: 'Sat, 03 Jan 2026 10:00:00 GMT',
    },
  ]);
  assert.deepEqual(reading.related, ['How high are they?']);
  assert.equal(reading.isPartial, false);
});

test('its own answer, its credits, times and ids are not shown; pictures of both forms are', () => {
  const reading = read(body);
  assert.ok(reading.state === 'read');
  assert.deepEqual(Object.keys(reading.data).sort(), ['images', 'results']);
  assert.deepEqual(reading.data.images, body.images);
  assert.ok(!JSON.stringify(reading.data).includes('They are high'));
  assert.ok(!JSON.stringify(reading.data).includes('Much of it'));
});

test('an empty list is empty, and what has no list has failed', () => {
  assert.deepEqual(read({ query: 'x', results: [] }), { state: 'empty' });
  for (const wrong of [null, undefined, 7, 'text', [], {}, { results: {} }, { results: ['x'] }]) {
    assert.deepEqual(read(wrong), { state: 'failed' }, JSON.stringify(wrong));
  }
  assert.deepEqual(read({ detail: { error: 'x' } }), { state: 'failed' });
});

test('a later page is what lies behind the earlier ones', () => {
  const many = Array.from({ length: 20 }, (_, at) => ({ ...results[0], title: String(at + 1) }));
  const titlesOf = (page: number, limit: number) => {
    const reading = read({ results: many }, askOf('ai_search', 'x', { page, limit }));
    return reading.state === 'read' ? reading.readings.map(({ title }) => title) : reading.state;
  };
  assert.equal(titlesOf(1, 10)[0], '1');
  assert.equal(titlesOf(2, 10)[0], '11');
  assert.equal(titlesOf(3, 10), 'empty');
  assert.deepEqual(titlesOf(3, 8), ['17', '18', '19', '20']);
  assert.equal(titlesOf(2, 50), 'empty');
});

test(`no JSON makes the reader throw (seed ${testSeed})`, () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => void read(value)));
  fc.assert(fc.property(withJunk(body), (value) => void read(value)));
});
