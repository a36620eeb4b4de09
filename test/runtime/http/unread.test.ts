// Who says "Connection: close", as proxies do, and is refused while it sends its body gets the
// refusal, and not a reset connection: at every stage at which a request can be refused.
import assert from 'node:assert/strict';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { Problem } from '../../../runtime/problem.ts';
import { type Serving, serve, testRoute } from './serving.ts';

const mebibyte = 1024 * 1024;
const body = {
  kind: 'json',
  bytesMax: mebibyte,
  schema: v.object({}),
} as const;
let runs = 0;
const handle = () => {
  runs += 1;
  return { status: 200, json: { ok: true } };
};
let serving: Serving;
before(async () => {
  serving = await serve(
    [
      testRoute({ method: 'POST', path: '/v1/small', body, handle }),
      testRoute({
        method: 'POST',
        path: '/v1/large',
        body: { ...body, bytesMax: 16 * mebibyte },
        handle,
      }),
      testRoute({ method: 'GET', path: '/v1/read', handle }),
    ],
    {
      authorize(_access, exchange) {
        const refusal = new Problem('unauthenticated');
        const who = exchange.header('origin');
        if (who === 'http://nobody') throw refusal;
        if (who !== 'http://later') return 'somebody';
        return new Promise((_, reject) => setTimeout(() => reject(refusal), 5));
      },
    },
  );
});
after(() => serving.stop());

interface Answer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  text: string;
}

/** As a client that has no other request to send: Node says "Connection: close" then. */
function send(method: string, path: string, bytes: number, headers = {}): Promise<Answer> {
  const options = { port: serving.port, method, path, agent: false };
  const sent = { 'content-type': 'application/json', 'content-length': bytes, ...headers };
  return new Promise((resolve, reject) => {
    const client = request({ ...options, headers: sent }, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (part: string) => {
        text += part;
      });
      reply.on('end', () => resolve({ status: reply.statusCode, headers: reply.headers, text }));
      reply.on('error', reject);
    });
    client.on('error', reject);
    client.end(Buffer.alloc(bytes, ' '));
  });
}

test('a refusal reaches a client that closes, however much of its body is on the way', async () => {
  const cases: [number, string, string, Record<string, string>][] = [
    [413, 'POST', '/v1/small', {}],
    [401, 'POST', '/v1/large', { origin: 'http://nobody' }],
    [401, 'POST', '/v1/large', { origin: 'http://later' }],
    [415, 'POST', '/v1/large', { 'content-type': 'text/plain' }],
    [415, 'POST', '/v1/large', { 'content-encoding': 'gzip' }],
    [406, 'POST', '/v1/large', { accept: 'text/html' }],
    [405, 'PUT', '/v1/large', {}],
    [404, 'POST', '/v1/nowhere', {}],
    [400, 'POST', '/v1/large', {}],
    [200, 'GET', '/v1/read', {}],
  ];
  for (const [status, method, path, headers] of cases) {
    for (let round = 0; round < 5; round += 1) {
      const answer = await send(method, path, 8 * mebibyte, headers);
      assert.equal(answer.status, status, `${method} ${path} ${JSON.stringify(headers)}`);
      assert.equal(Number(answer.headers['content-length']), Buffer.byteLength(answer.text));
      assert.ok(JSON.parse(answer.text));
    }
  }
  assert.equal(runs, 5);
});

interface Upload {
  received: string;
  error: string | null;
  tookMs: number;
}

/** What it sends before the reply begins, and piece by piece after that. */
interface Sent {
  first: readonly (string | Buffer)[];
  rest: readonly (string | Buffer)[];
  /** Between two pieces of the rest. */
  pauseMs: number;
  /** Whether it has no more to say behind them. */
  ends: boolean;
}

/** Reads the beginning of the reply before it sends the rest: nothing may be lost by then. */
function uploadOnce({ first, rest, pauseMs, ends }: Sent): Promise<Upload> {
  const from = performance.now();
  return new Promise((resolve) => {
    const socket = connect(serving.port, '127.0.0.1', () => {
      for (const piece of first) socket.write(piece);
    });
    let received = '';
    let error: string | null = null;
    let sent = 0;
    const next = () => {
      if (error !== null) return;
      const piece = rest[sent];
      sent += 1;
      if (piece !== undefined) socket.write(piece, () => setTimeout(next, pauseMs));
      else if (ends) socket.end();
    };
    socket.on('data', (data) => {
      if (received === '') next();
      received += data.toString('latin1');
    });
    socket.on('error', (cause) => {
      error = cause.message;
    });
    const tookMs = () => performance.now() - from;
    socket.on('close', () => resolve({ received, error, tookMs: tookMs() }));
  });
}

/** Silence of half a second ends the wait, also where the machine stood still: then once more. */
async function upload(sent: Sent): Promise<Upload> {
  let done = await uploadOnce(sent);
  for (let round = 0; done.error !== null && done.tookMs > 400 && round < 20; round += 1) {
    done = await uploadOnce(sent);
  }
  return done;
}

test('the connection of a refused body is not reset under who still sends it', async () => {
  const rest = Array(32).fill(Buffer.alloc(mebibyte / 4, ' '));
  for (const [path, status] of [
    ['/v1/small', 413],
    ['/v1/nowhere', 404],
  ] as const) {
    const headers = ['host: a', 'connection: close', `content-length: ${8 * mebibyte}`];
    const first = [`POST ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`];
    const { error, received } = await upload({ first, rest, pauseMs: 0, ends: false });
    assert.equal(error, null);
    assert.match(received, new RegExp(`^HTTP/1.1 ${status} .*\\}$`, 's'));
  }
});

test('nor is that of a refused body in chunks, whether its client closes or not', async () => {
  const size = mebibyte / 4;
  const piece = Buffer.from(`${size.toString(16)}\r\n${' '.repeat(size)}\r\n`);
  const rest = [...Array(15).fill(piece), '0\r\n\r\n'];
  for (const connection of ['close', 'keep-alive']) {
    const headers = ['host: a', `connection: ${connection}`, 'transfer-encoding: chunked'];
    // Far more of them than the reply waits for.
    const first = [
      `POST /v1/small HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`,
      ...Array(5).fill(piece),
    ];
    const { error, received } = await upload({ first, rest, pauseMs: 5, ends: true });
    assert.equal(error, null, connection);
    assert.match(received, /^HTTP\/1\.1 413 .*\}$/s);
    if (connection === 'keep-alive') assert.match(received, /^connection: close\r$/im);
  }
});

/** What comes until the server closes, to a client that sends this and nothing more. */
function stall(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(serving.port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(received));
  });
}

test('who sends nothing more has the whole refusal, and the connection is closed', async () => {
  const announced = `content-length: ${2 * mebibyte}\r\nconnection: close`;
  const head = `POST /v1/small HTTP/1.1\r\nhost: a\r\n${announced}`;
  for (const rest of ['', '{"a":']) {
    const received = await stall(`${head}\r\n\r\n${rest}`);
    assert.match(received, /^HTTP\/1\.1 413 /);
    assert.match(received, /"code":"request_too_large".*\}$/s);
  }
});

test('a refusal of a body that is all here waits for nothing', async () => {
  const text =
    'POST /v1/large HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nconnection: close\r\n\r\nnone';
  assert.match(await stall(text), /^HTTP\/1\.1 400 /);
});
