// What SearXNG has that no other simulated search provider has: forms, categories, commands in the
// query, and a completion of what was typed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { resultOf } from '../../../bench/sim/results.ts';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { replyOf } from './searches.ts';

let sim: RunningSim;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
});
after(() => sim.close());

function ask(form: Record<string, string>, path = 'search'): Promise<Response> {
  return fetch(`http://127.0.0.1:${sim.port}/searxng/${path}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
}

type Row = Record<string, unknown>;

async function results(form: Record<string, string>): Promise<Row[]> {
  const reply = await ask({ format: 'json', ...form });
  assert.equal(reply.status, 200);
  return (await replyOf(reply)).results as Row[];
}

const members: Record<string, string[]> = {
  general: ['content', 'engines', 'positions', 'score', 'parsed_url'],
  images: ['img_src', 'thumbnail_src', 'resolution', 'img_format', 'source'],
  news: ['publishedDate', 'thumbnail'],
  videos: ['length', 'author', 'thumbnail'],
  map: ['latitude', 'longitude', 'boundingbox', 'address', 'data', 'links'],
  science: ['authors', 'journal', 'doi', 'tags', 'publishedDate'],
};

test('gives each category its own members, and the same pages', async () => {
  for (const [category, names] of Object.entries(members)) {
    const rows = await results({ q: 'coffee', categories: category });
    assert.equal(rows.length, 10);
    for (const row of rows) {
      assert.equal(row.category, category);
      for (const name of names) assert.notEqual(row[name], undefined, `${category}.${name}`);
    }
    assert.equal(rows[0]?.url, resultOf('coffee', 1).link);
  }
});

test('goes on from page to page, and counts none', async () => {
  const [first] = await results({ q: 'coffee', pageno: '3' });
  assert.equal(first?.url, resultOf('coffee', 21).link);
  const counted = await results({ q: 'coffee', num: '3', limit: '3' });
  assert.equal(counted.length, 10);
});

test('words in the query command it', async () => {
  const [picture] = await results({ q: '!images coffee', categories: 'news' });
  assert.equal(picture?.category, 'images');
  assert.equal(picture?.url, resultOf('coffee', 1).link);
  const moved = await ask({ q: '!!g coffee', format: 'json' });
  assert.equal(moved.status, 302);
  assert.ok(!moved.headers.get('location')?.includes('127.0.0.1'));
});

test('refuses what it cannot read, and formats that are off', async () => {
  const refusals: [Record<string, string>, string][] = [
    [{ format: 'json' }, 'No query'],
    [{ q: 'x', pageno: '0' }, 'Invalid value "0" for parameter pageno'],
    [{ q: 'x', safesearch: '3' }, 'Invalid value "3" for parameter safesearch'],
    [{ q: 'x', time_range: 'hour' }, 'Invalid value "hour" for parameter time_range'],
    [{ q: 'x', language: '??' }, 'Invalid value "??" for parameter language'],
  ];
  for (const [form, error] of refusals) {
    const reply = await ask({ format: 'json', ...form });
    assert.deepEqual([reply.status, await reply.json()], [400, { error }]);
  }
  const off = await ask({ q: 'x', format: 'csv' });
  assert.deepEqual(
    [off.status, off.headers.get('content-type')],
    [403, 'text/html; charset=utf-8'],
  );
  const json = await fetch(`http://127.0.0.1:${sim.port}/searxng/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ q: 'coffee', format: 'json' }),
  });
  assert.notEqual(json.status, 200);
});

test('completes what was typed, for browsers and for scripts', async () => {
  const browser = (await (await ask({ q: 'cof' }, 'autocompleter')).json()) as unknown[];
  assert.equal(browser[0], 'cof');
  assert.equal((browser[1] as unknown[]).length, 10);
  assert.deepEqual(browser.slice(2, 4), [[], []]);
  const script = await fetch(`http://127.0.0.1:${sim.port}/searxng/autocompleter?q=cof`, {
    headers: { 'x-requested-with': 'XMLHttpRequest' },
  });
  assert.deepEqual(await script.json(), browser[1]);
  const empty = (await (await ask({ q: 'cof [[search empty=1]]' }, 'autocompleter')).json()) as [
    string,
    unknown[],
  ];
  assert.deepEqual(empty[1], []);
});
