// The simulated DNS server: one port of the loopback over UDP and over TCP, where each message has
// its length in front (RFC 1035, 4.2.2).
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { answerQuery } from './answer.ts';
import type { DnsZone } from './zone.ts';

export interface DnsServer {
  port: number;
  close(): void;
}

const host = '127.0.0.1';
/** Another program may have the port that TCP was given, over UDP. */
const triesMax = 10;
const connectionsMax = 64;
const idleMs = 5_000;
/** A question is much shorter. */
const questionBytesMax = 4_096;

/** Port 0 takes a free one. Rejects when the port cannot be had. */
export async function startDns(zone: DnsZone, port: number): Promise<DnsServer> {
  for (let tries = 1; ; tries += 1) {
    const sockets = new Set<Socket>();
    const tcp = createServer((socket) => serve(zone, socket, sockets));
    tcp.maxConnections = connectionsMax;
    const got = await listenTcp(tcp, port);
    const udp = await bindUdp(zone, got);
    if (udp !== null) {
      const close = () => {
        udp.close();
        tcp.close();
        for (const socket of sockets) socket.destroy();
      };
      return { port: got, close };
    }
    tcp.close();
    if (port !== 0 || tries === triesMax) throw new Error(`cannot listen on ${host}:${got}/udp`);
  }
}

function listenTcp(tcp: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    tcp.once('error', reject);
    tcp.listen(port, host, () => {
      const address = tcp.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

/** Null: the port is taken. */
function bindUdp(zone: DnsZone, port: number): Promise<UdpSocket | null> {
  return new Promise((resolve) => {
    const udp = createSocket('udp4');
    udp.on('message', (message, from) => {
      const answer = answerQuery(zone, message, 'udp');
      // Who asked may be gone: then nobody misses it.
      if (answer !== null) udp.send(answer, from.port, from.address, () => undefined);
    });
    udp.once('error', () => {
      udp.close();
      resolve(null);
    });
    udp.bind(port, host, () => {
      udp.removeAllListeners('error');
      udp.on('error', () => undefined);
      resolve(udp);
    });
  });
}

function serve(zone: DnsZone, socket: Socket, sockets: Set<Socket>): void {
  let kept = Buffer.alloc(0);
  sockets.add(socket);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => sockets.delete(socket));
  socket.setTimeout(idleMs, () => socket.destroy());
  socket.on('data', (bytes: Buffer) => {
    kept = Buffer.concat([kept, bytes]);
    while (kept.length >= 2) {
      const length = kept.readUInt16BE(0);
      if (length > questionBytesMax) {
        socket.destroy();
        return;
      }
      if (kept.length < 2 + length) return;
      const answer = answerQuery(zone, kept.subarray(2, 2 + length), 'tcp');
      kept = kept.subarray(2 + length);
      if (answer !== null) socket.write(Buffer.concat([lengthOf(answer), answer]));
    }
  });
}

function lengthOf(answer: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(answer.length);
  return length;
}
