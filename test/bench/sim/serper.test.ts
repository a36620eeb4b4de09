// The search family of the simulator. Its vendor has no client: the shapes are those that the
// clients of others read.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { post, statsOf } from './probe.ts';

const headers = { 'x-api-key': 'right' };
let sim: RunningSim;

before(async () => {
  sim = await startSim({ port: 0, key: 'right', seed: 7 });
});
after(() => sim.close());

type Reply = Record<string, Record<string, unknown>[]> & { credits: number };

async function search(body: object, kind = 'search'): Promise<Reply> {
  const reply = await post(sim, `/${kind}`, body, headers);
  assert.equal(reply.status, 200);
  return (await reply.json()) as Reply;
}

test('finds the same pages for the same query, others on the next page', async () => {
  const first = await search({ q: 'emperor penguins', num: 5 });
  assert.deepEqual(await search({ q: 'emperor penguins', num: 5 }), first);
  assert.equal(first.organic?.length, 5);
  assert.equal(first.credits, 1);
  const next = await search({ q: 'emperor penguins', num: 5, page: 2 });
  assert.notEqual(next.organic?.[0]?.link, first.organic?.[0]?.link);
  assert.equal((await search({ q: 'emperor penguins', num: 20 })).credits, 2);
  const [result] = first.organic ?? [];
  for (const name of ['title', 'link', 'snippet']) assert.equal(typeof result?.[name], 'string');
  assert.equal(result?.position, 1);
});

const lists: [string, string, string[]][] = [
  ['images', 'images', ['title', 'imageUrl', 'imageWidth', 'thumbnailUrl', 'source', 'link']],
  ['news', 'news', ['title', 'link', 'snippet', 'date', 'source', 'imageUrl']],
  ['videos', 'videos', ['title', 'link', 'snippet', 'duration', 'source', 'channel', 'date']],
  ['places', 'places', ['title', 'address', 'latitude', 'longitude', 'rating', 'cid']],
  ['maps', 'places', ['title', 'latitude', 'types', 'openingHours', 'placeId', 'fid']],
  ['shopping', 'shopping', ['title', 'source', 'link', 'price', 'imageUrl', 'productId']],
  ['scholar', 'organic', ['title', 'link', 'publicationInfo', 'snippet', 'year', 'citedBy']],
  ['autocomplete', 'suggestions', ['value']],
];

test('gives every kind of search its own list', async () => {
  for (const [kind, list, names] of lists) {
    const reply = await search({ q: 'coffee' }, kind);
    assert.equal(reply[list]?.length, 10, kind);
    for (const entry of reply[list] ?? []) {
      for (const name of names) assert.notEqual(entry[name], undefined, `${kind}.${name}`);
    }
  }
});

test('takes a directive in the query, and one for the search alone before it', async () => {
  const empty = await search({ q: 'nothing [[sim empty=1]]' });
  assert.deepEqual(empty.organic, []);
  const plain = await search({ q: 'coffee' });
  const directed = await search({ q: 'coffee [[sim tokens=3]]' });
  assert.deepEqual(directed.organic, plain.organic);
  const limited = { q: 'coffee [[search status=429 retry_after=9]] [[sim tokens=3]]' };
  const reply = await post(sim, '/search', limited, headers);
  assert.equal(reply.status, 429);
  assert.equal(reply.headers.get('retry-after'), '9');
  assert.equal(((await reply.json()) as { statusCode: number }).statusCode, 429);
  const own = { q: 'coffee [[search empty=1]] [[sim status=500]]' };
  assert.deepEqual((await search(own)).organic, []);
  const garbage = await post(sim, '/search', { q: 'coffee [[sim fault=garbage]]' }, headers);
  await assert.rejects(garbage.json());
  await assert.rejects(post(sim, '/search', { q: 'coffee [[sim fault=cut]]' }, headers));
});

test('refuses a wrong key and a missing query, and answers a batch', async () => {
  const wrong = await post(sim, '/search', { q: 'coffee' }, { 'x-api-key': 'wrong' });
  assert.deepEqual(
    [wrong.status, await wrong.json()],
    [403, { message: 'Unauthorized.', statusCode: 403 }],
  );
  assert.equal((await post(sim, '/search', {}, headers)).status, 400);
  const earlier = await statsOf(sim);
  const batch = await post(sim, '/search', [{ q: 'one' }, { q: 'two' }], headers);
  assert.equal(((await batch.json()) as unknown[]).length, 2);
  assert.equal((await statsOf(sim)).finished, earlier.finished + 1);
});
