// What a live socket reads, cut anywhere: from a server that answers the handshake and writes
// frames as it was told to, so that messages pass `ws`, or come past it, or both in turn.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { FrameBoundary, wholeMessage } from '../../../../media/transport/frame-boundary.ts';
import { openLiveSocket } from '../../../../media/transport/socket.ts';
import { fc } from '../../../harness/properties.ts';
import { testSeed as seed } from '../../../harness/seed.ts';

const options = { perMessageDeflate: false, skipUTF8Validation: true, maxPayload: 100_000 };
const [text, binary, fragment, close, ping] = [0x81, 0x82, 0x00, 0x88, 0x89];
/** RFC 6455, section 1.3. */
const acceptGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

let server: Server;
/** What the next connection is told after its handshake, or with it. */
let pieces: Buffer[] = [];
let isWithHandshake = false;
const connections = new Set<Socket>();

before(async () => {
  server = createServer((socket) => {
    connections.add(socket);
    socket.on('error', () => {});
    socket.setNoDelay(true);
    socket.once('data', (request) => void answer(socket, String(request)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

after(() => {
  for (const socket of connections) socket.destroy();
  server.close();
});

async function answer(socket: Socket, request: string): Promise<void> {
  const key = /sec-websocket-key: (\S+)/i.exec(request)?.[1] ?? '';
  const accept = createHash('sha1').update(`${key}${acceptGuid}`).digest('base64');
  const head = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`;
  const handshake = Buffer.from(`${head}Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
  const [first = Buffer.alloc(0), ...others] = pieces;
  const writes = isWithHandshake ? [Buffer.concat([handshake, first])] : [handshake, first];
  for (const piece of [...writes, ...others]) {
    socket.write(piece);
    await turn();
    await turn();
  }
}

/** Unmasked, as a server's frame is; `wide`: with a longer head than it needs. */
function frame(first: number, payload: Buffer, wide = false): Buffer {
  const { length } = payload;
  if (length < 126 && !wide) return Buffer.concat([Buffer.from([first, length]), payload]);
  if (length < 0x1_0000 && !wide) {
    return Buffer.concat([Buffer.from([first, 126, length >> 8, length & 0xff]), payload]);
  }
  const head = Buffer.from([first, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(length, 6);
  return Buffer.concat([head, payload]);
}

/** Told until the last message, which says so. */
async function hear(sent: Buffer[], withHandshake: boolean): Promise<string[]> {
  pieces = sent;
  isWithHandshake = withHandshake;
  const told: string[] = [];
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => {
    const { socket } = openLiveSocket(`ws://127.0.0.1:${port}/`, options, (message) => {
      told.push(message.toString('latin1'));
      if (told.at(-1) === 'last') socket.terminate();
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => resolve());
  });
  return told;
}

const lengths = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.constantFrom(125, 126, 127, 65_535, 65_536, 70_000),
);
const messages = fc.array(
  fc.record({
    length: lengths,
    first: fc.constantFrom(text, text, binary),
    isWide: fc.boolean(),
    fragments: fc.constantFrom(1, 1, 1, 3),
    hasPing: fc.constantFrom(false, false, true),
  }),
  { maxLength: 8 },
);
/** Where the stream is cut: shares of what is left, or at the next border. */
const cuts = fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })), {
  maxLength: 12,
});

interface Message {
  length: number;
  first: number;
  isWide: boolean;
  fragments: number;
  hasPing: boolean;
}

const framesOf = (message: Message, index: number): { frames: Buffer[]; said: string } => {
  // Whoever loses count takes it for frames.
  const said = `\x81\x01${index}`.repeat(message.length).slice(0, message.length);
  const bytes = Buffer.from(said, 'latin1');
  const frames: Buffer[] = [];
  for (let part = 0; part < message.fragments; part += 1) {
    const [from, to] = [part, part + 1].map((at) =>
      Math.floor((at * bytes.length) / message.fragments),
    );
    const isLast = part === message.fragments - 1;
    const first = (part === 0 ? message.first & 0x0f : fragment) | (isLast ? 0x80 : 0);
    frames.push(frame(first, bytes.subarray(from, to), message.isWide));
    if (message.hasPing) frames.push(frame(ping, Buffer.from('alive')));
  }
  return { frames, said };
};

function cut(frames: readonly Buffer[], shares: readonly number[]): Buffer[] {
  const all = Buffer.concat(frames);
  const borders: number[] = [];
  for (const { length } of frames) borders.push((borders.at(-1) ?? 0) + length);
  const places: number[] = [];
  let at = 0;
  for (const share of shares) {
    const border = borders.find((place) => place > at) ?? all.length;
    at = share === 0 ? border : at + Math.ceil(share * (all.length - at));
    places.push(at);
  }
  return [...places, all.length].map((to, index) => all.subarray(places[index - 1] ?? 0, to));
}

test('messages are whole and in order, however they are framed and cut', async () => {
  const stream = fc.asyncProperty(messages, cuts, fc.boolean(), async (list, shares, early) => {
    const parts = list.map(framesOf);
    const frames = [...parts.flatMap((part) => part.frames), frame(text, Buffer.from('last'))];
    const told = await hear(cut(frames, shares), early);
    assert.deepEqual(told, [...parts.map(({ said }) => said), 'last']);
  });
  await fc.assert(stream, { seed, numRuns: 250 });
});

test('a border is reached between messages, nowhere else', () => {
  const stream = fc.property(messages, cuts, (list, shares) => {
    const parts = list.map(framesOf);
    const frames = parts.flatMap((part) => part.frames);
    const borders = new Set([0]);
    let at = 0;
    for (const [index, part] of parts.entries()) {
      const isOpen = (list[index]?.fragments ?? 1) > 1;
      for (const [number, bytes] of part.frames.entries()) {
        at += bytes.length;
        const isEnd = number >= part.frames.length - (list[index]?.hasPing ? 2 : 1);
        if (!isOpen || isEnd) borders.add(at);
      }
    }
    const border = new FrameBoundary();
    let passed = 0;
    for (const piece of cut(frames, shares)) {
      border.pass(piece);
      passed += piece.length;
      assert.equal(border.isReached, borders.has(passed), `${passed} of ${[...borders]}`);
    }
  });
  fc.assert(stream, { seed, numRuns: 500 });
});

test('only one whole, plain frame is a message', () => {
  const whole = frame(text, Buffer.from('abc'));
  assert.equal(String(wholeMessage(Buffer.concat([whole, whole]))?.message), 'abc');
  assert.equal(wholeMessage(whole)?.frameBytes, 5);
  assert.equal(wholeMessage(frame(binary, Buffer.alloc(0)))?.message.length, 0);
  for (let length = 0; length < whole.length; length += 1) {
    assert.equal(wholeMessage(whole.subarray(0, length)), null, `${length} bytes`);
  }
  for (const first of [fragment, 0x01, 0x80, 0x83, close, ping, 0xc1, 0x91, 0xa2]) {
    assert.equal(wholeMessage(frame(first, Buffer.from('abc'))), null, first.toString(16));
  }
  const masked = Buffer.from(whole);
  masked[1] = 0x83;
  assert.equal(wholeMessage(Buffer.concat([masked, Buffer.alloc(9)])), null, 'masked');
});

for (const [name, bytes] of [
  ['a close frame', frame(close, Buffer.from([0x03, 0xe8]))],
  ['a reserved opcode', frame(0x83, Buffer.alloc(3))],
  ['a bit that nobody agreed on', frame(0xc1, Buffer.alloc(3))],
  ['a masked frame', Buffer.from([0x81, 0x81, 1, 2, 3, 4, 5])],
  ['a message that is too long', frame(text, Buffer.alloc(100_001))],
] as const) {
  test(`after ${name} nothing is told`, async () => {
    const before = frame(text, Buffer.from('before'));
    const last = frame(text, Buffer.from('last'));
    assert.deepEqual(await hear([before, bytes, last, last], false), ['before']);
    assert.deepEqual(await hear([Buffer.concat([before, bytes, last])], true), ['before']);
  });
}

test('a message that is too long is refused, also one that came whole', async () => {
  pieces = [frame(text, Buffer.alloc(50_000))];
  isWithHandshake = false;
  const { port } = server.address() as AddressInfo;
  let count = 0;
  const small = { ...options, maxPayload: 49_999 };
  const { socket } = openLiveSocket(`ws://127.0.0.1:${port}/`, small, () => {
    count += 1;
  });
  const [error] = await once(socket, 'error');
  assert.equal((error as { code?: string }).code, 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH');
  assert.equal(count, 0);
  socket.terminate();
});
