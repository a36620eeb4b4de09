// Calls of video providers: a submission is written once, whatever becomes of its connection, and
// its failure says whether it was written.
import assert from 'node:assert/strict';
import type { Server, Socket } from 'node:net';
import { after, before, test } from 'node:test';
import {
  createVideoClient,
  type VideoClient,
  type VideoDeadlines,
  type VideoResult,
} from '../../../../media/providers/video/call.ts';
import type { VideoCall } from '../../../../media/providers/video/contract.ts';
import { countingServer } from '../../../harness/counting-server.ts';

const generous = { connectMs: 30_000, headersMs: 30_000, totalMs: 30_000 };
const whole = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';
let client: VideoClient;
const servers: Server[] = [];
before(() => {
  client = createVideoClient({ connectionsMax: 8 });
});
after(async () => {
  await client.close();
  for (const server of servers) server.close();
});

async function serverOf(answer: (socket: Socket, request: number) => void) {
  const counting = await countingServer(answer);
  servers.push(counting.server);
  return counting;
}

function submission(url: string, headers: Record<string, string> = {}): VideoCall {
  return { method: 'POST', url: `${url}/videos`, headers, body: '{"prompt":"ü"}' };
}

function poll(url: string): VideoCall {
  return { method: 'GET', url: `${url}/videos/one`, headers: {}, body: '' };
}

function run(
  call: VideoCall,
  deadlines: Partial<VideoDeadlines> = {},
  signal = new AbortController().signal,
): Promise<VideoResult> {
  return client.run(call, { deadlines: { ...generous, ...deadlines }, signal });
}

function failedOf(result: VideoResult): string {
  return 'failed' in result ? result.failed : `replied ${result.reply.status}`;
}

test('a submission has a connection of its own, and none that is cut is sent again', async () => {
  const { url, seen } = await serverOf((socket, number) => {
    if (number === 3) socket.destroy();
    else socket.write(whole);
  });
  // A poll leaves a kept connection behind, which the submissions must not use.
  assert.equal(failedOf(await run(poll(url))), 'replied 200');
  assert.equal(failedOf(await run(submission(url))), 'replied 200');
  assert.equal(failedOf(await run(submission(url))), 'sent');
  assert.deepEqual(seen, [1, 2, 3]);
  assert.equal(failedOf(await run(poll(url))), 'replied 200');
  assert.deepEqual(seen, [1, 2, 3, 1]);
});

test('a poll whose kept connection was closed under it is sent once more', async () => {
  const { url, seen } = await serverOf((socket, number) => {
    if (number === 2) socket.destroy();
    else socket.write(whole);
  });
  await run(poll(url));
  assert.equal(failedOf(await run(poll(url))), 'replied 200');
  assert.deepEqual(seen, [1, 1, 2]);
});

test('what was never written says so', async () => {
  const free = await countingServer(() => undefined);
  free.server.close();
  assert.equal(failedOf(await run(submission(free.url))), 'unsent');
  const { url, seen } = await serverOf((socket) => socket.end('no TLS at all\r\n'));
  assert.equal(failedOf(await run(submission(url.replace('http:', 'https:')))), 'unsent');
  const silent = await serverOf(() => undefined);
  const secure = submission(silent.url.replace('http:', 'https:'));
  assert.equal(failedOf(await run(secure, { connectMs: 200 })), 'unsent');
  seen.length = 0;
  assert.equal(failedOf(await run(submission(url, { 'x-key': 'a\r\nb: c' }))), 'unsent');
  assert.equal(failedOf(await run(submission('http://127.0.0.1:99999/v1'))), 'unsent');
  const aborted = AbortSignal.abort();
  assert.equal(failedOf(await run(submission(url), {}, aborted)), 'unsent');
  assert.deepEqual(seen, []);
});

test('what may have been read says so: a cut, nonsense, silence, an abort', async () => {
  const half = 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"id":';
  const answers: [(socket: Socket) => void, Partial<VideoDeadlines>][] = [
    [(socket) => socket.destroy(), {}],
    [(socket) => socket.resetAndDestroy(), {}],
    [(socket) => socket.end('SSH-2.0-nothing\r\n'), {}],
    [(socket) => socket.end(half), {}],
    [() => undefined, { headersMs: 200 }],
    [(socket) => socket.write(half), { totalMs: 300 }],
  ];
  for (const [answer, deadlines] of answers) {
    const { url, seen } = await serverOf(answer);
    assert.equal(failedOf(await run(submission(url), deadlines)), 'sent', answer.toString());
    assert.deepEqual(seen, [1]);
  }
  const controller = new AbortController();
  const { url } = await serverOf(() => controller.abort());
  assert.equal(failedOf(await run(submission(url), {}, controller.signal)), 'sent');
});

test('a refusal that is cut is one, and a long reply is read as far as it may be', async () => {
  const cut = await serverOf((socket) =>
    socket.end('HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-length: 50\r\n\r\n{"error"'),
  );
  assert.deepEqual(await run(submission(cut.url)), {
    reply: {
      status: 429,
      headers: { 'retry-after': '7', 'content-length': '50' },
      body: '{"error"',
    },
  });
  const long = await serverOf((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 900000\r\n\r\n');
    socket.write('x'.repeat(900_000));
  });
  const result = await run(poll(long.url));
  assert.equal('reply' in result && result.reply.body.length, 256 * 1_024);
});

test('the body is sent as UTF-8 with its length, and closing ends what runs', async () => {
  let heard = '';
  const { server, url } = await serverOf(() => undefined);
  server.on('connection', (socket: Socket) =>
    socket.on('data', (bytes) => {
      heard += String(bytes);
    }),
  );
  const own = createVideoClient({ connectionsMax: 1 });
  const signal = new AbortController().signal;
  const running = own.run(submission(url), { deadlines: generous, signal });
  const deadline = performance.now() + 30_000;
  while (heard === '') {
    assert.ok(performance.now() < deadline);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await own.close();
  assert.equal(failedOf(await running), 'sent');
  assert.match(heard, /^POST \/v1\/videos HTTP\/1\.1\r\n/);
  assert.match(heard, /content-length: 15\r\n\r\n\{"prompt":"ü"\}$/);
});
