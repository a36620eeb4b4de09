// Our own connections to providers, against bare sockets: which one a call gets, what is sent, what
// ends it, and that nothing of one call reaches the next.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { createServer as createSecureServer, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import type { Dispatcher } from 'undici';
import { ConnectionError, type TextCall } from '../../../media/transport/connection.ts';
import { Connections } from '../../../media/transport/connections.ts';
import { makeCertificate, runClient, withoutOpenssl } from '../../harness/certificate.ts';
import { eventually } from '../../harness/chat-call.ts';

const stops: (() => void)[] = [];
after(() => {
  for (const stop of stops) stop();
});

interface Served {
  origin: string;
  sockets: Socket[];
  /** What came on each connection. */
  received: string[];
}

/** A server of bare sockets: `answer` gets each piece that comes. */
async function serve(
  answer: (socket: Socket, text: string, connection: number) => void,
): Promise<Served> {
  const sockets: Socket[] = [];
  const received: string[] = [];
  const server: Server = createServer((socket) => {
    const connection = sockets.push(socket) - 1;
    received.push('');
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received[connection] += bytes.toString('latin1');
      answer(socket, bytes.toString('latin1'), connection);
    });
  });
  stops.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return { origin: `http://127.0.0.1:${address.port}`, sockets, received };
}

function pool(connectionsMax = 4, idleMs = 4_000): Connections {
  const connections = new Connections({ connectionsMax, idleMs });
  stops.push(() => connections.close());
  return connections;
}

interface Heard {
  status: number;
  body: string;
  error: Error | null;
}

interface Asked {
  controller: Dispatcher.DispatchController | null;
  /** So far. */
  heard: Heard;
  done: Promise<Heard>;
}

function callTo(origin: string, text = '{}', headers: Record<string, string> = {}): TextCall {
  return { origin, path: '/v1/x?y=1', method: 'POST', headers, body: text };
}

/** Sends a call; what is heard behind its end fails the test. */
function ask(connections: Connections, call: TextCall): Asked {
  const heard: Heard = { status: 0, body: '', error: null };
  const asked: Asked = { controller: null, heard, done: Promise.resolve(heard) };
  asked.done = new Promise((resolve, reject) => {
    let isOver = false;
    const live = (hear: () => void) => {
      if (isOver) reject(new Error('told behind the end'));
      else hear();
    };
    const end = (error: Error | null) =>
      live(() => {
        isOver = true;
        heard.error = error;
        resolve(heard);
      });
    connections.dispatch(call, {
      onRequestStart: (controller) => live(() => (asked.controller = controller)),
      onResponseStart: (_controller, status) => live(() => (heard.status = status)),
      onResponseData: (_controller, piece) => live(() => (heard.body += piece.toString())),
      onResponseEnd: () => end(null),
      onResponseError: (_controller, error) => end(error),
    });
  });
  return asked;
}

const reply = (body: string, ...headers: string[]) =>
  ['HTTP/1.1 200 OK', `Content-Length: ${body.length}`, ...headers, '', body].join('\r\n');

const settle = () => new Promise((resolve) => setTimeout(resolve, 20));

test('a request is sent as it stands, and its connection is used again', async () => {
  const { origin, sockets, received } = await serve((socket) => socket.write(reply('yes')));
  const connections = pool();
  const first = await ask(connections, callTo(origin, '{"a":"ä€"}', { authorization: 'Bearer k' }))
    .done;
  assert.deepEqual(first, { status: 200, body: 'yes', error: null });
  const expected = [
    'POST /v1/x?y=1 HTTP/1.1',
    `host: ${origin.slice('http://'.length)}`,
    'connection: keep-alive',
    'authorization: Bearer k',
    'content-length: 13',
    '',
    Buffer.from('{"a":"ä€"}').toString('latin1'),
  ];
  assert.equal(received[0], expected.join('\r\n'));
  assert.equal((await ask(connections, callTo(origin)).done).body, 'yes');
  assert.equal(sockets.length, 1);
});

test('a header in Latin-1 is sent so, and one that would be another request is not', async () => {
  const { origin, received } = await serve((socket) => socket.write(reply('')));
  const connections = pool();
  await ask(connections, callTo(origin, 'ä', { 'x-name': 'käse' })).done;
  assert.match(received[0] ?? '', /\r\nx-name: k\xe4se\r\ncontent-length: 2\r\n\r\n\xc3\xa4$/);
  for (const headers of [{ 'x-a': 'b\r\nx-c: d' }, { 'x-a\r\n': 'b' }, { 'x-a': '€' }]) {
    const { error } = await ask(connections, callTo(origin, '', headers)).done;
    assert.match(error?.message ?? '', /is not sent$/);
  }
  const { error } = await ask(connections, { ...callTo(origin), path: '/a b' }).done;
  assert.equal(error?.message, 'the path is not sent');
  assert.ok(!received.join('').includes('x-c'));
});

test('calls beyond the connections wait in order, also for those that are lost', async () => {
  const answers: Socket[] = [];
  const { origin, sockets } = await serve((socket) => answers.push(socket));
  const connections = pool(2);
  const asked = ['1', '2', '3', '4'].map((text) => ask(connections, callTo(origin, text)));
  await eventually(async () => answers.length === 2, 'two are sent');
  await settle();
  assert.equal(sockets.length, 2);
  answers[0]?.write(reply('a'));
  await eventually(async () => answers.length === 3, 'the third is sent');
  assert.equal(answers[2], answers[0], 'on the connection that is free');
  answers[1]?.destroy();
  const lost = await asked[1]?.done;
  assert.ok(lost?.error instanceof ConnectionError && lost.error.code === 'closed');
  assert.equal(lost.error.wasKept, false);
  await eventually(async () => answers.length === 4, 'the fourth is sent');
  assert.equal(sockets.length, 3);
  answers[2]?.write(reply('c'));
  answers[3]?.write(reply('d'));
  assert.deepEqual([(await asked[2]?.done)?.body, (await asked[3]?.done)?.body], ['c', 'd']);
});

test('calls that are given up while they wait are not sent, and cost no connection', async () => {
  const answers: Socket[] = [];
  const { origin, sockets, received } = await serve((socket) => answers.push(socket));
  const connections = pool(1);
  const first = ask(connections, callTo(origin, 'first'));
  const reason = new Error('given up');
  const ended: unknown[] = [];
  for (let count = 0; count < 100; count += 1) {
    connections.dispatch(callTo(origin, 'waiting'), {
      onRequestStart: (controller) => controller.abort(reason),
      onResponseStart: () => assert.fail('nothing was asked'),
      onResponseError: (_controller, error) => ended.push(error),
    });
  }
  const last = ask(connections, callTo(origin, 'last'));
  await eventually(async () => answers.length === 1, 'the first is sent');
  answers[0]?.write(reply('a'));
  await first.done;
  await eventually(async () => answers.length === 2, 'the last is sent');
  answers[1]?.write(reply('z'));
  assert.equal((await last.done).body, 'z');
  assert.deepEqual([sockets.length, ended.length], [1, 100]);
  assert.ok(ended.every((error) => error === reason) && !received[0]?.includes('waiting'));
});

test('a connection is not used again for what its server says or does', async () => {
  const behaviours: Record<string, (socket: Socket) => void> = {
    'says close': (socket) => socket.write(reply('x', 'Connection: close')),
    'keeps it for a second': (socket) => socket.write(reply('x', 'Keep-Alive: timeout=1')),
    'ends it': (socket) => socket.end(reply('x')),
    'says more than it should': (socket) => socket.write(`${reply('x')}HTTP/1.1 200 OK\r\n`),
    'says it later': (socket) => {
      socket.write(reply('x'));
      setTimeout(() => socket.write('HTTP/1.1 408 Timeout\r\n\r\n'), 5);
    },
    'has no length': (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nx'),
  };
  for (const [what, behave] of Object.entries(behaviours)) {
    const { origin, sockets } = await serve(behave);
    const connections = pool();
    for (const count of [1, 2]) {
      assert.deepEqual(
        await ask(connections, callTo(origin)).done,
        { status: 200, body: 'x', error: null },
        what,
      );
      assert.equal(sockets.length, count, what);
      await eventually(async () => sockets[count - 1]?.destroyed === true, `${what}: it is closed`);
    }
  }
});

test('an idle connection is closed in time, and by its server at any time', async () => {
  const { origin, sockets } = await serve((socket) => socket.write(reply('x')));
  const connections = pool(4, 50);
  await ask(connections, callTo(origin)).done;
  await eventually(async () => sockets[0]?.destroyed === true, 'it is closed');
  const others = pool();
  await ask(others, callTo(origin)).done;
  sockets[1]?.destroy();
  await settle();
  assert.equal((await ask(others, callTo(origin)).done).body, 'x');
  assert.equal(sockets.length, 3);
});

test('who gives a call up closes its connection, and touches no other one', async () => {
  const { origin, sockets } = await serve((socket, text) => {
    if (text.endsWith('\r\n\r\nslow'))
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx');
    else socket.write(reply('fast'));
  });
  const connections = pool();
  const slow = ask(connections, callTo(origin, 'slow'));
  await eventually(async () => slow.heard.body === 'x', 'it has begun');
  const reason = new Error('given up');
  slow.controller?.abort(reason);
  assert.equal((await slow.done).error, reason);
  await eventually(async () => sockets[0]?.destroyed === true, 'it is closed');
  const first = ask(connections, callTo(origin, '1'));
  await first.done;
  const second = ask(connections, callTo(origin, '2'));
  // The connection is another call's by now.
  first.controller?.abort(reason);
  first.controller?.pause();
  assert.deepEqual(await second.done, { status: 200, body: 'fast', error: null });
  assert.equal(sockets.length, 2);
});

test('who pauses is told no more than was read, and its server has to wait', async () => {
  const piece = Buffer.alloc(1_000_000, 'x');
  let written = 0;
  const { origin } = await serve((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${40 * piece.length}\r\n\r\n`);
    const write = () => {
      while (written < 40) {
        written += 1;
        if (!socket.write(piece)) return;
      }
    };
    socket.on('drain', write);
    write();
  });
  const asked = ask(pool(), callTo(origin));
  await eventually(async () => asked.heard.body.length > 0, 'it has begun');
  asked.controller?.pause();
  await settle();
  const told = asked.heard.body.length;
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(asked.heard.body.length, told);
  assert.ok(written < 40, 'the server waits');
  asked.controller?.resume();
  assert.equal((await asked.done).body.length, 40 * piece.length);
});

test('a response that is cut or is none ends its call with an error', async () => {
  const cases: [answer: (socket: Socket) => void, code: string][] = [
    [(socket) => socket.end(reply('whole').slice(0, -1)), 'closed'],
    [(socket) => socket.end(), 'closed'],
    [(socket) => socket.write('SSH-2.0-OpenSSH\r\n\r\n'), 'malformed'],
    [(socket) => socket.resetAndDestroy(), 'ECONNRESET'],
  ];
  for (const [answer, code] of cases) {
    const { origin } = await serve(answer);
    const { error } = await ask(pool(), callTo(origin)).done;
    assert.equal((error as { code?: string } | null)?.code, code);
  }
  const { origin, sockets } = await serve(() => undefined);
  const closing = pool();
  const asked = ask(closing, callTo(origin));
  await eventually(async () => sockets.length === 1, 'it is connected');
  closing.close();
  assert.ok((await asked.done).error instanceof ConnectionError);
});

test('TLS: the certificate is checked, and the session goes on in the next connection', {
  skip: withoutOpenssl,
}, async () => {
  const { key, cert, trust, remove } = await makeCertificate();
  try {
    const seen: unknown[] = [];
    const server = createSecureServer(
      { key, cert, ALPNProtocols: ['http/1.1'] },
      (socket: TLSSocket) => {
        seen.push([socket.alpnProtocol, socket.servername, socket.isSessionReused()]);
        socket.on('error', () => undefined);
        socket.on('data', () => socket.write(reply('safe', 'Connection: close')));
      },
    );
    stops.push(() => server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const script = fileURLToPath(new URL('./secure-calls-child.js', import.meta.url));
    const run = (env: Record<string, string>) =>
      runClient(script, [`https://localhost:${port}`], env);
    assert.deepEqual(await run(trust), ['safe', 'safe']);
    assert.deepEqual(seen, [
      ['http/1.1', 'localhost', false],
      ['http/1.1', 'localhost', true],
    ]);
    const refused = await run({});
    assert.deepEqual(refused, ['DEPTH_ZERO_SELF_SIGNED_CERT', 'DEPTH_ZERO_SELF_SIGNED_CERT']);
  } finally {
    await remove();
  }
});
