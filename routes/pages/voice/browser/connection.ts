// One connection of svc.voice.v1: start message, frames, events. It ends once; what comes next, a
// renewal or nothing, is the conversation's decision.
import {
  type ContextMessage,
  failureText,
  PROTOCOL,
  readServerEvent,
  type ServerEvent,
} from './wire.ts';

/** A second of input: what the network has not taken by then is left out. */
const UNSENT_BYTES_MAX = 32_000;
const READY_MS = 15_000;
const END_MS = 3_000;

export interface StartOptions {
  ticket: string;
  voiceId: string;
  context: ContextMessage[];
  continuationToken: string | null;
}

export type Ending =
  | { kind: 'ended'; reason: string; renewable: boolean }
  /** By the server's fatal error, which `session.ended` may follow. */
  | { kind: 'refused'; code: string; text: string; isRetryable: boolean }
  /** Without a word: the network, or the server. */
  | { kind: 'lost' };

export interface ConnectionListener {
  event(event: ServerEvent): void;
  audio(pcm: ArrayBuffer): void;
  ended(ending: Ending): void;
}

export interface Connection {
  sendFrame(pcm: ArrayBuffer): void;
  bargeIn(): void;
  /** Politely; `ended` follows. */
  end(): void;
  /** At once; nothing follows. */
  drop(): void;
}

export function openConnection(start: StartOptions, listener: ConnectionListener): Connection {
  const address = new URL('/v1/voice/sessions', location.href);
  address.protocol = address.protocol.replace('http', 'ws');
  address.searchParams.set('ticket', start.ticket);
  const socket = new WebSocket(address, PROTOCOL);
  socket.binaryType = 'arraybuffer';
  let ending: Ending = { kind: 'lost' };
  let isOver = false;
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(deadline);
    socket.close();
    listener.ended(ending);
  };
  const deadline = setTimeout(finish, READY_MS);
  const send = (message: object): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  const onEvent = (event: ServerEvent): void => {
    if (event.type === 'session.ready') clearTimeout(deadline);
    if (event.type === 'session.ended' && ending.kind !== 'refused') {
      ending = { kind: 'ended', reason: event.reason, renewable: event.renewable };
    } else if (event.type === 'error' && event.fatal) {
      const { code, message, retryable: isRetryable } = event;
      ending = { kind: 'refused', code, text: failureText(code, message), isRetryable };
    }
    listener.event(event);
  };
  socket.onopen = () => {
    const { voiceId, context, continuationToken } = start;
    const token = continuationToken === null ? {} : { continuation_token: continuationToken };
    const client_context = { timezone: Intl.DateTimeFormat().resolvedOptions().timeZone ?? '' };
    send({ type: 'start', mode: 'full', voice_id: voiceId, context, client_context, ...token });
  };
  socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (isOver) return;
    if (typeof data !== 'string') {
      listener.audio(data);
      return;
    }
    const event = readServerEvent(data);
    if (event !== null) onEvent(event);
  };
  socket.onclose = finish;
  return {
    sendFrame: (pcm) => {
      const isOpen = socket.readyState === WebSocket.OPEN;
      if (isOpen && socket.bufferedAmount < UNSENT_BYTES_MAX) socket.send(pcm);
    },
    bargeIn: () => send({ type: 'barge_in' }),
    end: () => {
      if (socket.readyState !== WebSocket.OPEN) return finish();
      send({ type: 'end' });
      setTimeout(finish, END_MS);
    },
    drop: () => {
      isOver = true;
      clearTimeout(deadline);
      socket.close();
    },
  };
}
