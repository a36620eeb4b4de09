// What a file's route answers over a real socket: whole, in part, not at all, and when its reader
// fails. The bytes are counted and compared.
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../../../runtime/problem.ts';
import { exchangeRaw, serve, testRoute, until } from '../serving.ts';
import {
  assertBytes,
  bytesAt,
  drain,
  etag,
  type FileServing,
  lastModified,
  lastModifiedMs,
  mib,
  open,
  type ReadPieces,
  serveFiles,
} from './files.ts';

let serving: FileServing;
let usual: FileServing['file'];
const straight: ReadPieces = (_from, _to, pieces) => pieces();

before(async () => {
  serving = await serveFiles({ limits: { fileReadMs: 200, tickMs: 20 } });
  usual = serving.file;
});
after(() => serving.stop());
beforeEach(() => {
  serving.file = { ...usual };
  serving.read = straight;
  Object.assign(serving.readers, { opened: 0, closed: 0, pieces: 0, ranges: [] });
  serving.logged.length = 0;
});

const ask = (headers: Record<string, string> = {}, method = 'GET', path = '/v1/file') =>
  fetch(serving.origin + path, { method, headers });

const always = {
  'cache-control': 'private, no-cache',
  'cross-origin-resource-policy': 'same-origin',
  etag: `"${etag}"`,
  'last-modified': lastModified,
  'x-content-type-options': 'nosniff',
  'x-svc-test': 'yes',
  'access-control-allow-origin': '*',
};
const withBytes = {
  ...always,
  'accept-ranges': 'bytes',
  'content-disposition': 'inline; filename="vid_1.mp4"',
  'content-type': 'video/mp4',
};

/** Ours alone, without those that every reply has. */
function headersOf(reply: Response): Record<string, string> {
  const common = new Set(['date', 'uwebsockets', 'x-request-id', 'connection', 'keep-alive']);
  common.add('access-control-expose-headers');
  return Object.fromEntries([...reply.headers].filter(([name]) => !common.has(name)));
}

test('the whole file comes with its length and what it is known by', async () => {
  for (const path of ['/v1/file', '/v1/later']) {
    const reply = await ask({}, 'GET', path);
    assert.equal(reply.status, 200);
    assert.deepEqual(headersOf(reply), { ...withBytes, 'content-length': String(20 * mib) });
    const body = Buffer.from(await reply.arrayBuffer());
    assert.equal(body.length, 20 * mib);
    assertBytes(body, 0);
  }
  assert.deepEqual(serving.readers.ranges, [
    [0, 20 * mib],
    [0, 20 * mib],
  ]);
  await until(() => serving.samples.length >= 2 && serving.readers.closed === 2);
  assert.equal(serving.samples.at(-1)?.status, 200);
});

const ranges: [range: string, from: number, to: number][] = [
  ['bytes=0-0', 0, 1],
  ['bytes=0-99', 0, 100],
  ['bytes=65535-65536', 65_535, 65_537],
  ['bytes=1000000-3000000', 1_000_000, 3_000_001],
  ['bytes=20971519-', 20_971_519, 20_971_520],
  ['bytes=20000000-99999999999', 20_000_000, 20_971_520],
  ['bytes=-3000', 20_968_520, 20_971_520],
  ['bytes=-99999999', 0, 20_971_520],
];

for (const [range, from, to] of ranges) {
  test(`${range} is 206 with its place and its bytes alone`, async () => {
    const reply = await ask({ range });
    assert.equal(reply.status, 206);
    assert.deepEqual(headersOf(reply), {
      ...withBytes,
      'content-length': String(to - from),
      'content-range': `bytes ${from}-${to - 1}/20971520`,
    });
    const body = Buffer.from(await reply.arrayBuffer());
    assert.equal(body.length, to - from);
    assertBytes(body, from);
    assert.deepEqual(serving.readers.ranges, [[from, to]]);
  });
}

test('a range that is not in the file is 416, one that is none is ignored', async () => {
  const outside = await ask({ range: 'bytes=20971520-' });
  assert.equal(outside.status, 416);
  assert.deepEqual(headersOf(outside), {
    ...always,
    'content-length': '0',
    'content-range': 'bytes */20971520',
  });
  assert.equal(await outside.text(), '');
  assert.equal(serving.readers.opened, 0);
  serving.file.bytes = 100_000;
  for (const range of ['bytes=0-1,5-6', 'bytes=9-1', 'items=0-1', 'bytes=x', 'bytes=0-1, 5-6']) {
    const reply = await ask({ range });
    assert.equal(reply.status, 200, range);
    assert.equal(reply.headers.get('content-range'), null);
    assert.equal((await reply.arrayBuffer()).byteLength, 100_000);
  }
});

test('conditions are decided before any byte is read', async () => {
  const strong = `"${etag}"`;
  const unchanged = [
    { 'if-none-match': strong },
    { 'if-none-match': `W/${strong}` },
    { 'if-none-match': '*', range: 'bytes=0-1' },
    { 'if-none-match': `"x", ${strong}`, range: 'bytes=99999999-' },
    { 'if-modified-since': lastModified },
  ];
  for (const method of ['GET', 'HEAD']) {
    for (const path of ['/v1/file', '/v1/later']) {
      for (const headers of unchanged) {
        const reply = await ask(headers, method, path);
        assert.equal(reply.status, 304, JSON.stringify(headers));
        assert.deepEqual(headersOf(reply), always);
      }
      const failed: Record<string, string>[] = [
        { 'if-match': `W/${strong}` },
        { 'if-match': '"x"', 'if-none-match': strong },
        { 'if-unmodified-since': 'Fri, 06 Nov 2026 08:49:36 GMT' },
      ];
      for (const headers of failed) {
        const reply = await ask(headers, method, path);
        assert.equal(reply.status, 412, JSON.stringify(headers));
        assert.deepEqual(headersOf(reply), { ...always, 'content-length': '0' });
        assert.equal(await reply.text(), '');
      }
    }
  }
  assert.equal(serving.readers.opened, 0);
  const sent = await ask({ 'if-match': strong, 'if-none-match': '"x"', range: 'bytes=0-1' });
  assert.equal(sent.status, 206);
  await sent.arrayBuffer();
});

test('If-Range decides between the part and the whole', async () => {
  serving.file.bytes = 5_000;
  const statusOf = async (ifRange: string) => {
    const reply = await ask({ range: 'bytes=1-2', 'if-range': ifRange });
    await reply.arrayBuffer();
    return reply.status;
  };
  assert.equal(await statusOf(`"${etag}"`), 206);
  assert.equal(await statusOf(lastModified), 206);
  assert.equal(await statusOf(`W/"${etag}"`), 200);
  assert.equal(await statusOf('"x"'), 200);
  assert.equal(await statusOf('Fri, 06 Nov 2026 08:49:38 GMT'), 200);
});

test('a list of tags may come in several lines', async () => {
  for (const path of ['/v1/file', '/v1/later']) {
    const lines = `if-none-match: "x"\r\nif-none-match: "${etag}"\r\n`;
    const text = await exchangeRaw(
      serving.port,
      `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines}\r\n`,
    );
    assert.match(text, /^HTTP\/1\.1 304 /);
    assert.match(text, /\r\n\r\n$/);
    assert.doesNotMatch(text, /content-length/i);
  }
});

test('HEAD tells what GET would, takes no range, and reads nothing', async () => {
  for (const headers of [{}, { range: 'bytes=0-1' }, { range: 'bytes=99999999-' }]) {
    const reply = await ask(headers, 'HEAD');
    assert.equal(reply.status, 200);
    assert.deepEqual(headersOf(reply), { ...withBytes, 'content-length': String(20 * mib) });
    assert.equal(await reply.text(), '');
  }
  assert.equal(serving.readers.opened, 0);
});

test('a file without bytes is 200 with none', async () => {
  serving.file.bytes = 0;
  for (const [method, headers] of [
    ['GET', {}],
    ['HEAD', {}],
    ['GET', { range: 'bytes=-5' }],
  ] as const) {
    const reply = await ask(headers, method);
    assert.equal(reply.status, 200);
    assert.deepEqual(headersOf(reply), { ...withBytes, 'content-length': '0' });
  }
  const outside = await ask({ range: 'bytes=0-' });
  assert.equal(outside.status, 416);
  assert.equal(outside.headers.get('content-range'), 'bytes */0');
  assert.equal(serving.readers.opened, 0);
});

test('files of every awkward length are whole', async () => {
  for (const bytes of [1, 2, 2047, 2048, 2049, 16_383, 16_384, 16_385, 65_536, 65_537, 131_073]) {
    serving.file.bytes = bytes;
    const reply = await ask();
    const body = Buffer.from(await reply.arrayBuffer());
    assert.equal(body.length, bytes);
    assertBytes(body, 0);
  }
});

test('names beyond ASCII are told twice, and none begins a header', async () => {
  serving.file.bytes = 1;
  const told = async (filename: string) => {
    serving.file.filename = filename;
    const reply = await ask();
    await reply.arrayBuffer();
    return reply.headers.get('content-disposition');
  };
  assert.equal(await told('a b.mp4'), 'inline; filename="a b.mp4"');
  assert.equal(
    await told(`Zürich "x"\r\nx-evil: (1)'.mp4`),
    `inline; filename="Z_rich _x___x-evil: (1)'.mp4"; ` +
      "filename*=UTF-8''Z%C3%BCrich%20%22x%22%0D%0Ax-evil%3A%20%281%29%27.mp4",
  );
  assert.equal(
    await told('../\ud800.mp4'),
    `inline; filename=".._${'_'}.mp4"; filename*=UTF-8''..%2F%EF%BF%BD.mp4`,
  );
});

test('a file from the future is dated now', async () => {
  serving.file.lastModifiedMs = Date.now() + 3_600_000;
  const reply = await ask({}, 'HEAD');
  const told = Date.parse(reply.headers.get('last-modified') ?? '');
  assert.ok(told <= Date.now() && told > Date.now() - 10_000);
  serving.file.lastModifiedMs = lastModifiedMs;
});

test('one connection takes one request after the other', async () => {
  const heads = ['', 'range: bytes=5-2004\r\n', `if-none-match: "${etag}"\r\n`, ''];
  serving.file.bytes = 50_000;
  const socket = connect(serving.port, '127.0.0.1');
  let received = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
  });
  const lengths = [50_000, 2_000, 0, 50_000];
  for (const [index, head] of heads.entries()) {
    received = Buffer.alloc(0);
    socket.write(`GET /v1/file HTTP/1.1\r\nhost: x\r\n${head}\r\n`);
    const length = lengths[index] ?? 0;
    await until(() => {
      const end = received.indexOf('\r\n\r\n');
      return end !== -1 && received.length >= end + 4 + length;
    });
    const body = received.subarray(received.indexOf('\r\n\r\n') + 4);
    assert.equal(body.length, length);
    assertBytes(body, index === 1 ? 5 : 0);
  }
  socket.destroy();
});

test('replies without a body are pipelined, nothing is behind one with a body', async () => {
  const head = `host: x\r\nif-none-match: "${etag}"\r\n\r\n`;
  const last = `GET /v1/plain HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;
  const three = `GET /v1/file HTTP/1.1\r\n${head}`.repeat(3);
  const text = await exchangeRaw(serving.port, three + last);
  assert.equal(text.split('HTTP/1.1 304 ').length, 4);
  assert.match(text, /HTTP\/1\.1 200 OK[\s\S]*\{\}$/);
  // As behind every reply that has to be waited for: never the bytes of one in another.
  const mixed = await exchangeRaw(serving.port, `GET /v1/file HTTP/1.1\r\nhost: x\r\n\r\n${last}`);
  assert.equal(mixed, '');
  await until(() => serving.readers.opened === serving.readers.closed);
  await until(() => serving.server.counts().exchanges === 0);
});

test('a connection that is to end does so behind the last byte', async () => {
  serving.file.bytes = 3_000_000;
  const request = 'GET /v1/file HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
  const text = await exchangeRaw(serving.port, request);
  const body = Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1');
  assert.match(text, /^HTTP\/1\.1 200 OK[\s\S]*\r\nContent-Length: 3000000\r\n/);
  assert.equal(body.length, 3_000_000);
  assertBytes(body, 0);
});

test('a server that drains tells every reply to close, and a 304 no length', async () => {
  const own = await serveFiles();
  const heads = ['range: bytes=0-0\r\n', `if-none-match: "${etag}"\r\n`];
  const sockets = heads.map(() => connect(own.port, '127.0.0.1'));
  // An exchange on each: a connection that is not accepted yet would be lost.
  for (const socket of sockets) {
    socket.write('GET /v1/plain HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'data');
  }
  own.server.stopListening();
  const replies: string[] = [];
  for (const [index, socket] of sockets.entries()) {
    socket.write(`GET /v1/file HTTP/1.1\r\nhost: x\r\n${heads[index]}\r\n`);
    replies.push(String(await once(socket, 'data')));
    socket.destroy();
  }
  for (const reply of replies) assert.match(reply, /\r\nconnection: close\r\n/i);
  assert.match(replies[0] ?? '', /^HTTP\/1\.1 206 /);
  assert.match(replies[1] ?? '', /^HTTP\/1\.1 304 /);
  assert.doesNotMatch(replies[1] ?? '', /content-length/i);
  await own.stop();
});

const failures: [name: string, read: ReadPieces][] = [
  [
    'cannot be opened',
    () => {
      throw new Error('no such object');
    },
  ],
  [
    'fails at its first piece',
    async function* () {
      yield* [];
      throw new Error('a piece is damaged');
    },
  ],
  ['has no piece', async function* () {}],
  [
    'has a piece that is too long',
    async function* () {
      yield Buffer.alloc(300_000);
    },
  ],
  [
    'is late',
    async function* () {
      await sleep(20_000, null, { ref: false });
      yield Buffer.alloc(1);
    },
  ],
];

for (const [name, read] of failures) {
  test(`a reader that ${name} is a 503 in the envelope of its path`, async () => {
    serving.read = read;
    const reply = await ask({ range: 'bytes=5-' });
    assert.equal(reply.status, 503);
    assert.equal(reply.headers.get('retry-after'), '1');
    for (const header of ['etag', 'content-range', 'accept-ranges', 'content-disposition']) {
      assert.equal(reply.headers.get(header), null);
    }
    const body = (await reply.json()) as { error: { code: string; message: string } };
    assert.equal(body.error.code, 'dependency_unavailable');
    assert.doesNotMatch(body.error.message, /object|damaged|piece/);
    assert.equal(serving.logged.length, 1);
    await until(() => serving.server.counts().exchanges === 0);
  });
}

test('a problem of the reader is told as it is', async () => {
  serving.read = () => {
    throw new Problem('not_found');
  };
  assert.equal((await ask()).status, 404);
});

const cuts: [name: string, read: ReadPieces][] = [
  [
    'fails at its fourth piece',
    async function* (_from, _to, pieces) {
      let count = 0;
      for await (const piece of pieces()) {
        count += 1;
        if (count === 4) throw new Error('a piece is damaged');
        yield piece;
      }
    },
  ],
  [
    'ends early',
    async function* (from, to) {
      yield* [bytesAt(from, to - 1)];
    },
  ],
  [
    'has a byte too many',
    async function* (from, to) {
      yield bytesAt(from, to - 1);
      yield bytesAt(to - 1, to + 1);
    },
  ],
  [
    'goes on behind the last byte',
    async function* (from, to) {
      yield bytesAt(from, to - 1);
      yield bytesAt(to - 1, to);
      yield Buffer.alloc(1);
    },
  ],
  [
    'finds at its end that something is wrong',
    async function* (from, to) {
      yield bytesAt(from, to - 1);
      yield bytesAt(to - 1, to);
      throw new Error('another sum');
    },
  ],
  [
    'hangs',
    async function* (from, to) {
      yield bytesAt(from, to - 1);
      await sleep(20_000, null, { ref: false });
    },
  ],
];

for (const [name, read] of cuts) {
  test(`the reply of a reader that ${name} is cut, and looks it`, async () => {
    serving.file.bytes = 250_000;
    serving.read = read;
    const opened = await open(serving.port);
    assert.equal(opened.reply.statusCode, 200);
    assert.equal(opened.reply.headers['content-length'], '250000');
    const { bytes, isWhole } = await drain(opened, 0);
    assert.ok(!isWhole && bytes < 250_000, `${bytes} bytes`);
    assert.equal(serving.logged.length, 1);
    await until(() => serving.server.counts().exchanges === 0);
    assert.equal((await ask({ range: 'bytes=99999999-' })).status, 416, 'it serves on');
  });
}

test('a client that leaves ends its reader, in the middle and before the first piece', async () => {
  const opened = await open(serving.port);
  assert.equal(serving.readers.closed, 0);
  opened.request.destroy();
  await until(() => serving.readers.closed === 1);
  await until(() => serving.server.counts().exchanges === 0);
  assert.ok(serving.readers.pieces < 320, 'not all was read');

  let isLeft = false;
  let goOn = () => {};
  serving.read = async function* (_from, _to, pieces) {
    try {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      yield* pieces();
    } finally {
      isLeft = true;
    }
  };
  const leaving = new AbortController();
  const asking = fetch(`${serving.origin}/v1/file`, { signal: leaving.signal });
  await until(() => serving.server.counts().exchanges === 1);
  leaving.abort();
  await assert.rejects(asking);
  await until(() => serving.server.counts().exchanges === 0);
  goOn();
  await until(() => isLeft);
  assert.equal(serving.logged.length, 0);
});

test('a route that does not declare its file is our bug', async () => {
  const other = await serve([
    testRoute({ path: '/v1/x', handle: () => ({ status: 200, file: serving.file }) }),
  ]);
  assert.equal((await fetch(`${other.origin}/v1/x`)).status, 500);
  assert.match(String(other.logged[0]?.err), /declares none/);
  await other.stop();
});
