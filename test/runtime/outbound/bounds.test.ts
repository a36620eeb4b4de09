// Servers that lie, drip, flood or fall silent: each has a named outcome, in bounded time.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Exchange } from '../../../runtime/outbound/exchange.ts';
import { OutboundFault } from '../../../runtime/outbound/fault.ts';
import { readTarget } from '../../../runtime/outbound/target.ts';
import { farSide, guardOver, MIB, quickUse, reasonOf, response } from './far-side.ts';

const head = (...headers: string[]) => ['HTTP/1.1 200 OK', ...headers, '', ''].join('\r\n');
const chunked = head('Transfer-Encoding: chunked');

/** Each path of the far side is a way to misbehave. */
const ways: Record<string, (socket: Socket) => void> = {
  good: (socket) => socket.end(response('good', 'Set-Cookie: a=b', 'X-Two: 1', 'X-Two: 2')),
  announced: (socket) => socket.write(head(`Content-Length: ${2_048 * MIB}`)),
  endless: (socket) => {
    socket.write(chunked);
    const piece = `10000\r\n${'a'.repeat(65_536)}\r\n`;
    const pour = () => {
      while (socket.writable && socket.write(piece));
    };
    socket.on('drain', pour);
    pour();
  },
  dust: (socket) => void socket.write(`${chunked}${'1\r\na\r\n'.repeat(300_000)}0\r\n\r\n`),
  crumbs: (socket) =>
    void socket.write(`${chunked}${`14\r\n${'a'.repeat(20)}\r\n`.repeat(30_000)}0\r\n\r\n`),
  drip: (socket) => {
    socket.write(chunked);
    const timer = setInterval(() => socket.write('1\r\na\r\n'), 20);
    socket.on('close', () => clearInterval(timer));
  },
  still: (socket) => void socket.write(`${chunked}1\r\na\r\n`),
  silent: () => undefined,
  informs: (socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 103 Early\r\nLink: a\r\n\r\n'), 10);
    socket.on('close', () => clearInterval(timer));
  },
  flood: (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${'X-A: aaaaaaaa\r\n'.repeat(10_000)}`),
  gzip: (socket) => {
    const body = gzipSync(Buffer.alloc(MIB));
    socket.write(head('Content-Encoding: gzip', `Content-Length: ${body.length}`));
    socket.end(body);
  },
  coded: (socket) => socket.end(`${head('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`),
  cut: (socket) => socket.end(`${head('Content-Length: 10')}abc`),
  'cut-chunks': (socket) => socket.end(`${chunked}a\r\nabc`),
  none: (socket) => socket.end(),
  garbage: (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
  switches: (socket) => socket.write('HTTP/1.1 101 Switching\r\nUpgrade: tunnel\r\n\r\n'),
  missing: (socket) => socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno'),
};

const opened = async (t: { after(end: () => void): void }, use = {}) => {
  const far = await farSide((socket, request) => {
    ways[/^[A-Z]+ \/([a-z-]+)/.exec(request)?.[1] ?? '']?.(socket);
  });
  t.after(() => far.close());
  const guard = guardOver({}, { exceptions: [`127.0.0.1:${far.port}`] });
  const whole = async (way: string, call = {}) => {
    const reply = await guard.fetch(`${far.url}/${way}`, { ...quickUse, ...use }, call);
    if (!reply.ok) return `head ${reply.reason}`;
    const read = await reply.bytes();
    return read.ok ? `${reply.status} ${read.bytes.length}` : `body ${read.reason}`;
  };
  return { far, guard, whole };
};

test('an answer is told with its type, its length and its headers, without cookies', async (t) => {
  const { far, guard } = await opened(t);
  const reply = await guard.fetch(`${far.url}/good?a=b`);
  assert.ok(reply.ok);
  assert.deepEqual([reply.status, reply.type, reply.length], [200, 'text/plain', 4]);
  assert.equal(reply.url, `${far.url}/good?a=b`);
  assert.equal(reply.headers.get('x-two'), '1, 2');
  assert.equal(reply.headers.has('set-cookie'), false);
  const read = await reply.bytes();
  assert.ok(read.ok);
  assert.equal(String(read.bytes), 'good');
  const [request = ''] = far.requests;
  assert.match(request, /^GET \/good\?a=b HTTP\/1.1\r\n/);
  assert.match(request, /\r\naccept-encoding: identity\r\n/);
  assert.match(request, new RegExp(`\r\nhost: 127.0.0.1:${far.port}\r\n`, 'i'));
});

test('every way to misbehave is a named outcome', async (t) => {
  const { whole, far } = await opened(t);
  const outcomes: [string, string][] = [
    ['missing', '404 2'],
    ['announced', 'head source_too_large'],
    ['endless', 'body source_too_large'],
    ['dust', 'body source_refused'],
    ['crumbs', '200 600000'],
    ['still', 'body timeout'],
    ['silent', 'head timeout'],
    ['informs', 'head timeout'],
    ['flood', 'head source_too_large'],
    ['gzip', 'head source_refused'],
    ['coded', 'head source_refused'],
    ['cut', 'body source_unreachable'],
    ['cut-chunks', 'body source_unreachable'],
    ['none', 'head source_unreachable'],
    ['garbage', 'head source_unreachable'],
    ['switches', 'head source_unreachable'],
  ];
  for (const [way, outcome] of outcomes) assert.equal(await whole(way), outcome, way);
  assert.equal(far.connections, outcomes.length, 'nothing is sent again');
  assert.equal(await whole('announced', { method: 'HEAD' }), '200 0');
});

test('a slow drip ends with the whole time, also where it never stands still', async (t) => {
  const { whole } = await opened(t, { totalMs: 400 });
  const startMs = performance.now();
  assert.equal(await whole('drip'), 'body timeout');
  assert.ok(performance.now() - startMs >= 390);
});

test('a body that nobody reads is not read ahead of him', async (t) => {
  const { far, guard } = await opened(t, {});
  let written = 0;
  far.server.on('connection', (socket) => {
    socket.on('close', () => {
      written = socket.bytesWritten;
    });
  });
  const use = { ...quickUse, bytesMax: 1_024 * MIB };
  const reply = await guard.fetch(`${far.url}/endless`, use);
  assert.ok(reply.ok);
  const pieces = reply.body[Symbol.asyncIterator]();
  await pieces.next();
  await new Promise((done) => setTimeout(done, 150));
  // The two ends of loopback have some MiB of their own.
  const { value } = await pieces.next();
  assert.ok((value?.length ?? 0) <= 3 * 65_536, `${value?.length} bytes wait here`);
  await pieces.return?.();
  while (written === 0) await new Promise((done) => setTimeout(done, 5));
  assert.ok(written < 32 * MIB, `${written} bytes left the server`);
});

test('a caller stops early, gives up, or never reads: no connection stays', async (t) => {
  const { far, guard } = await opened(t);
  const gone = async () => {
    const left = () => new Promise<number>((done) => far.server.getConnections((_, n) => done(n)));
    while ((await left()) > 0) await new Promise((done) => setTimeout(done, 5));
  };
  const stopped = await guard.fetch(`${far.url}/drip`);
  assert.ok(stopped.ok);
  for await (const piece of stopped.body) {
    assert.ok(piece.length > 0);
    break;
  }
  await gone();
  const closed = await guard.fetch(`${far.url}/drip`);
  assert.ok(closed.ok);
  closed.close();
  await gone();
  assert.deepEqual((await closed.bytes()).ok, false, 'what is closed has no body');
  for (const way of ['silent', 'drip']) {
    const giving = new AbortController();
    setTimeout(() => giving.abort(), 50);
    const reply = await guard.fetch(`${far.url}/${way}`, quickUse, { signal: giving.signal });
    if (!reply.ok) assert.equal(reply.reason, 'aborted');
    else {
      const read = await reply.bytes();
      assert.equal(read.ok ? 'read' : read.reason, 'aborted');
    }
    await gone();
  }
  const unread = await guard.fetch(`${far.url}/drip`, { ...quickUse, totalMs: 200 });
  assert.ok(unread.ok);
  await gone();
  await assert.rejects(
    async () => {
      for await (const piece of unread.body) assert.ok(piece.length > 0);
    },
    (error) => error instanceof OutboundFault && error.reason === 'timeout',
  );
});

test('a closed guard ends what runs, and fetches no more', async (t) => {
  const { far, guard } = await opened(t);
  const running = guard.fetch(`${far.url}/silent`);
  const reading = await guard.fetch(`${far.url}/drip`);
  guard.outbound.close();
  assert.equal(reasonOf(await running), 'aborted');
  assert.ok(reading.ok);
  assert.equal((await reading.bytes()).ok, false);
  assert.equal(reasonOf(await guard.fetch(`${far.url}/good`)), 'aborted');
});

test('a connection that leads elsewhere than judged is sent nothing', async (t) => {
  const far = await farSide(response('elsewhere'));
  t.after(() => far.close());
  // The host is an address: Node connects to that, and asks no look-up of ours.
  const exchange = new Exchange({
    target: readTarget(far.url),
    addresses: ['127.0.0.2'],
    method: 'GET',
    headers: {},
    body: null,
    deadlines: quickUse.deadlines,
    bytesMax: 1,
    ca: null,
  });
  await assert.rejects(
    exchange.send(),
    (error) => error instanceof OutboundFault && error.reason === 'source_refused',
  );
  assert.deepEqual(far.requests, []);
});

test('a server that takes a connection and says nothing of TLS is unreachable', async (t) => {
  const { far, guard } = await opened(t);
  const url = far.url.replace('http:', 'https:');
  assert.equal(reasonOf(await guard.fetch(`${url}/silent`)), 'source_unreachable');
  assert.equal(guard.lines.at(-1)?.detail, 'no connection in time');
  const left = () => new Promise<number>((done) => far.server.getConnections((_, n) => done(n)));
  while ((await left()) > 0) await new Promise((done) => setTimeout(done, 5));
});

test('nobody there, and no answer to a name, are unreachable', async () => {
  const far = await farSide('');
  far.close();
  const guard = guardOver({}, { exceptions: [`127.0.0.1:${far.port}`] });
  assert.equal(reasonOf(await guard.fetch(far.url)), 'source_unreachable');
  const deaf = guardOver({}, { resolve: () => new Promise(() => undefined) });
  assert.equal(reasonOf(await deaf.fetch('http://slow.example.com/')), 'source_unreachable');
});

test('the second address is tried where the first has nobody', async (t) => {
  const far = await farSide(response('here'));
  t.after(() => far.close());
  const names = { 'two.example.com': ['127.0.0.3', '127.0.0.1'] };
  const guard = guardOver(names, { exceptions: [`127.0.0.0/8:${far.port}`] });
  assert.equal(reasonOf(await guard.fetch(`http://two.example.com:${far.port}/`)), 'status 200');
});
