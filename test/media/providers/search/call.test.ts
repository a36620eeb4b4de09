// The call of search providers against a server that answers as it is told. Each answer has its
// outcome, and nothing of a provider stands in what is told of a failure.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { createSearchClient } from '../../../../media/providers/search/call.ts';
import type { SearchAsk, SearchOutcome } from '../../../../media/search/contract.ts';
import { freePort } from '../../../harness/port.ts';
import { type ScriptedServer, startScriptedServer } from '../../../harness/scripted-server.ts';
import { askOf, targetOf } from './ask.ts';
import { replies as listed } from './searxng/replies.ts';
import { replies } from './serper/replies.ts';

type Behaviour = (response: ServerResponse) => void;

const key = 'marked-key-of-the-provider';
const query = 'marked query';
const words = 'marked words of the provider';

let server: ScriptedServer<Behaviour>;
const client = createSearchClient({ connectionsMax: 4 });
let asked: { url: string; body: string }[] = [];

before(async () => {
  server = await startScriptedServer<Behaviour>(
    json(200, replies.search),
    (behaviour, exchange) => {
      asked.push({ url: exchange.request.url ?? '', body: exchange.body.toString() });
      behaviour(exchange.response);
    },
  );
});
beforeEach(() => {
  asked = [];
});
after(async () => {
  await client.close();
  server.close();
});

function json(status: number, body: unknown, headers: Record<string, string> = {}): Behaviour {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  };
}

interface Asking {
  family?: string;
  ask?: SearchAsk;
  deadlineMs?: number;
  signal?: AbortSignal;
  baseUrl?: string;
}

async function search(behaviour: Behaviour, asking: Asking = {}): Promise<SearchOutcome> {
  server.behaviour = behaviour;
  const { family = 'serper', ask = askOf('web_search', query), baseUrl = server.url } = asking;
  const { deadlineMs = 5_000, signal = new AbortController().signal } = asking;
  const outcome = await client.search(targetOf(family, baseUrl, key), ask, { deadlineMs, signal });
  const told = JSON.stringify('detail' in outcome ? outcome : outcome.dataJson);
  for (const secret of [key, words, new URL(baseUrl).host, '[[']) {
    assert.equal(told.includes(secret), false, told);
  }
  if ('detail' in outcome) assert.doesNotMatch(outcome.detail, /marked/);
  return outcome;
}

test('results of a reply are found, with what is shown of it', async () => {
  const outcome = await search(json(200, replies.search));
  assert.ok(outcome.state === 'found');
  assert.deepEqual(
    outcome.items.map(({ position, url }) => [position, url]),
    [
      [1, 'https://mountains.example.com/mont-blanc'],
      [2, 'https://alps.example.org/'],
    ],
  );
  assert.deepEqual(outcome.related.slice(0, 2), ['alps map', 'alps hotels']);
  const data = JSON.parse(outcome.dataJson) as Record<string, unknown>;
  assert.ok('organic' in data && !('credits' in data));
  assert.deepEqual([outcome.isTruncated, outcome.ignored], [false, []]);
  assert.deepEqual(asked, [{ url: '/v1/search', body: `{"q":"${query}","num":10}` }]);
});

test('parameters that the family does not take are named', async () => {
  const extra = { autocorrect: false, tbs: 'a b', device: 'mobile', toString: 'x' };
  const ask = askOf('web_search', query, {}, extra);
  const outcome = await search(json(200, replies.search), { ask });
  assert.ok('ignored' in outcome);
  assert.deepEqual(outcome.ignored, ['tbs', 'device', 'toString']);
  assert.match(asked[0]?.body ?? '', /"autocorrect":false/);
  const empty = await search(json(200, { searchParameters: {}, organic: [] }), { ask });
  assert.ok('ignored' in empty && empty.ignored.length === 3);
});

test('a reply without results is empty', async () => {
  const outcome = await search(json(200, { searchParameters: {}, organic: [] }));
  assert.deepEqual(outcome, {
    state: 'empty',
    items: [],
    related: [],
    dataJson: '{}',
    isTruncated: false,
    ignored: [],
  });
});

test('engines that did not answer make it partial, or failed where nothing came', async () => {
  const silent = { unresponsive_engines: [['example', words]] };
  const some = await search(json(200, { ...listed.general, ...silent }), { family: 'searxng' });
  assert.equal(some.state, 'partial');
  const none = await search(json(200, { results: [], ...silent }), { family: 'searxng' });
  assert.equal(none.state, 'failed');
});

test('results of which none is one have failed', async () => {
  const organic = [{ snippet: 'no title, no address' }, { title: 'no address' }, 7];
  const outcome = await search(json(200, { searchParameters: {}, organic }));
  assert.equal(outcome.state, 'failed');
});

test('each refusal has its class', async () => {
  const error = { message: words };
  const refusals: [Behaviour, SearchOutcome['state']][] = [
    [json(400, error), 'refused'],
    [json(422, error), 'refused'],
    [json(401, error), 'credential'],
    [json(403, error), 'credential'],
    // A firewall before the provider took the words for an attack: others may ask.
    [json(403, ` \n<html>${words}</html>`), 'refused'],
    [json(403, `<html>${words.repeat(10_000)}</html>`), 'refused'],
    [json(403, ''), 'credential'],
    [json(401, `<html>${words}</html>`), 'credential'],
    [json(400, { message: 'Not enough credits', statusCode: 400 }), 'exhausted'],
    [json(402, error), 'exhausted'],
    [json(429, error), 'busy'],
    [json(404, error), 'failed'],
    [json(500, error), 'failed'],
    [json(503, words.repeat(10_000)), 'failed'],
    [json(204, ''), 'failed'],
  ];
  for (const [behaviour, state] of refusals) {
    const outcome = await search(behaviour);
    assert.equal(outcome.state, state);
    assert.ok('detail' in outcome);
    assert.match(outcome.detail, /^serper web_search: status \d{3}$/);
    assert.equal(outcome.retryAfterMs, null);
  }
});

test('how long a busy provider asks to wait is told, up to a minute', async () => {
  for (const [header, waitMs] of [
    ['7', 7_000],
    ['3600', 60_000],
    ['soon', null],
  ] as const) {
    const outcome = await search(json(429, { message: words }, { 'retry-after': header }));
    assert.ok(outcome.state === 'busy');
    assert.equal(outcome.retryAfterMs, waitMs);
  }
});

test('a redirect is not followed', async () => {
  const location = `${server.url}/elsewhere`;
  for (const family of ['serper', 'searxng']) {
    asked = [];
    const outcome = await search(json(302, '', { location }), { family });
    assert.equal(outcome.state, 'failed');
    assert.equal(asked.length, 1);
  }
});

test('what is no JSON has failed', async () => {
  const text = JSON.stringify(replies.search);
  for (const body of [
    text.slice(0, -20),
    '',
    '<html></html>',
    `{"organic":[${'['.repeat(2_000)}`,
  ]) {
    assert.equal((await search(json(200, body))).state, 'failed');
  }
  const bytes = Buffer.from([0x22, 0xff, 0xfe, 0x22]);
  assert.equal((await search((response) => response.end(bytes))).state, 'failed');
});

test('a reply of more than 2 MiB has failed before all of it came', async () => {
  let isCut = false;
  const outcome = await search((response) => {
    response.on('close', () => {
      isCut = !response.writableFinished;
    });
    response.writeHead(200).write(`{"organic":["${'a'.repeat(3 * 1_024 * 1_024)}"`);
  });
  assert.ok(outcome.state === 'failed');
  assert.match(outcome.detail, /too long$/);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(isCut);
});

test('a reply that is cut has failed, and a refusal that is cut is one', async () => {
  const cut =
    (status: number): Behaviour =>
    (response) => {
      response.writeHead(status, { 'content-length': '1000', 'retry-after': '2' });
      response.write('{"organic":[');
      setTimeout(() => response.destroy(), 20);
    };
  assert.equal((await search(cut(200))).state, 'failed');
  const busy = await search(cut(429));
  assert.deepEqual(['retryAfterMs' in busy && busy.retryAfterMs, busy.state], [2_000, 'busy']);
});

test('a provider that hangs is given up at the deadline', async () => {
  const hang: Behaviour = () => undefined;
  const stall: Behaviour = (response) => {
    response.writeHead(200).write('{"organic":[');
  };
  for (const behaviour of [hang, stall]) {
    const startedMs = performance.now();
    const outcome = await search(behaviour, { deadlineMs: 100 });
    assert.equal(outcome.state, 'timeout');
    assert.ok(performance.now() - startedMs >= 100);
  }
  const refusing: Behaviour = (response) => {
    response.writeHead(403).write('{');
  };
  assert.equal((await search(refusing, { deadlineMs: 100 })).state, 'credential');
});

test('whoever leaves gets the provider given up', async () => {
  const controller = new AbortController();
  let isGivenUp: (value: true) => void = () => undefined;
  const givenUp = new Promise<true>((resolve) => {
    isGivenUp = resolve;
  });
  const outcome = await search(
    (response) => {
      response.on('close', () => isGivenUp(true));
      setTimeout(() => controller.abort(), 20);
    },
    { signal: controller.signal },
  );
  assert.equal(outcome.state, 'aborted');
  assert.equal(await givenUp, true);
  asked = [];
  const early = await search(json(200, replies.search), { signal: AbortSignal.abort() });
  assert.deepEqual([early.state, asked.length], ['aborted', 0]);
});

test('a provider that is not there has failed, and so has a key that is no header', async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  assert.equal((await search(json(200, {}), { baseUrl: nowhere })).state, 'failed');
  const { signal } = new AbortController();
  const target = targetOf('serper', server.url, 'a\r\nx-other: b');
  const ask = askOf('web_search', query);
  const outcome = await client.search(target, ask, { deadlineMs: 1_000, signal });
  assert.deepEqual(outcome, {
    state: 'failed',
    retryAfterMs: null,
    detail: 'serper web_search: no reply',
  });
});

test('a kept connection that its server has closed is no failure', async () => {
  await search(json(200, replies.search));
  const outcome = await search((response) => {
    server.behaviour = json(200, replies.search);
    response.destroy();
  });
  assert.equal(outcome.state, 'found');
  assert.equal(asked.length, 3);
});

test('a family that does not serve the surface, or is none, asks nobody', async () => {
  const ask = askOf('engine_flights', 'ZRH JFK');
  for (const family of ['serper', 'searxng', 'unknown']) {
    const outcome = await search(json(200, {}), { family, ask });
    assert.equal(outcome.state, 'failed');
  }
  assert.deepEqual(asked, []);
});

test('neither the key nor the host of the provider is shown where it repeats them', async () => {
  const { host } = new URL(server.url);
  const organic = [
    { title: `Page ${key}`, link: 'https://a.example/', snippet: key },
    { title: 'Page', link: 'https://b.example/', imageUrl: `http://${host}/proxy?u=b` },
  ];
  const outcome = await search(json(200, { searchParameters: {}, organic }));
  assert.ok('dataJson' in outcome);
  assert.doesNotMatch(JSON.stringify(outcome), new RegExp(key));
  assert.match(outcome.dataJson, /b\.example/);
});

test('closing ends what runs', async () => {
  const other = createSearchClient({ connectionsMax: 1 });
  const { signal } = new AbortController();
  const ask = askOf('web_search', query);
  server.behaviour = () => undefined;
  const running = other.search(targetOf('serper', server.url), ask, { deadlineMs: 9_000, signal });
  const waiting = other.search(targetOf('serper', server.url), ask, { deadlineMs: 9_000, signal });
  await new Promise((resolve) => setTimeout(resolve, 30));
  await other.close();
  assert.deepEqual([(await running).state, (await waiting).state], ['aborted', 'aborted']);
});
