// A connection to a provider's server whose reads share one buffer of the thread: Node's own way
// takes 64 KB of new memory for each.
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';

export interface Address {
  host: string;
  port: number;
  isSecure: boolean;
  /** Of TLS: a connection that goes on with it is set up in one round trip less. */
  session?: Buffer | null;
}

/** All connections of a thread read into it. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1_024);

/** Connects, for HTTP/1.1. `read` is given what has come, which is good until it returns. */
export function dial(address: Address, read: (bytes: Buffer) => void): Socket {
  const { host, port, isSecure, session } = address;
  const callback = (length: number) => {
    read(readBuffer.subarray(0, length));
    return true;
  };
  const onread = { buffer: readBuffer, callback };
  if (!isSecure) return connectPlain({ host, port, onread });
  // Documented for both, but in the types of the first alone.
  const servername = isIP(host) === 0 ? host : '';
  const options = { host, port, servername, ALPNProtocols: ['http/1.1'], onread };
  return connectSecure(session ? { ...options, session } : options);
}
