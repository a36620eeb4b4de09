// The bare relay of voice: uWebSockets.js + ws, no logic. A frame becomes an append event of the
// size that a resampled frame has, a delta becomes a binary message: what the wire needs, no more.
import { App, type WebSocket } from 'uWebSockets.js';
import { parseArgs } from 'node:util';
import { WebSocket as Upstream } from 'ws';

const { values } = parseArgs({
  options: { port: { type: 'string' }, upstream: { type: 'string' } },
});
const upstreamUrl = values.upstream ?? '';

/** 16 kHz frames of 1,024 bytes are 1,536 bytes at 24 kHz. */
const padded = Buffer.alloc(1_536);
const APPEND = '{"type":"input_audio_buffer.append","audio":"';
const DELTA = '{"type":"response.output_audio.delta"';
const AUDIO = '"delta":"';

interface Data {
  query: string;
  upstream: Upstream | null;
  /** Kept apart from the socket, which throws when it is touched after its end. */
  state: { isOpen: boolean };
}

function connect(socket: WebSocket<Data>): Upstream {
  const { query, state } = socket.getUserData();
  const upstream = new Upstream(`${upstreamUrl}/v1/realtime?model=bare&${query}`, {
    perMessageDeflate: false,
    skipUTF8Validation: true,
  });
  let audioAt = 0;
  upstream.on('message', (data: Buffer) => {
    if (!state.isOpen || data.toString('latin1', 0, DELTA.length) !== DELTA) return;
    if (audioAt === 0 || data[audioAt - 1] !== 0x22) audioAt = data.indexOf(AUDIO) + AUDIO.length;
    const pcm = Buffer.from(data.toString('latin1', audioAt, data.length - 2), 'base64');
    socket.send(pcm, true);
  });
  upstream.on('close', () => {
    if (state.isOpen) socket.close();
  });
  upstream.on('error', () => undefined);
  return upstream;
}

App()
  .ws<Data>('/*', {
    idleTimeout: 0,
    maxPayloadLength: 64 * 1024,
    upgrade: (response, request, context) => {
      response.upgrade<Data>(
        { query: request.getQuery() ?? '', upstream: null, state: { isOpen: true } },
        request.getHeader('sec-websocket-key'),
        request.getHeader('sec-websocket-protocol'),
        request.getHeader('sec-websocket-extensions'),
        context,
      );
    },
    open: (socket) => {
      socket.getUserData().upstream = connect(socket);
    },
    message: (socket, message) => {
      const { upstream } = socket.getUserData();
      if (upstream?.readyState !== Upstream.OPEN) return;
      padded.set(new Uint8Array(message), 0);
      upstream.send(`${APPEND}${padded.toString('base64')}"}`);
    },
    close: (socket) => {
      const { upstream, state } = socket.getUserData();
      state.isOpen = false;
      // Also one that is not yet connected.
      upstream?.terminate();
    },
  })
  .listen('127.0.0.1', Number(values.port), (listening) => {
    if (!listening) throw new Error(`cannot listen on port ${values.port}`);
    console.log('bare voice relay ready');
  });
