// The voice generator's framing against the library that everybody uses, cut at every byte; and the
// stamps and onsets that its latencies rest on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { WebSocketServer } from 'ws';
import {
  findStamp,
  inputPattern,
  orderText,
  PATTERN_FRAMES,
  readOrder,
  readStamp,
  stampNow,
} from '../../../bench/load/voice-wire.ts';
import {
  BINARY,
  clientFrame,
  ServerReader,
  TEXT,
  textFrame,
  upgradeRequest,
} from '../../../bench/load/websocket.ts';

interface Heard {
  opened: boolean;
  messages: [number, string][];
  closed: [number, string] | null;
  refused: number | null;
  pongs: Buffer[];
}

function hearing(): { heard: Heard; reader: ServerReader } {
  const heard: Heard = { opened: false, messages: [], closed: null, refused: null, pongs: [] };
  const reader = new ServerReader({
    opened: () => {
      heard.opened = true;
    },
    message: (opcode, payload) => heard.messages.push([opcode, payload.toString('latin1')]),
    ping: (pong) => heard.pongs.push(pong),
    closed: (code, reason) => {
      heard.closed = [code, reason];
    },
    refused: (status) => {
      heard.refused = status;
    },
  });
  return { heard, reader };
}

/** What a ws server sends to an upgraded socket: messages of every length class, ping, close. */
async function recorded(): Promise<Buffer> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  server.on('connection', (socket) => {
    socket.send('short');
    socket.send(Buffer.alloc(300, 7));
    socket.ping('are you there');
    socket.send(Buffer.alloc(70_000, 8));
    socket.close(1012, 'server_draining');
  });
  const { port } = server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  socket.write(upgradeRequest({ host: '127.0.0.1', port, path: '/', headers: {} }));
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > 70_400 && chunk.subarray(-15).toString().endsWith('server_draining')) break;
  }
  socket.destroy();
  server.close();
  return Buffer.concat(chunks);
}

test('what a server sends is read the same however it is cut', async () => {
  const bytes = await recorded();
  const cuts = Array.from({ length: 600 }, (_, index) => index);
  for (const cut of [...cuts, bytes.length - 5, bytes.length - 20, bytes.length]) {
    const { heard, reader } = hearing();
    // A socket's buffer is reused: what is not copied is overwritten.
    const shared = Buffer.alloc(bytes.length);
    for (const part of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
      const view = shared.subarray(0, part.length);
      part.copy(view);
      if (part.length > 0) reader.push(view);
      view.fill(0xff);
    }
    assert.equal(heard.opened, true);
    const lengths = heard.messages.map(([opcode, text]) => [opcode, text.length]);
    assert.deepEqual(lengths, [
      [TEXT, 5],
      [BINARY, 300],
      [BINARY, 70_000],
    ]);
    assert.equal(heard.messages[2]?.[1], '\b'.repeat(70_000));
    assert.deepEqual(heard.closed, [1012, 'server_draining']);
    assert.equal(heard.pongs.length, 1);
  }
});

test('a server takes every frame that the client writes', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const received: [boolean, string][] = [];
  const done = new Promise<void>((resolve) => {
    server.on('connection', (socket) => {
      socket.on('message', (data: Buffer, isBinary) => {
        received.push([isBinary, data.toString('latin1')]);
        if (received.length === 4) resolve();
      });
    });
  });
  const socket: Socket = connect(port, '127.0.0.1');
  socket.write(upgradeRequest({ host: '127.0.0.1', port, path: '/', headers: {} }));
  await once(socket, 'data');
  const frames = [0, 125, 126].map((size) => clientFrame(BINARY, Buffer.alloc(size, 0x61)));
  for (const frame of [...frames, textFrame({ type: 'end' })]) socket.write(frame);
  await done;
  socket.destroy();
  server.close();
  assert.deepEqual(received, [
    [true, ''],
    [true, 'a'.repeat(125)],
    [true, 'a'.repeat(126)],
    [false, '{"type":"end"}'],
  ]);
});

test('a refused upgrade is told by its status', () => {
  const { heard, reader } = hearing();
  reader.push(Buffer.from('HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}'));
  assert.equal(heard.refused, 401);
  assert.equal(heard.opened, false);
});

test('a stamp is found and read where it was written, and nowhere else', () => {
  const before = performance.now();
  const audio = Buffer.concat([Buffer.alloc(250, 3), stampNow(), Buffer.alloc(90, 3)]);
  assert.equal(findStamp(audio, 0), 250);
  assert.equal(findStamp(audio, 252), -1);
  assert.ok(Number.isNaN(readStamp(audio, 248)));
  assert.ok(Number.isNaN(readStamp(audio.subarray(0, 258), 250)));
  const again = stampNow();
  assert.ok(readStamp(again, 0) >= readStamp(audio, 250));
  assert.ok(readStamp(again, 0) - readStamp(audio, 250) <= performance.now() - before + 1);
});

test('the pattern begins with a loud sample after digital silence', () => {
  const pattern = inputPattern();
  assert.equal(pattern.length, PATTERN_FRAMES);
  assert.ok((pattern[0]?.readInt16LE(0) ?? 0) > 8_000);
  assert.ok(pattern.at(-1)?.every((byte) => byte === 0));
  const order = { session: 12, mode: 'burst', deltaMs: 40 } as const;
  assert.deepEqual(readOrder(`{"text":"${orderText(order)}"}`), order);
  assert.deepEqual(readOrder(orderText(order).replaceAll(' ', '+')), order);
  assert.equal(readOrder('anything else'), null);
});
