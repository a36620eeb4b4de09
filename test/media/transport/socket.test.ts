// Live sockets against a server of `ws`: sound that is written below the library keeps its place,
// and what several sockets read into one buffer stays apart.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { type WebSocket, WebSocketServer } from 'ws';
import { openLiveSocket } from '../../../media/transport/socket.ts';
import { makeCertificate, runClient, withoutOpenssl } from '../../harness/certificate.ts';
import { eventually } from '../../harness/chat-call.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

interface Peer {
  socket: WebSocket;
  /** What is below it. */
  raw: Socket;
  received: string[];
}

async function serve(): Promise<{ url(host: string): string; peers: Peer[] }> {
  const server = new WebSocketServer({ port: 0 });
  const peers: Peer[] = [];
  server.on('connection', (socket, request) => {
    const received: string[] = [];
    socket.on('message', (data, isBinary) => received.push(isBinary ? 'binary' : String(data)));
    peers.push({ socket, raw: request.socket, received });
  });
  await once(server, 'listening');
  stops.push(() => {
    for (const { socket } of peers) socket.terminate();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: (host) => `ws://${host}:${port}/live`, peers };
}

const options = {
  perMessageDeflate: false,
  skipUTF8Validation: true,
  maxPayload: 1_000_000,
} as const;
const ignored = () => {};
/** Around each length at which a frame's head changes, and what sound has. */
const lengths = [1, 125, 126, 127, 255, 256, 2_095, 65_535];

for (const [text, host] of [
  ['unmasked on this machine', '127.0.0.1'],
  // The same address, of which the URL does not tell that it is this machine's.
  ['masked on a way that others may read', '[::ffff:127.0.0.1]'],
] as const) {
  test(`sound keeps its place among other messages, ${text}`, async () => {
    const { url, peers } = await serve();
    const masks: number[] = [];
    const { socket, sendAscii } = openLiveSocket(url(host), options, ignored);
    await once(socket, 'open');
    const [peer] = peers;
    assert.ok(peer !== undefined);
    // The head of the first frame: two bytes, then its key.
    peer.raw.prependOnceListener('data', (bytes: Buffer) => masks.push(bytes.readUInt32BE(2)));
    const sent: string[] = [];
    for (const length of lengths) {
      const sound = 's'.repeat(length);
      const other = `other ü ${length}`;
      sendAscii(sound);
      socket.send(other);
      sent.push(sound, other);
    }
    await eventually(async () => peer.received.length === sent.length, 'all have come');
    assert.deepEqual(peer.received, sent);
    assert.equal(masks[0] === 0, host === '127.0.0.1');
    socket.close();
    await once(socket, 'close');
  });
}

/** Unmasked, as a server's frame is. */
function frame(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(bytes.length, 6);
  return Buffer.concat([head, bytes]);
}

test('messages that come in pieces, in turn with those of others, are whole', async () => {
  const { url, peers } = await serve();
  const texts = [0, 1, 2].map((client) => `${client}${'abcdefghij'[client]}`.repeat(70_000));
  const told: string[][] = [];
  for (const client of texts.keys()) {
    const messages: string[] = [];
    told.push(messages);
    const read = (message: Buffer) => void messages.push(String(message));
    const { socket } = openLiveSocket(url('127.0.0.1'), options, read);
    await once(socket, 'open');
    await eventually(async () => peers.length === client + 1, 'it is there');
  }
  const frames = texts.map((text, client) => Buffer.concat([frame(text), frame(`end ${client}`)]));
  const pieceBytes = 7_001;
  for (let from = 0; from < (frames[0]?.length ?? 0); from += pieceBytes) {
    for (const [client, bytes] of frames.entries()) {
      peers[client]?.raw.write(bytes.subarray(from, from + pieceBytes));
    }
    await turn();
  }
  await eventually(async () => told.every(({ length }) => length === 2), 'all have come');
  assert.deepEqual(
    told,
    texts.map((text, client) => [text, `end ${client}`]),
  );
});

test('one that reads no further lets the rest wait, and goes on where it was', async () => {
  const { url, peers } = await serve();
  const told: string[] = [];
  const { socket } = openLiveSocket(url('127.0.0.1'), options, (message) => {
    told.push(String(message));
    if (told.length === 1) socket.pause();
  });
  await once(socket, 'open');
  const [peer] = peers;
  const sent = Array.from({ length: 400 }, (_, count) => `${count} `.repeat(20_000));
  for (const text of sent) peer?.socket.send(text);
  await eventually(async () => told.length > 0, 'the first has come');
  for (let turns = 0; turns < 200; turns += 1) await turn();
  // What one read brought may still be told.
  assert.ok(told.length < 10, `${told.length} were told`);
  assert.ok((peer?.socket.bufferedAmount ?? 0) > 0, 'the rest waits at the other end');
  socket.resume();
  await eventually(async () => told.length === sent.length, 'all have come');
  assert.deepEqual(told, sent);
});

test('TLS: the certificate is checked, and sound goes through', {
  skip: withoutOpenssl,
}, async () => {
  const { key, cert, trust, remove } = await makeCertificate();
  try {
    const server = createSecureServer({ key, cert });
    const names: unknown[] = [];
    server.on('secureConnection', (socket: TLSSocket) => names.push(socket.servername));
    const upgrades = new WebSocketServer({ server });
    upgrades.on('connection', (socket) => {
      socket.on('message', (data) => socket.send(String(data)));
    });
    stops.push(() => server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const script = fileURLToPath(new URL('./socket-child.js', import.meta.url));
    const run = (env: Record<string, string>) =>
      runClient(script, [`wss://localhost:${port}`], env);
    assert.deepEqual(await run(trust), ['short', 'between', 'long '.repeat(400)]);
    assert.deepEqual(names, ['localhost']);
    assert.equal(await run({}), 'DEPTH_ZERO_SELF_SIGNED_CERT');
  } finally {
    await remove();
  }
});
