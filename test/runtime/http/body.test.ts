// Request bodies over real sockets: bounds, cuts, bad text, and what must never be buffered.
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { Problem } from '../../../runtime/problem.ts';
import { afterOthers } from '../../../runtime/turns.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';
import {
  chatSchema,
  exchangeRaw,
  type Serving,
  serve,
  type TestRoute,
  testRoute,
  until,
} from './serving.ts';

const mebibyte = 1024 * 1024;
const chatRoute = testRoute({
  method: 'POST',
  path: '/v1/chat',
  body: { kind: 'json', schema: chatSchema, bytesMax: 8 * mebibyte },
  handle: ({ body }) => ({ status: 200, json: body }),
});
/** Lets nobody in. */
const socket: NonNullable<TestRoute['socket']> = {
  subprotocol: 'test',
  messageBytesMax: 100,
  framesPerSecondMax: 100,
  bufferedBytesMax: 1_000,
  silenceSecondsMax: 10,
  accept() {
    throw new Problem('unauthenticated');
  },
};
let serving: Serving;

before(async () => {
  serving = await serve(
    [
      chatRoute,
      testRoute({
        method: 'POST',
        path: '/v1/open',
        access: 'slow',
        body: { kind: 'json', schema: v.looseObject({}), bytesMax: 64 * 1024 },
        handle: ({ body }) => ({ status: 200, json: { keys: Object.keys(body) } }),
      }),
      testRoute({ path: '/v1/socket', handle: () => ({ status: 200, json: {} }), socket }),
    ],
    {
      authorize: async (access) => {
        if (access === 'slow') await new Promise((resolve) => setTimeout(resolve, 5));
        return access;
      },
      limits: { bodyDeadlineMs: 60_000, bodyBytesTotalMax: 20 * mebibyte },
    },
  );
});
after(() => serving.stop());

const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hé “ç” 😀' }] });

function head(path: string, headers: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n\r\n`;
}

function withLength(path: string, body: string | Buffer): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(head(path, `content-length: ${bytes.length}`)), bytes]);
}

function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ]);
}

test('a body cut at every byte reads the same, with a length and in chunks', async () => {
  const whole = await exchangeRaw(serving.port, withLength('/v1/chat', chat));
  assert.match(whole, /^HTTP\/1\.1 200 OK/);
  const expected = whole.split('\r\n\r\n')[1];
  const bytes = Buffer.from(chat);
  const cuts = Array.from({ length: bytes.length + 1 }, (_, cut) => cut);
  const replies = await Promise.all(
    cuts.flatMap((cut) => {
      const parts = [bytes.subarray(0, cut), bytes.subarray(cut)];
      const start = head('/v1/chat', `content-length: ${bytes.length}`);
      const chunks = parts.filter((part) => part.length > 0).map(chunk);
      return [
        sendSlowly(serving, [start, ...parts]),
        sendSlowly(serving, [
          head('/v1/chat', 'transfer-encoding: chunked'),
          ...chunks,
          '0\r\n\r\n',
        ]),
      ];
    }),
  );
  for (const reply of replies) assert.equal(reply.split('\r\n\r\n')[1], expected);
});

test('a body in very many tiny chunks is refused, in chunks of a few words it is not', async () => {
  const content = 'x'.repeat(800_000);
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }));
  const inChunksOf = (length: number, bytes: Buffer) => {
    const count = Math.ceil(bytes.length / length);
    const pieces = Array.from({ length: count }, (_, index) =>
      chunk(bytes.subarray(index * length, (index + 1) * length)),
    );
    return Buffer.concat([
      Buffer.from(head('/v1/chat', 'transfer-encoding: chunked')),
      ...pieces,
      Buffer.from('0\r\n\r\n'),
    ]);
  };
  assert.match(await exchangeRaw(serving.port, inChunksOf(20, body)), /^HTTP\/1\.1 200 OK/);
  const tiny = await exchangeRaw(serving.port, inChunksOf(1, body.subarray(0, 33_000)));
  assert.match(tiny, /^HTTP\/1\.1 400 [\s\S]*too many short chunks/);
  // Those that are few are nobody's burden.
  const few = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] });
  assert.match(await exchangeRaw(serving.port, inChunksOf(1, Buffer.from(few))), /^HTTP\/1\.1 200/);
});

/** Each piece in a packet of its own. */
function sendSlowly(to: Serving, pieces: readonly (string | Buffer)[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(to.port, '127.0.0.1');
    socket.setNoDelay(true);
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(received));
    const next = (index: number) => {
      const piece = pieces[index];
      if (piece === undefined) return;
      if (piece.length > 0) socket.write(piece);
      setTimeout(next, 4, index + 1);
    };
    next(0);
  });
}

test('JSON that ends at any byte is a 400 or waits for its rest, never a crash', async () => {
  const bytes = Buffer.from(chat);
  const replies = await Promise.all(
    Array.from({ length: bytes.length }, (_, cut) =>
      exchangeRaw(serving.port, withLength('/v1/chat', bytes.subarray(0, cut))),
    ),
  );
  for (const reply of replies) {
    assert.match(reply, /^HTTP\/1\.1 400 /);
    assert.match(reply, /"code":"invalid_request"/);
  }
});

test('bad text, empty bodies and bottomless nesting are 400', async () => {
  const deep = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  const bad: [string | Buffer, RegExp][] = [
    ['', /body is required/],
    ['{"model":', /not valid JSON/],
    ['nonsense', /not valid JSON/],
    [Buffer.from([0x22, 0xff, 0xfe, 0x22]), /not valid UTF-8/],
    [Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xc3]), Buffer.from('"}')]), /UTF-8/],
    [deep(100_000 / 4), /nested deeper/],
    [`{"s":"${'['.repeat(2000)}","a":${'{"b":'.repeat(600)}1${'}'.repeat(600)}}`, /nested deeper/],
  ];
  for (const [body, message] of bad) {
    const reply = await exchangeRaw(serving.port, withLength('/v1/open', body));
    assert.match(reply, /^HTTP\/1\.1 400 /);
    assert.match(reply, message);
  }
  const fine = `{"s":"${'[{\\"'.repeat(3000)}","a":${deep(500)}}`;
  assert.match(await exchangeRaw(serving.port, withLength('/v1/open', fine)), /200 OK/);
});

test('a byte order mark in front of a body is no part of it', async () => {
  const marked = (body: string) => withLength('/v1/chat', Buffer.from(`\ufeff${body}`));
  assert.match(await exchangeRaw(serving.port, marked(chat)), / 200 OK/);
  assert.match(await exchangeRaw(serving.port, marked('')), /body is required/);
  assert.match(await exchangeRaw(serving.port, marked(`\ufeff${chat}`)), /not valid JSON/);
});

test('keys that reach a prototype are refused wherever they stand', async () => {
  for (const body of [
    '{"__proto__":{"admin":true}}',
    '{"a":[{"b":{"__proto__":1}}]}',
    '{"\\u005f_proto__":{"admin":true}}',
    '{"constructor":{"prototype":{"admin":true}}}',
    '{"a":{"constructor":{"\\u0070rototype":1}}}',
  ]) {
    const reply = await exchangeRaw(serving.port, withLength('/v1/open', body));
    assert.match(reply, /^HTTP\/1\.1 400 /, body);
    assert.match(reply, /is not allowed/);
  }
  const harmless = '{"text":"__proto__ and \\u0041 constructor.prototype","constructor":"x"}';
  const reply = await exchangeRaw(serving.port, withLength('/v1/open', harmless));
  assert.match(reply, /"keys":\["text"/);
  assert.equal(Reflect.get({}, 'admin'), undefined);
});

test('9 MB to a route of 8 MiB is a 413 without being kept, announced or not', async () => {
  const body = Buffer.alloc(9 * mebibyte, 'a');
  const before = process.memoryUsage().arrayBuffers;
  for (let round = 0; round < 5; round += 1) {
    const announced = await postWhole(body);
    assert.equal(announced.status, 413);
    assert.match(announced.text, /"code":"request_too_large"/);
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < 4 * mebibyte);
  const unread = head('/v1/chat', `content-length: ${9 * mebibyte}`);
  assert.match(await firstLine(unread), /413 Request Entity Too Large|413 Payload Too Large/);
  const pieces = Array.from({ length: 36 }, () => chunk(body.subarray(0, mebibyte / 4)));
  const chunked = await exchangeRaw(serving.port, [
    head('/v1/chat', 'transfer-encoding: chunked'),
    ...pieces,
  ]);
  assert.match(chunked, /^HTTP\/1\.1 413 /);
});

/** Sends all of a body without copying it in this process. */
function postWhole(body: Buffer): Promise<{ status: number | undefined; text: string }> {
  const headers = { 'content-length': body.length, 'content-type': 'application/json' };
  const options = { port: serving.port, path: '/v1/chat', method: 'POST', headers, agent: false };
  return new Promise((resolve, reject) => {
    const client = request(options, (reply) => {
      let text = '';
      reply.on('data', (data) => {
        text += data;
      });
      reply.on('end', () => resolve({ status: reply.statusCode, text }));
    });
    client.on('error', reject);
    client.end(body);
  });
}

/** The status line alone, without waiting for the end of the connection. */
function firstLine(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(serving.port, '127.0.0.1', () => socket.write(bytes));
    socket.once('error', reject);
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString('latin1').split('\r\n')[0] ?? '');
    });
  });
}

test('a connection can be used again after an early refusal', async () => {
  const start = 'POST /v1/chat HTTP/1.1\r\nhost: x\r\n';
  const refused = `${start}content-type: text/plain\r\ncontent-length: 4\r\n\r\nabcd`;
  const raw = await exchangeRaw(serving.port, [refused, withLength('/v1/chat', chat)]);
  assert.match(raw, /^HTTP\/1\.1 415 [\s\S]*HTTP\/1\.1 200 OK/);
});

test('what ends elsewhere for others is refused, and nothing behind it is a request', async () => {
  const start = 'POST /v1/chat HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
  const body = Buffer.concat([chunk(Buffer.from(chat)), Buffer.from('0\r\n\r\n')]);
  for (const coding of ['xchunked', 'gzip, chunked', 'chunked, identity']) {
    const strange = Buffer.concat([
      Buffer.from(`${start}transfer-encoding: ${coding}\r\n\r\n`),
      body,
    ]);
    const raw = await exchangeRaw(serving.port, [strange, withLength('/v1/chat', chat)]);
    assert.equal(raw, '', coding);
  }
  const rest = `POST /v1/chat HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`;
  for (const line of ['content-length:', 'content-length: \t', 'transfer-encoding:']) {
    const raw = await exchangeRaw(serving.port, [`${start}${line}\r\n\r\n${rest}`]);
    assert.equal(raw, '', line);
  }
  const twice = `${start}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n`;
  assert.equal(await exchangeRaw(serving.port, [`${twice}0\r\n\r\n${rest}`]), '');
  const uncertain = [
    'content-length: 0\r\ncontent-length: 90',
    'content-length:',
    'transfer-encoding: chunked, identity',
  ];
  const line = ' HTTP/1.1\r\nhost: x\r\n';
  const upgrade =
    'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
  for (const request of [
    `POST /v1/chat${line}`,
    `GET /v1/chat${line}`,
    `POST /v1/none${line}`,
    `OPTIONS /v1/chat${line}`,
    `OPTIONS /v1/none${line}access-control-request-method: GET\r\n`,
    `GET /v1/socket${line}${upgrade}`,
  ]) {
    for (const lines of uncertain) {
      const raw = await exchangeRaw(serving.port, [`${request}${lines}\r\n\r\n${rest}`]);
      assert.equal(raw, '', `${request}${lines}`);
    }
  }
  await until(() => serving.server.counts().exchanges === 0);
  const both = `${start}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`;
  const raw = await exchangeRaw(serving.port, [both, withLength('/v1/chat', chat)]);
  assert.match(raw, /^HTTP\/1\.1 400 /);
  assert.equal(raw.match(/HTTP\/1\.1 /g)?.length, 1, raw);
});

test('a body that does not end in time closes the connection', async () => {
  const short = await serve([chatRoute], { limits: { bodyDeadlineMs: 400, tickMs: 20 } });
  const watch = startStopwatch();
  const silent = exchangeRaw(short.port, head('/v1/chat', 'content-length: 10'));
  const trickling = trickle(short);
  assert.equal(await silent, '');
  assert.equal(await trickling, '');
  const elapsedMs = watch.assertWithin(2_000, 'closed');
  assert.ok(elapsedMs > 380, `${elapsedMs} ms`);
  await until(() => short.server.counts().exchanges === 0);
  await short.stop();
});

/** A byte every 4 ms: each packet is in time, the body as a whole is not. */
async function trickle(to: Serving): Promise<string> {
  const pieces = Array.from({ length: 100 }, () => ' ');
  return await sendSlowly(to, [head('/v1/chat', 'content-length: 1000'), ...pieces]);
}

test('bodies together have a bound: past it 503, and the room comes back', async () => {
  const sockets: Socket[] = [];
  const statuses: string[] = [];
  for (let index = 0; index < 6; index += 1) {
    const socket = connect(serving.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.on('data', (data) => statuses.push(data.toString('latin1').slice(9, 12)));
    socket.write(head('/v1/chat', `content-length: ${7 * mebibyte}`));
    socket.write(Buffer.alloc(5 * mebibyte, ' '));
    sockets.push(socket);
  }
  await until(() => statuses.includes('503'));
  for (const socket of sockets) socket.destroy();
  await until(() => serving.server.counts().exchanges === 0);
  const body = `${' '.repeat(7 * mebibyte)}${chat}`;
  assert.equal((await postWhole(Buffer.from(body))).status, 200);
});

test('bodies that wait to be parsed keep their room, until nobody waits for them', async () => {
  let leave = () => {};
  void afterOthers('', () => new Promise<void>((resolve) => (leave = resolve)));
  const body = Buffer.from(`${' '.repeat(4 * mebibyte)}${chat}`);
  const [gone, stays] = [openWhole(serving, body), openWhole(serving, body)];
  try {
    await arrived();
    await refused(serving, body);
    gone.destroy();
    await until(() => serving.server.counts().exchanges === 1);
    const comes = openWhole(serving, body);
    await arrived();
    await refused(serving, body);
    leave();
    for (const socket of [stays, comes]) assert.match(await answerOf(socket), / 200 OK/);
    assert.equal((await postWhole(body)).status, 200);
  } finally {
    leave();
  }
});

test("one tenant's bodies leave room for another's", async () => {
  const other = testRoute({ ...chatRoute, path: '/v1/other' });
  const shared = await serve([chatRoute, other], {
    authorize: (_access, exchange) => exchange.path,
    limits: { bodyBytesTotalMax: 20 * mebibyte },
  });
  const most = Buffer.alloc(6 * mebibyte, ' ');
  const greedy = [1, 2].map(() => openWhole(shared, most, 7 * mebibyte));
  await until(() => refusals(shared) === 1);
  const whole = Buffer.from(`${' '.repeat(6 * mebibyte)}${chat}`);
  const modest = openWhole(shared, whole, whole.length, '/v1/other');
  assert.match(await answerOf(modest), / 200 OK/);
  for (const socket of greedy) socket.destroy();
  await shared.stop();
});

function openWhole(to: Serving, body: Buffer, length = body.length, path = '/v1/chat'): Socket {
  const socket = connect(to.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(head(path, `content-length: ${length}`));
  socket.write(body);
  return socket;
}

function refusals({ samples }: Serving): number {
  return samples.filter(({ status }) => status === 503).length;
}

/** Not by its answer: the connection may be reset while the client still writes. */
async function refused(by: Serving, body: Buffer): Promise<void> {
  const before = refusals(by);
  const socket = openWhole(by, body);
  await until(() => refusals(by) === before + 1);
  socket.destroy();
}

async function answerOf(socket: Socket): Promise<string> {
  const [data] = await once(socket, 'data', { signal: AbortSignal.timeout(60_000) });
  return String(data);
}

/** What was sent before is read: each round trip is a turn of the server, in this very thread. */
async function arrived(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await postWhole(Buffer.from(chat));
}

test('Expect: 100-continue is answered before the body', async () => {
  const bytes = Buffer.from(chat);
  const start = head('/v1/chat', `expect: 100-continue\r\ncontent-length: ${bytes.length}`);
  const reply = await sendSlowly(serving, [start, bytes]);
  assert.match(reply, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
});

test('the value of Expect has no case: the client of the JDK writes 100-Continue', async () => {
  const reply = async (body: string): Promise<string> => {
    const socket = connect(serving.port, '127.0.0.1');
    socket.on('error', () => undefined);
    const length = Buffer.byteLength(body);
    socket.write(head('/v1/chat', `expect: 100-Continue\r\ncontent-length: ${length}`));
    assert.equal(await answerOf(socket), 'HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(body);
    const answer = await answerOf(socket);
    socket.destroy();
    return answer;
  };
  assert.match(await reply(chat), /^HTTP\/1\.1 200 OK\r\nx-request-id: /);
  assert.match(await reply('{'), /^HTTP\/1\.1 400 Bad Request\r\nx-request-id: /);
});

test('a refusal comes behind the 100 that the JDK waits for', async () => {
  const refused: [string, string, number][] = [
    ['/v1/chat', 'content-type: text/plain', 415],
    ['/v1/chat', 'accept: image/png', 406],
    ['/v1/nowhere', 'x-a: b', 404],
  ];
  for (const [path, header, status] of refused) {
    const length = Buffer.byteLength(chat);
    const start = head(path, `expect: 100-Continue\r\ncontent-length: ${length}\r\n${header}`);
    const raw = await exchangeRaw(serving.port, [start, chat]);
    assert.match(raw, new RegExp(`^HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 ${status} `));
    assert.match(raw, /"error":/);
  }
});
