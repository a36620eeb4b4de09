// Bodies that nobody parses, over real sockets. The bytes are those that were sent, whatever their
// type says, while the exchange lasts, and within the bounds of all bodies.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { bytesBody } from '../../../runtime/http/route.ts';
import { exchangeRaw, type Serving, serve, testRoute, until } from './serving.ts';

const bytesMax = 256 * 1024;
const smallBytes = 1_000;
/** One tenant has half of it. */
const roomBytes = 2 * (bytesMax + smallBytes);
const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

let release: (() => void)[] = [];
let serving: Serving;
before(async () => {
  serving = await serve(
    [
      testRoute({
        method: 'POST',
        path: '/raw',
        body: bytesBody(bytesMax),
        handle: ({ body }) => ({ status: 200, json: { digest: digestOf(body) } }),
      }),
      testRoute({
        method: 'POST',
        path: '/held',
        body: bytesBody(bytesMax),
        handle: async ({ body }) => {
          await new Promise<void>((resolve) => release.push(resolve));
          return { status: 200, json: { digest: digestOf(body) } };
        },
      }),
    ],
    { limits: { bodyBytesTotalMax: roomBytes } },
  );
});
after(() => serving?.stop());

async function post(path: string, body: Uint8Array<ArrayBuffer>, type?: string) {
  const headers = type === undefined ? {} : { 'content-type': type };
  const reply = await fetch(serving.origin + path, { method: 'POST', body, headers });
  return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
}

test('bytes arrive as they were sent, whatever their type is called', async () => {
  const bodies = [
    Buffer.from('{ "a" : 1.0,\r\n"a": "\\u00e9" }'),
    Buffer.from([0x7b, 0xff, 0x00, 0xc3, 0x28]),
    Buffer.alloc(0),
    randomBytes(1),
    randomBytes(100_000),
    randomBytes(bytesMax),
  ];
  const types = ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'x/y'];
  for (const body of bodies) {
    for (const type of [undefined, ...types]) {
      const { status, json } = await post('/raw', new Uint8Array(body), type);
      assert.equal(status, 200);
      assert.equal(json.digest, digestOf(body), `${body.length} bytes of ${type}`);
    }
  }
});

test('a body in chunks is one body', async () => {
  const body = randomBytes(3_000);
  const chunks = [body.subarray(0, 1), body.subarray(1, 2_000), body.subarray(2_000)];
  const head =
    'POST /raw HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n';
  const written = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ]);
  const all = Buffer.concat([Buffer.from(head), ...written, Buffer.from('0\r\n\r\n')]);
  assert.match(await exchangeRaw(serving.port, all), new RegExp(digestOf(body)));
});

test('a byte too many is refused, and what is packed as well', async () => {
  assert.equal((await post('/raw', new Uint8Array(bytesMax + 1))).status, 413);
  const headers = { 'content-encoding': 'gzip' };
  const packed = await fetch(`${serving.origin}/raw`, { method: 'POST', body: 'x', headers });
  assert.equal(packed.status, 415);
});

test('a handler that waits keeps its bytes, which count until it answers', async () => {
  const body = randomBytes(bytesMax);
  const small = randomBytes(smallBytes);
  const held = [post('/held', new Uint8Array(body)), post('/held', new Uint8Array(small))];
  await until(() => release.length === 2);
  assert.equal((await post('/raw', randomBytes(10))).status, 503);
  for (const resolve of release) resolve();
  release = [];
  const [large, other] = await Promise.all(held);
  assert.equal(large?.json.digest, digestOf(body));
  assert.equal(other?.json.digest, digestOf(small));
  assert.equal((await post('/raw', randomBytes(10))).status, 200);
});
