// The path of a request through the kernel, over real sockets.
import { strict as assert } from 'node:assert';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import type { Exchange } from '../../../runtime/http/route.ts';
import { Problem } from '../../../runtime/problem.ts';
import { chatSchema, exchangeRaw, type Serving, serve, testRoute, until } from './serving.ts';

let serving: Serving;
const seen: Record<string, unknown>[] = [];
let held: (() => void) | null = null;

before(async () => {
  serving = await serve(
    [
      testRoute({
        path: '/v1/items/{item_id}/parts/{index}',
        aliases: ['/api/v1/items/{item_id}/parts/{index}'],
        params: v.strictObject({ item_id: v.string(), index: v.pipe(v.number(), v.integer()) }),
        query: v.strictObject({
          limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)), 20),
          deep: v.optional(v.boolean()),
          tag: v.optional(v.array(v.string())),
        }),
        handle: ({ params, query }) => ({ status: 200, json: { params, query } }),
      }),
      testRoute({
        method: 'POST',
        path: '/v1/echo',
        headers: { 'x-declared': { description: 'read after the first turn' } },
        body: { kind: 'json', schema: chatSchema, bytesMax: 10_000 },
        handle: async ({ body, exchange, caller }) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          const headers = ['x-declared', 'x-forwarded-for', 'x-undeclared'].map((name) =>
            exchange.header(name),
          );
          return { status: 201, json: { body, headers, caller, path: exchange.path } };
        },
      }),
      testRoute({
        path: '/v1/crash',
        handle: () => {
          throw new Error('secret detail');
        },
      }),
      testRoute({
        path: '/v1/crash/later',
        handle: () => Promise.reject(new Error('secret detail')),
      }),
      testRoute({ path: '/v1/unserialisable', handle: () => ({ status: 200, json: 1n }) }),
      testRoute({
        path: '/v1/held',
        handle: ({ exchange }) => {
          exchange.onAbort(() => seen.push({ aborted: exchange.requestId }));
          exchange.onFinish(() => seen.push({ finished: exchange.requestId }));
          return new Promise((resolve) => {
            held = () => resolve({ status: 200, text: 'late', mediaType: 'text/plain' });
          });
        },
      }),
      testRoute({
        path: '/v1/inject',
        handle: ({ exchange }) => {
          exchange.setHeader('x-echo', exchange.header('x-declared') ?? 'a\r\nx-evil: 1');
          return { status: 200, json: {}, headers: { 'x-other': 'b\r\n\r\nbody' } };
        },
        headers: { 'x-declared': { description: '' } },
      }),
      testRoute({ path: '/api/me', access: 'user', cors: 'web', handle: okay }),
      testRoute({ path: '/api/late', access: 'late', cors: 'none', handle: okay }),
      testRoute({
        path: '/v1/big',
        handle: () => ({
          status: 200,
          bytes: Buffer.alloc(5_000_000, 7),
          mediaType: 'application/octet-stream',
        }),
      }),
      testRoute({
        path: '/v1/long',
        handle: () => ({ status: 200, text: 'x'.repeat(100_000), mediaType: 'text/plain' }),
      }),
    ],
    { authorize },
  );
});
after(() => serving.stop());

function okay() {
  return { status: 200, json: { ok: true } };
}

function authorize(access: string, exchange: Exchange): string | Promise<string> {
  if (access === 'user' && exchange.header('cookie') === undefined) {
    throw new Problem('unauthenticated');
  }
  if (access === 'late') return Promise.reject(new Problem('session_expired'));
  return access;
}

const get = (path: string, init: RequestInit = {}) => fetch(serving.origin + path, init);
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  get(path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

test('path parameters and query fields arrive decoded and typed', async () => {
  const reply = await get('/v1/items/a%2Fb%20%C3%A9/parts/7?limit=5&deep=true&tag=x&extra');
  assert.equal(reply.status, 400);
  assert.deepEqual(await reply.json(), {
    error: {
      message: "Unknown property 'extra'.",
      type: 'invalid_request_error',
      code: 'invalid_request',
      param: 'extra',
    },
  });
  const good = await get('/api/v1/items/a%2Fb%20%C3%A9/parts/7?limit=5&deep=true&tag=x');
  assert.deepEqual(await good.json(), {
    params: { item_id: 'a/b é', index: 7 },
    query: { limit: 5, deep: true, tag: ['x'] },
  });
});

test('wrong parameters name their field', async () => {
  for (const [path, param] of [
    ['/v1/items/a/parts/seven', 'index'],
    ['/v1/items/%ff/parts/7', 'item_id'],
    ['/v1/items/a%00/parts/7', 'item_id'],
    ['/v1/items/a/parts/7?tag=%00', 'tag'],
    ['/v1/items/a/parts/7?limit=101', 'limit'],
    ['/v1/items/a/parts/7?limit=1&limit=2', 'limit'],
    ['/v1/items/a/parts/7?limit=1e1', 'limit'],
    ['/v1/items/a/parts/7?limit=1.5', 'limit'],
  ] as const) {
    const reply = await get(path);
    assert.equal(reply.status, 400, path);
    const { error } = (await reply.json()) as { error: { param: string; message: string } };
    assert.equal(error.param, param, path);
    assert.doesNotMatch(error.message, /function|native code/, path);
  }
});

test('a JSON body is validated and headers outlive the first turn', async () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'hé' }] };
  const reply = await post('/v1/echo', JSON.stringify(body), {
    'x-declared': 'yes',
    'x-undeclared': 'no',
    'x-forwarded-for': '203.0.113.7',
  });
  assert.equal(reply.status, 201);
  assert.deepEqual(await reply.json(), {
    body,
    headers: ['yes', '203.0.113.7', null],
    caller: 'none',
    path: '/v1/echo',
  });
});

test('a schema violation names the field by its path', async () => {
  const cases: [unknown, string | null][] = [
    [{ model: 'm', messages: [{ role: 'user', content: 4 }] }, 'messages[0].content'],
    [
      { model: 'm', messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'messages[0].content[0].text',
    ],
    [{ model: 'm', messages: [{ role: 'nobody', content: '' }] }, 'messages[0].role'],
    [{ model: 'm', messages: [{ role: 'user', content: '', extra: 1 }] }, 'messages[0].extra'],
    [{ model: 'm', messages: [] }, 'messages'],
    [{ messages: [] }, 'model'],
    [{ model: '', messages: [] }, 'model'],
    [[], null],
    ['text', null],
    [null, null],
  ];
  for (const [body, param] of cases) {
    const reply = await post('/v1/echo', JSON.stringify(body));
    assert.equal(reply.status, 400);
    const { error } = (await reply.json()) as { error: Record<string, unknown> };
    assert.equal(error.param, param, JSON.stringify(body));
    assert.equal(error.code, 'invalid_request');
  }
});

test("unknown paths are 404, wrong methods 405 with Allow, in the path's envelope", async () => {
  const unknown = await get('/v1/nothing');
  assert.equal(unknown.status, 404);
  const { error } = (await unknown.json()) as { error: { code: string; message: string } };
  assert.equal(error.code, 'not_found');
  // A wrong base URL or a slash too many is seen at once: what arrived here is told.
  assert.equal(error.message, 'There is no route GET /v1/nothing: /docs lists them.');
  const long = (await (await post(`/v1/${'a'.repeat(2_000)}`, '{}')).json()) as {
    error: { message: string };
  };
  assert.match(long.error.message, /^There is no route POST \/v1\/a+…: \/docs lists them\.$/);
  assert.ok(long.error.message.length < 200);
  const api = await get('/api/nothing');
  assert.equal(((await api.json()) as { ok: boolean }).ok, false);
  const wrong = await post('/v1/items/a/parts/7', '{}');
  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers.get('allow'), 'GET, HEAD, OPTIONS');
  const odd = await exchangeRaw(
    serving.port,
    'BREW /v1/echo HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
  );
  assert.match(odd, /^HTTP\/1\.1 405 /);
});

test('request ids are echoed when well-formed and replaced when not', async () => {
  const good = await get('/v1/nothing', { headers: { 'x-request-id': 'a.B_9:-' } });
  assert.equal(good.headers.get('x-request-id'), 'a.B_9:-');
  for (const bad of ['has space', 'x'.repeat(129), 'é', 'a;b']) {
    const reply = await get('/v1/nothing', { headers: { 'x-request-id': bad } });
    assert.match(reply.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  }
  const ids = await Promise.all(
    [1, 2].map(async () => (await get('/v1/nothing')).headers.get('x-request-id')),
  );
  assert.notEqual(ids[0], ids[1]);
});

test('nothing that a client or a handler says can start a header line', async () => {
  const raw = await exchangeRaw(
    serving.port,
    'GET /v1/inject HTTP/1.1\r\nhost: x\r\nx-declared: a\tb\r\nconnection: close\r\n\r\n',
  );
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  assert.doesNotMatch(head, /^x-evil/im);
  assert.match(head, /x-echo: a b/);
  assert.match(head, /x-other: b {4}body/);
  assert.deepEqual(rest, ['{}']);
});

test('an unexpected throw is a logged 500 that leaks nothing', async () => {
  for (const path of ['/v1/crash', '/v1/crash/later', '/v1/unserialisable']) {
    serving.logged.length = 0;
    const reply = await get(path, { headers: { 'x-request-id': 'crash-1' } });
    assert.equal(reply.status, 500);
    const text = await reply.text();
    assert.doesNotMatch(text, /secret|Error|BigInt/);
    assert.match(text, /"code":"internal"/);
    assert.equal(serving.logged.length, 1, path);
    assert.equal(serving.logged[0]?.requestId, 'crash-1');
  }
});

test('problems of access answer with their headers, early or late', async () => {
  const early = await get('/api/me');
  assert.equal(early.status, 401);
  assert.equal(early.headers.get('www-authenticate'), 'Bearer');
  const late = await get('/api/late');
  assert.equal(late.status, 401);
  assert.equal(((await late.json()) as { error: { code: string } }).error.code, 'session_expired');
});

test('HEAD answers like GET without the body', async () => {
  const reply = await get('/v1/items/a/parts/7', { method: 'HEAD' });
  assert.equal(reply.status, 200);
  const body = await (await get('/v1/items/a/parts/7')).text();
  assert.equal(reply.headers.get('content-length'), String(Buffer.byteLength(body)));
  assert.equal(await reply.text(), '');
});

test('a connection goes on behind HEAD, also behind a refused one', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const asked = (path: string, method: string): Promise<[number | undefined, boolean]> =>
    new Promise((resolve, reject) => {
      const call = request({ port: serving.port, path, method, agent }, (reply) => {
        reply.resume().on('end', () => resolve([reply.statusCode, call.reusedSocket]));
      });
      call.on('error', reject).end();
    });
  try {
    assert.deepEqual(await asked('/v1/items/a/parts/7', 'HEAD'), [200, false]);
    assert.deepEqual(await asked('/v1/items/a/parts/7', 'GET'), [200, true]);
    assert.deepEqual(await asked('/v1/nowhere', 'HEAD'), [404, true]);
    assert.deepEqual(await asked('/api/me', 'HEAD'), [401, true]);
    assert.deepEqual(await asked('/v1/items/a/parts/7', 'GET'), [200, true]);
  } finally {
    agent.destroy();
  }
});

test('media types: 415 for what cannot be read, 406 for what cannot be sent', async () => {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: '' }] });
  const types: [string, number][] = [
    ['application/json; charset=utf-8', 201],
    ['application/vnd.api+json', 201],
    ['APPLICATION/JSON', 201],
    ['text/plain', 415],
    ['application/jsonp', 415],
    ['multipart/form-data; boundary=x', 415],
  ];
  for (const [type, status] of types) {
    assert.equal((await post('/v1/echo', body, { 'content-type': type })).status, status, type);
  }
  const encodings: [string, number][] = [
    ['identity', 201],
    ['gzip', 415],
    ['br', 415],
    ['identity, gzip', 415],
  ];
  for (const [encoding, status] of encodings) {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
    assert.equal((await post('/v1/echo', body, headers)).status, status, encoding);
  }
  const accepts: [string, number][] = [
    ['*/*', 404],
    ['text/html, */*;q=0.1', 404],
    ['application/json', 404],
    ['text/event-stream', 404],
    ['application/*', 404],
    ['text/html', 406],
    ['application/xml;q=0.9, image/png', 406],
  ];
  for (const [accept, status] of accepts) {
    const expected = status === 404 ? 500 : status;
    assert.equal((await get('/v1/crash', { headers: { accept } })).status, expected, accept);
  }
});

test('cross-origin rules: public for everybody, web for one origin with credentials', async () => {
  const anyone = await get('/v1/items/a/parts/7', { headers: { origin: 'https://other.example' } });
  assert.equal(anyone.headers.get('access-control-allow-origin'), '*');
  assert.match(anyone.headers.get('access-control-expose-headers') ?? '', /x-request-id/);
  const refused = await get('/v1/nothing', { headers: { origin: 'https://other.example' } });
  assert.equal(refused.headers.get('access-control-allow-origin'), '*');
  const web = await get('/api/me', { headers: { origin: 'https://web.example' } });
  assert.equal(web.headers.get('access-control-allow-origin'), 'https://web.example');
  assert.equal(web.headers.get('access-control-allow-credentials'), 'true');
  const stranger = await get('/api/me', { headers: { origin: 'https://other.example' } });
  assert.equal(stranger.headers.get('access-control-allow-origin'), null);
  assert.equal(stranger.headers.get('vary'), 'origin');
  const none = await get('/api/late', { headers: { origin: 'https://web.example' } });
  assert.equal(none.headers.get('access-control-allow-origin'), null);
});

test('a preflight is answered with methods, asked headers and an age', async () => {
  const preflight = await get('/v1/echo', {
    method: 'OPTIONS',
    headers: {
      origin: 'https://other.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, x-stainless-os',
    },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
  assert.equal(preflight.headers.get('access-control-allow-methods'), 'POST, OPTIONS');
  assert.equal(
    preflight.headers.get('access-control-allow-headers'),
    'authorization, x-stainless-os',
  );
  assert.equal(preflight.headers.get('access-control-max-age'), '7200');
  assert.equal(preflight.headers.get('content-length'), null);
});

test('a preflight for a path that nobody has lets the page read its 404', async () => {
  const asked = { 'access-control-request-method': 'PUT' };
  const headers = { origin: 'https://other.example', ...asked };
  const preflight = await get('/v1/nothing', { method: 'OPTIONS', headers });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
  assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /\bPUT\b/);
  const refused = await get('/v1/nothing', { method: 'PUT' });
  assert.equal(refused.status, 404);
  assert.equal(refused.headers.get('access-control-allow-origin'), '*');
  // Who asks for the methods is told that there are none.
  assert.equal((await get('/v1/nothing', { method: 'OPTIONS' })).status, 404);
});

test('a client that leaves is noticed, and the late reply goes nowhere', async () => {
  seen.length = 0;
  held = null;
  const client = request({
    port: serving.port,
    path: '/v1/held',
    headers: { 'x-request-id': 'gone' },
  });
  client.on('error', () => undefined);
  client.end();
  await until(() => held !== null);
  client.destroy();
  await until(() => seen.length === 2);
  assert.deepEqual(seen, [{ aborted: 'gone' }, { finished: 'gone' }]);
  (held as (() => void) | null)?.();
  await until(() => serving.server.counts().exchanges === 0);
  assert.equal(serving.samples.at(-1)?.status, 499);
});

test('pipelined requests are answered in order while they are answered at once', async () => {
  const one = (n: number) => `GET /v1/items/a/parts/${n} HTTP/1.1\r\nhost: x\r\n\r\n`;
  const last = 'GET /v1/nothing HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
  const raw = await exchangeRaw(serving.port, one(1) + one(2) + one(3) + last);
  assert.deepEqual(raw.match(/"index":\d/g), ['"index":1', '"index":2', '"index":3']);
  assert.match(raw, /404 Not Found/);
});

test('a reply larger than the socket takes arrives whole', async () => {
  const reply = await get('/v1/big');
  const bytes = Buffer.from(await reply.arrayBuffer());
  assert.equal(bytes.length, 5_000_000);
  assert.ok(bytes.every((byte) => byte === 7));
  await until(() => serving.server.counts().exchanges === 0);
});

for (const path of ['/v1/long', '/v1/nothing']) {
  test(`who asks for ${path} thousands of times in one go and reads nothing is left`, async () => {
    const before = serving.samples.length;
    const socket = connect(serving.port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(10_000));
    await until(() => serving.samples.length > before);
    await fetch(`${serving.origin}/v1/items/a/parts/1`);
    await until(() => serving.server.counts().exchanges === 0);
    // Of the long ones no more than the kernel's buffers take.
    const answered = serving.samples.length - before;
    assert.ok(answered < 400, `${answered} replies`);
    socket.destroy();
  });
}

test('1,000 connections at once are all answered', async () => {
  const raw = 'GET /v1/items/a/parts/7 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
  const replies = await Promise.all(
    Array.from({ length: 1000 }, () => exchangeRaw(serving.port, raw)),
  );
  assert.ok(replies.every((reply) => reply.startsWith('HTTP/1.1 200 ')));
});

test('samples carry the path of the route, not of the alias', async () => {
  await get('/api/v1/items/a/parts/7');
  const sample = serving.samples.at(-1);
  assert.equal(sample?.route, '/v1/items/{item_id}/parts/{index}');
  assert.equal(sample?.status, 200);
  assert.ok((sample?.durationMs ?? -1) >= 0);
});
