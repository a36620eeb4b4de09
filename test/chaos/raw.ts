// Connections that speak HTTP by hand: what no well-behaved client would send.
import { connect, type Socket } from 'node:net';
import type { Gateway } from '../harness/gateway.ts';

const CHAT = '/v1/chat/completions';

export interface Raw {
  socket: Socket;
  /** What was answered, as far as it is kept. */
  text: string;
  closed: boolean;
}

/** Resolves when it is connected, or closed at once. */
export function openRaw(gateway: Gateway): Promise<Raw> {
  return new Promise((resolve) => {
    const socket = connect(gateway.port, '127.0.0.1');
    const raw: Raw = { socket, text: '', closed: false };
    socket.on('data', (chunk: Buffer) => {
      if (raw.text.length < 65_536) raw.text += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      raw.closed = true;
      resolve(raw);
    });
    socket.on('connect', () => resolve(raw));
  });
}

/** The head of a chat request with the dev key; `more`: whole header lines. */
export function rawHead(gateway: Gateway, length: number | string, more = ''): string {
  return (
    `POST ${CHAT} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${gateway.dev.api_key}\r\n` +
    `content-type: application/json\r\n${more}content-length: ${length}\r\n\r\n`
  );
}
