// A WebSocket upstream that does what one test says, on a port of its own.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { LiveEvent, LiveListener } from '../../../../media/providers/live/contract.ts';

export interface LiveUpstream {
  port: number;
  /** Everything that clients sent, in order. */
  received: Record<string, unknown>[];
  requests: IncomingMessage[];
  sockets: Set<Socket>;
  close(): Promise<void>;
}

export interface UpstreamBehaviour {
  /** An HTTP status instead of the upgrade. */
  status?: number;
  body?: string;
  /** The upgrade is never answered. */
  isMute?: boolean;
  connected?(socket: WebSocket, raw: Socket): void;
  message?(socket: WebSocket, message: Record<string, unknown>): void;
}

export async function startUpstream(behaviour: UpstreamBehaviour): Promise<LiveUpstream> {
  const server = createServer();
  const sockets = new Set<Socket>();
  const requests: IncomingMessage[] = [];
  const received: Record<string, unknown>[] = [];
  const upgrades = new WebSocketServer({ noServer: true });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request: IncomingMessage, raw: Socket, head) => {
    requests.push(request);
    const { status, body = '' } = behaviour;
    if (behaviour.isMute === true) {
      raw.resume().on('end', () => raw.destroy());
      return;
    }
    if (status !== undefined) {
      raw.end(`HTTP/1.1 ${status} No\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      return;
    }
    upgrades.handleUpgrade(request, raw, head, (socket) => {
      socket.on('error', () => socket.terminate());
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as Record<string, unknown>;
        received.push(message);
        behaviour.message?.(socket, message);
      });
      behaviour.connected?.(socket, raw);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, received, requests, sockets, close: () => stop(server, sockets) };
}

async function stop(server: Server, sockets: Set<Socket>): Promise<void> {
  server.close();
  for (const socket of sockets) socket.destroy();
  if (server.listening) await once(server, 'close');
}

const waitMs = 30_000;

/** Keeps what a call reports. */
export class Listener implements LiveListener {
  readonly told: LiveEvent[] = [];
  readonly #waiting = new Set<() => void>();

  events(events: readonly LiveEvent[]): void {
    this.told.push(...events);
    for (const look of this.#waiting) look();
  }

  get types(): string[] {
    return this.told.map(({ type }) => type);
  }

  async until<Type extends LiveEvent['type']>(
    type: Type,
  ): Promise<Extract<LiveEvent, { type: Type }>> {
    await this.when(`${type}`, () => this.types.includes(type));
    const found = this.told.find((event) => event.type === type);
    return found as Extract<LiveEvent, { type: Type }>;
  }

  when(what: string, isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`no ${what} within ${waitMs} ms: ${this.types.join(' ')}`));
      }, waitMs);
      const look = () => {
        if (!isSo()) return;
        clearTimeout(late);
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}
