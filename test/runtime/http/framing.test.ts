// Bodies in chunks whose end uWS sees elsewhere than their client does, on raw sockets. What can be
// seen is refused. What is left over is never taken for a request.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { startStopwatch } from '../../harness/stopwatch.ts';
import { chatSchema, exchangeRaw, type Serving, serve, testRoute, until } from './serving.ts';

let serving: Serving;
let handled: string[] = [];
before(async () => {
  serving = await serve(
    [
      testRoute({
        method: 'POST',
        path: '/v1/chat',
        body: { kind: 'json', schema: chatSchema, bytesMax: 64 * 1024 },
        handle: ({ body }) => {
          handled.push('chat');
          return { status: 200, json: body };
        },
      }),
      testRoute({
        method: 'POST',
        path: '/v1/long',
        body: { kind: 'json', schema: chatSchema, bytesMax: 64 * 1024 },
        handle: () => ({ status: 200, json: 'x'.repeat(100_000) }),
      }),
      testRoute({
        method: 'POST',
        path: '/v1/stream',
        body: { kind: 'json', schema: chatSchema, bytesMax: 64 * 1024 },
        handle: () => ({
          status: 200,
          keepAlive: { everyMs: 60_000, text: ':\n' },
          stream: (stream) => {
            stream.write('data: a\n\n');
            stream.end('data: b\n\n');
          },
        }),
      }),
      testRoute({
        method: 'POST',
        path: '/v1/any',
        body: { kind: 'json', schema: v.looseObject({}), bytesMax: 64 * 1024 },
        handle: ({ body }) => ({ status: 200, json: body }),
      }),
      testRoute({
        path: '/v1/other',
        handle: () => {
          handled.push('other');
          return { status: 200, json: {} };
        },
      }),
    ],
    { limits: { bodyDeadlineMs: 2_000, tickMs: 20 } },
  );
});
after(() => serving.stop());

const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
const size = chat.length.toString(16);
const other = 'GET /v1/other HTTP/1.1\r\nhost: x\r\n\r\n';

/** A request in chunks, with what stands behind its head, and headers besides. */
function chunked(body: string, headers = '', path = '/v1/chat'): string {
  const start = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
  return `${start}${headers}transfer-encoding: chunked\r\n\r\n${body}`;
}

const statusesOf = (raw: string) =>
  [...raw.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => code);

test('an extension of a chunk is refused at once, or when the body does not end', async () => {
  const watch = startStopwatch();
  const seen = await exchangeRaw(serving.port, chunked(`${size};a=b\r\n${chat}\r\n0\r\n\r\n`));
  watch.assertWithin(1_500, 'refused');
  assert.match(seen, /^HTTP\/1\.1 400 [\s\S]*chunk extensions are not understood/);
  // Letters beyond those of a hexadecimal number are seen by uWS itself.
  const word = await exchangeRaw(serving.port, chunked(`${size};name=x\r\n${chat}\r\n0\r\n\r\n`));
  assert.deepEqual(statusesOf(word), ['400']);
  const unseen = [
    `${size}\r\n${chat}\r\n0;a=b\r\n\r\n`,
    `${size};a=b\r\n${chat}\r\n0\r\n\r\n${other}`,
  ];
  for (const late of await Promise.all(
    unseen.map((body) => exchangeRaw(serving.port, chunked(body))),
  )) {
    assert.match(late, /^HTTP\/1\.1 400 [\s\S]*chunk extensions are not understood/);
    assert.deepEqual(statusesOf(late), ['400']);
  }
  assert.deepEqual(handled.splice(0), []);
});

test('a body may contain what ends a chunked one, as long as more of it comes', async () => {
  const parts = ['{"numbers":[\r\n0\r\n\r\n', ',1]}'];
  const [first = '', second = ''] = parts.map((part) => {
    return `${part.length.toString(16)}\r\n${part}\r\n`;
  });
  const socket = connect(serving.port, '127.0.0.1');
  const received: Buffer[] = [];
  socket.on('data', (bytes) => received.push(bytes));
  socket.write(chunked(first, 'connection: close\r\n', '/v1/any'));
  await sleep(100);
  socket.write(`${second}0\r\n\r\n`);
  await once(socket, 'close');
  assert.match(Buffer.concat(received).toString(), /^HTTP\/1\.1 200 [\s\S]*\{"numbers":\[0,1\]\}/);
});

test('trailers are refused in words where they are announced, else not acted on', async () => {
  const body = `${size}\r\n${chat}\r\n0\r\nx-sum: 1\r\n\r\n`;
  const socket = connect(serving.port, '127.0.0.1');
  socket.write(chunked('', 'trailer: x-sum\r\n'));
  const [told] = (await once(socket, 'data')) as [Buffer];
  assert.match(told.toString(), /^HTTP\/1\.1 400 [\s\S]*Trailers of a request are not understood/);
  assert.match(told.toString(), /\r\nconnection: close\r\n/);
  socket.destroy();
  // In one read uWS takes them for a bad request, and closes over whatever reply there was.
  for (const headers of ['', 'trailer: x-sum\r\n']) {
    const silent = await exchangeRaw(serving.port, chunked(body, headers));
    assert.deepEqual(statusesOf(silent), ['505']);
  }
  assert.deepEqual(handled.splice(0), [], 'what nobody would hear of is not done');
});

for (const [name, body] of [
  ['a bare line feed behind the length', `${size}\n${chat}\r\n0\r\n\r\n`],
  ['a bare line feed behind the data', `${size}\r\n${chat}\n0\r\n\r\n`],
  ['bare line feeds everywhere', `${size}\n${chat}\n0\n\n`],
  ['no line end behind the data', `${size}\r\n${chat}0\r\n\r\n`],
  ['nothing strange', `${size}\r\n${chat}\r\n0\r\n\r\n`],
] as const) {
  test(`${name}: the request is the last of its connection`, async () => {
    const alone = exchangeRaw(serving.port, chunked(body, 'connection: close\r\n'));
    const statuses = statusesOf(await alone);
    assert.ok(['200', undefined].includes(statuses[0]), `${statuses}`);
    handled = [];
    // Whatever is left over stands in front of it, or is it: it must not be answered.
    const raw = await exchangeRaw(serving.port, chunked(body) + other);
    assert.ok(!handled.includes('other'), raw);
    handled = [];
  });
}

test('replies of each kind tell the client of a chunked request to close', async () => {
  for (const path of ['/v1/chat', '/v1/long', '/v1/stream']) {
    const reply = await fetch(`http://127.0.0.1:${serving.port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Blob([chat]).stream(),
      duplex: 'half',
    } as RequestInit);
    const text = await reply.text();
    if (path === '/v1/stream') assert.equal(text, 'data: a\n\ndata: b\n\n');
    if (path === '/v1/long') assert.equal(text.length, 100_002);
    assert.equal(reply.status, 200, text);
    assert.equal(reply.headers.get('connection'), 'close', path);
  }
  const plain = await fetch(`http://127.0.0.1:${serving.port}/v1/chat`, {
    method: 'POST',
    body: chat,
  });
  assert.notEqual(plain.headers.get('connection'), 'close', 'one with a length does not');
  await plain.arrayBuffer();
  handled = [];
});

test('a head with bare line feeds is no request, and hides none', async () => {
  const start = 'POST /v1/chat HTTP/1.1\r\nhost: x\r\n';
  const heads = [
    `${start}x-a: 1\nx-b: 2\r\ncontent-length: ${chat.length}\r\n\r\n${chat}`,
    `${start}x-a: 1\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n${other}`,
    `${start}content-length: ${chat.length}\n\n${chat}`,
    `${start}x-a : 1\r\ncontent-length: ${chat.length}\r\n\r\n${chat}`,
    `${start}x-a: 1\r\n b: 2\r\ncontent-length: ${chat.length}\r\n\r\n${chat}`,
  ];
  await Promise.all(
    heads.map((head) =>
      assert.rejects(exchangeRaw(serving.port, head, 200), /no end after 200 ms: $/, head),
    ),
  );
  const lines = `GET /v1/other HTTP/1.1\nhost: x\n\n`;
  assert.deepEqual(statusesOf(await exchangeRaw(serving.port, lines)), ['505']);
  assert.deepEqual(handled, []);
  await until(() => serving.server.counts().exchanges === 0);
});
