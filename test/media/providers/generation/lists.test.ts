// Replies of other people's servers that are lists: of search results and of models. Whatever a
// member of one is, the rest is read, and nobody may send more than we take.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, test } from 'node:test';
import { createWebSearch } from '../../../../actors/search/web-search.ts';
import { discoverModels } from '../../../../media/providers/generation/discover.ts';
import { probeTarget } from '../../../../media/providers/generation/probe.ts';
import { createSearchClient } from '../../../../media/providers/search/call.ts';
import { deskOf, searchSurface, searchTarget } from '../../../harness/search-surface.ts';

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  open.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serveJson = (value: unknown) => serve((_, reply) => reply.end(JSON.stringify(value)));

/** Writes until it is stopped; says how much was taken. */
async function serveEndless(
  head: string,
  filler: string,
): Promise<{ url: string; sent(): number }> {
  let bytes = 0;
  const url = await serve((_, reply) => {
    reply.write(head);
    const more = () => {
      while (!reply.destroyed && reply.write(filler)) bytes += filler.length;
    };
    reply.on('drain', more);
    more();
  });
  return { url, sent: () => bytes };
}

const targetOf = (baseUrl: string, family: string) => ({
  routeId: 'lists/one',
  family,
  baseUrl,
  apiKey: null,
  upstreamModel: 'größe',
});

const client = createSearchClient({ connectionsMax: 1 });
const { desk, stop } = deskOf({ client });
const web = createWebSearch(desk);
after(async () => {
  await stop();
  await client.close();
});

function search(url: string, { signal } = new AbortController()) {
  const target = searchTarget('lists/one', targetOf(url, 'serper'));
  // As a surface that is not offered for queries: nothing of it is kept.
  const surface = searchSurface([target], { priceMicros: null });
  const place = { surface, accountId: 'acc_1', hitsMax: 8 };
  return web.search(place, { query: 'q', locale: null }, signal);
}

test('a result that is not as expected costs itself only', async () => {
  const url = await serveJson({
    answerBox: null,
    organic: [null, { title: 'a', link: 'https://a.example', snippet: null, date: 7 }, 'text'],
  });
  const found = await search(url);
  assert.deepEqual(found, [{ title: 'a', url: 'https://a.example/', snippet: '', date: null }]);
  const boxed = await serveJson({
    answerBox: { answer: '4', link: 'https://b.example', title: 1 },
  });
  const [hit] = (await search(boxed)) ?? [];
  assert.deepEqual(hit?.snippet, '4');
});

test('a result takes no more of a prompt than its share, in whole characters', async () => {
  const link = 'https://a.example/';
  const long = `x${'😀'.repeat(10_000)}`;
  const url = await serveJson({
    organic: [
      { title: long, link, snippet: long, date: long },
      { title: 'an address that is none', link: link + 'x'.repeat(2_048), snippet: 'a' },
      { link: link + 'x'.repeat(2_000), snippet: 'b' },
    ],
  });
  const [first, second, ...others] = (await search(url)) ?? [];
  assert.deepEqual(others, []);
  assert.deepEqual(first, {
    title: `x${'😀'.repeat(99)}`,
    url: link,
    snippet: `x${'😀'.repeat(499)}`,
    date: `x${'😀'.repeat(49)}`,
  });
  assert.deepEqual([second?.title, second?.snippet], ['a.example', 'b']);
});

test('a search that is given up before it begins asks nobody', async () => {
  let asked = 0;
  const url = await serve((_, reply) => {
    asked += 1;
    reply.end('{"organic":[]}');
  });
  const left = new AbortController();
  left.abort();
  assert.equal(await search(url, left), null);
  assert.equal(asked, 0);
});

test('a list of models without an end is left when it is too long', async () => {
  const { url, sent } = await serveEndless('{"data":[', '{"id":"model"},'.repeat(1_000));
  const reason = 'the list is too long';
  assert.deepEqual(await discoverModels(url, null), { status: 'failed', reason });
  // What lies in the sockets' buffers was sent as well.
  assert.ok(sent() < 16 * 1_048_576, `${sent()} bytes were taken`);
});

test('a name is read whole, wherever its bytes are parted', async () => {
  const list = Buffer.from(JSON.stringify({ data: [{ id: 'größe' }] }));
  const cut = list.indexOf('ö') + 1;
  const url = await serve((request, reply) => {
    if (request.url !== '/models') return reply.writeHead(404).end();
    reply.write(list.subarray(0, cut));
    return void setTimeout(() => reply.end(list.subarray(cut)), 100);
  });
  const models = ['größe'];
  assert.deepEqual(await discoverModels(url, null), { status: 'listed', models });
  const probed = await probeTarget(targetOf(url, 'openai-chat'), 60_000);
  assert.equal(probed.failure, null);
});

test('of a provider of videos a probe asks for the model alone', async () => {
  const calls: unknown[] = [];
  const url = await serve(({ method, url: path, headers }, reply) => {
    calls.push([method, path, headers['x-goog-api-key'] ?? headers.authorization]);
    reply.end('{}');
  });
  for (const family of ['google-veo', 'xai-imagine', 'openai-videos']) {
    const target = { ...targetOf(`${url}/v1`, family), apiKey: 'k', upstreamModel: 'film' };
    assert.equal((await probeTarget(target, 2_000)).failure, null);
  }
  assert.deepEqual(calls, [
    ['GET', '/v1/models/film', 'k'],
    ['GET', '/v1/models/film', 'Bearer k'],
    ['GET', '/v1/models/film', 'Bearer k'],
  ]);
});
