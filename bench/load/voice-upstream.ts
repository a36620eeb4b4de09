// The upstream of the voice benches: one realtime wire format (OpenAI Realtime) and bare binary
// messages, by order of each session (`voice-wire.ts`). It hears nothing: it times onsets, and its
// audio carries the clock. So it costs little, and measures what lies between the two.
import { App, us_socket_local_port, type WebSocket } from 'uWebSockets.js';
import { answerParent } from './asked.ts';
import type { Seen, UpstreamJob } from './voice-job.ts';
import {
  clockMs,
  FRAME_BYTES,
  OUTPUT_BYTES_MS,
  readOrder,
  type SessionOrder,
  STAMP_BYTES,
  stampNow,
} from './voice-wire.ts';

const ANSWER_MS = 10_000;
const BURST_MS = 30_000;
const BURST_PAUSE_MS = 3_000;
/** After a barge-in the next answer begins this much later. */
const RESUME_MS = 500;
const AUDIO_MARK = '"audio":"';
/** Of base64: 32 ms at 24 kHz are 1,536 bytes. */
const FRAME_CHARACTERS = 2_048;
const ZERO_CODE = 'A'.charCodeAt(0);

interface Data {
  isRaw: boolean;
  order: SessionOrder | null;
  /** False between two answers. */
  isAnswering: boolean;
  answers: number;
  sentMs: number;
  /** When the next delta, or the next answer, is due. */
  dueMs: number;
  wasSilent: boolean;
  audioAt: number;
}
type Socket = WebSocket<Data>;

const speaking = new Set<Socket>();
const sockets = new Set<Socket>();
let onsets = new Map<number, number[]>();
let frames = 0;
let port = 0;

/** Audio of one delta without its stamp: a quiet tone, and its text in base64. */
const bodies = new Map<number, { raw: Buffer; base64: string }>();
function bodyOf(deltaMs: number): { raw: Buffer; base64: string } {
  const known = bodies.get(deltaMs);
  if (known !== undefined) return known;
  const raw = Buffer.alloc(deltaMs * OUTPUT_BYTES_MS);
  for (let at = STAMP_BYTES; at < raw.length; at += 2) {
    raw.writeInt16LE(Math.round(4_000 * Math.sin((at / 2) * 0.1)), at);
  }
  const body = { raw, base64: raw.subarray(STAMP_BYTES).toString('base64') };
  bodies.set(deltaMs, body);
  return body;
}

let eventNumber = 0;
function say(socket: Socket, event: { type: string } & Record<string, unknown>): void {
  socket.send(JSON.stringify({ event_id: `event_${++eventNumber}`, ...event }), false);
}

const place = (data: Data) => ({
  response_id: `resp_${data.order?.session}_${data.answers}`,
  item_id: `item_${data.order?.session}_${data.answers}`,
  output_index: 0,
  content_index: 0,
});

function begin(socket: Socket, data: Data): void {
  data.answers += 1;
  data.isAnswering = true;
  data.sentMs = 0;
  if (data.isRaw) return;
  const { response_id, item_id } = place(data);
  const heard = `heard_${item_id}`;
  const item = { id: item_id, type: 'message', role: 'assistant', status: 'in_progress' };
  say(socket, { type: 'input_audio_buffer.speech_started', item_id: heard, audio_start_ms: 0 });
  say(socket, { type: 'input_audio_buffer.speech_stopped', item_id: heard, audio_end_ms: 500 });
  say(socket, { type: 'input_audio_buffer.committed', item_id: heard });
  say(socket, {
    type: 'conversation.item.input_audio_transcription.completed',
    item_id: heard,
    content_index: 0,
    transcript: ' heard 440',
  });
  const response = { id: response_id, object: 'realtime.response', status: 'in_progress' };
  say(socket, { type: 'response.created', response: { ...response, output: [] } });
  const content = { ...item, content: [] };
  say(socket, { type: 'response.output_item.added', response_id, output_index: 0, item: content });
  say(socket, { type: 'conversation.item.added', item: content });
  const part = { type: 'audio', transcript: '' };
  say(socket, { type: 'response.content_part.added', ...place(data), part });
}

function finish(socket: Socket, data: Data, status: 'completed' | 'cancelled'): void {
  data.isAnswering = false;
  if (data.isRaw) return;
  const { response_id, item_id } = place(data);
  say(socket, { type: 'response.output_audio.done', ...place(data) });
  const transcript = ' heard 220';
  say(socket, { type: 'response.output_audio_transcript.done', ...place(data), transcript });
  const item = {
    id: item_id,
    type: 'message',
    role: 'assistant',
    status: status === 'completed' ? 'completed' : 'incomplete',
    content: [{ type: 'audio', transcript }],
  };
  say(socket, { type: 'response.output_item.done', response_id, output_index: 0, item });
  const tokens = Math.ceil(data.sentMs / 100);
  const usage = {
    total_tokens: 2 * tokens,
    input_tokens: tokens,
    output_tokens: tokens,
    input_token_details: { text_tokens: 0, audio_tokens: tokens, cached_tokens: 0 },
    output_token_details: { text_tokens: 0, audio_tokens: tokens },
  };
  const response = { id: response_id, object: 'realtime.response', status, output: [item], usage };
  say(socket, { type: 'response.done', response });
}

function sendDelta(socket: Socket, data: Data, deltaMs: number): void {
  const { raw, base64 } = bodyOf(deltaMs);
  const stamp = stampNow();
  data.sentMs += deltaMs;
  if (data.isRaw) {
    stamp.copy(raw);
    socket.send(raw, true);
    return;
  }
  const { response_id, item_id } = place(data);
  socket.send(
    `{"type":"response.output_audio.delta","event_id":"event_${++eventNumber}","response_id":"` +
      `${response_id}","item_id":"${item_id}","output_index":0,"content_index":0,"delta":"` +
      `${stamp.toString('base64')}${base64}"}`,
    false,
  );
}

/** What is due in one session: a delta at real time, or a whole answer at once. */
function speak(socket: Socket, data: Data, order: SessionOrder): void {
  if (!data.isAnswering) begin(socket, data);
  if (order.mode === 'burst') {
    while (data.sentMs < BURST_MS) sendDelta(socket, data, order.deltaMs);
    finish(socket, data, 'completed');
    data.dueMs += BURST_MS + BURST_PAUSE_MS;
    return;
  }
  sendDelta(socket, data, order.deltaMs);
  data.dueMs += order.deltaMs;
  // The next answer follows without a gap: its first delta is due as if it were of the last one.
  if (data.sentMs >= ANSWER_MS) finish(socket, data, 'completed');
}

function pump(): void {
  const now = clockMs();
  for (const socket of speaking) {
    const data = socket.getUserData();
    const { order } = data;
    if (order === null || data.dueMs > now) continue;
    // Late by a second: the machine slept, and nobody wants a storm.
    if (now - data.dueMs > 1_000) data.dueMs = now;
    socket.cork(() => speak(socket, data, order));
  }
  setTimeout(pump, 1);
}
pump();

/** The first input starts the talk: from then on both directions run. */
function heard(socket: Socket, data: Data, isSilent: boolean, count: number): void {
  frames += count;
  const { order } = data;
  if (order === null) return;
  if (data.wasSilent && !isSilent) {
    const times = onsets.get(order.session) ?? [];
    onsets.set(order.session, times);
    times.push(clockMs());
  }
  data.wasSilent = isSilent;
  if (order.mode === 'silent' || speaking.has(socket)) return;
  data.dueMs = clockMs() + Math.random() * order.deltaMs;
  speaking.add(socket);
}

/** Digital silence is `AAAA…` in base64, and zeros in bytes. */
function isAll(code: number, bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] !== code) return false;
  return true;
}

function isAudio(bytes: Buffer, at: number): boolean {
  return bytes.toString('latin1', at - AUDIO_MARK.length, at) === AUDIO_MARK;
}

function read(socket: Socket, data: Data, bytes: Buffer): void {
  if (data.isRaw) {
    heard(socket, data, isAll(0, bytes, 0, bytes.length), bytes.length / FRAME_BYTES);
    return;
  }
  if (bytes.length > 500) {
    // The set-up is long as well, and has no audio.
    if (data.audioAt < AUDIO_MARK.length) {
      data.audioAt = bytes.indexOf(AUDIO_MARK) + AUDIO_MARK.length;
    }
    if (data.audioAt > AUDIO_MARK.length && isAudio(bytes, data.audioAt)) {
      const end = bytes.indexOf('"', data.audioAt + 400);
      const paddingFree = bytes[end - 1] === 0x3d ? end - 3 : end;
      // Frames that were late may come together in one message.
      const count = (paddingFree - data.audioAt) / FRAME_CHARACTERS;
      heard(socket, data, isAll(ZERO_CODE, bytes, data.audioAt, paddingFree), count);
      return;
    }
  }
  command(socket, data, JSON.parse(bytes.toString('utf8')) as { type: string });
}

function command(socket: Socket, data: Data, event: { type: string }): void {
  switch (event.type) {
    case 'session.update': {
      const { session } = event as unknown as { session: object };
      say(socket, { type: 'session.updated', session: { ...sessionOf(socket), ...session } });
      return;
    }
    case 'conversation.item.create': {
      const { item } = event as unknown as { item: object };
      data.order ??= readOrder(JSON.stringify(item));
      const told = { id: `item_${++eventNumber}`, object: 'realtime.item', ...item };
      say(socket, { type: 'conversation.item.added', item: told });
      say(socket, { type: 'conversation.item.done', item: told });
      return;
    }
    case 'response.cancel':
      if (!data.isAnswering) return;
      finish(socket, data, 'cancelled');
      data.dueMs = clockMs() + RESUME_MS;
  }
}

function sessionOf(socket: Socket): object {
  return { id: `sess_${socket.getUserData().order?.session ?? 0}`, type: 'realtime' };
}

App()
  .ws<Data>('/*', {
    idleTimeout: 0,
    maxPayloadLength: 1024 * 1024,
    maxBackpressure: 64 * 1024 * 1024,
    upgrade: (response, request, context) => {
      const order = readOrder(request.getQuery() ?? '');
      const data: Data = {
        isRaw: request.getUrl().startsWith('/raw'),
        order,
        isAnswering: false,
        answers: 0,
        sentMs: 0,
        dueMs: 0,
        wasSilent: true,
        audioAt: 0,
      };
      response.upgrade(
        data,
        request.getHeader('sec-websocket-key'),
        request.getHeader('sec-websocket-protocol').split(',')[0] ?? '',
        request.getHeader('sec-websocket-extensions'),
        context,
      );
    },
    open: (socket) => {
      sockets.add(socket);
      if (!socket.getUserData().isRaw) {
        say(socket, { type: 'session.created', session: sessionOf(socket) });
      }
    },
    message: (socket, message) => read(socket, socket.getUserData(), Buffer.from(message)),
    close: (socket) => {
      sockets.delete(socket);
      speaking.delete(socket);
    },
  })
  .listen('127.0.0.1', 0, (listening) => {
    if (!listening) throw new Error('the upstream cannot listen');
    port = us_socket_local_port(listening);
  });

answerParent<UpstreamJob>(async (job) => {
  if (job.kind === 'port') return port;
  const cpu = process.cpuUsage();
  const seen: Seen = {
    onsets: [...onsets],
    frames,
    open: sockets.size,
    cpuMicros: cpu.user + cpu.system,
  };
  onsets = new Map();
  frames = 0;
  return seen;
});
