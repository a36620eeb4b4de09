// A connection to addresses that were judged, and to no other. The name is not resolved again. The
// address of the socket is compared before anything of the request is sent.
import type { LookupFunction, Socket } from 'node:net';
import { buildConnector, Client } from 'undici';
import { plainAddress } from './addresses.ts';
import { refused, type Target } from './target.ts';

/** The head of an answer, and its trailers. */
const headBytesMax = 16 * 1_024;
/** One of several addresses that says nothing has the next one tried. */
const nextAddressMs = 1_000;

export interface PinnedClient {
  client: Client;
  /** Ends a connection that is only being made, too. */
  destroy(): void;
}

/** A client of one origin for one request. It knows no proxy, and keeps no connection. */
export function pinnedClient(target: Target, addresses: readonly string[], ca: string | null) {
  const connector = buildConnector({
    timeout: 0,
    rejectUnauthorized: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressMs,
    lookup: pinnedLookup(addresses),
    ...(ca === null ? {} : { ca }),
  });
  let socket: Socket | null = null;
  const connect: buildConnector.connector = (options, callback) => {
    if (socket !== null) {
      callback(new Error('one connection is made for a request'), null);
      return;
    }
    // Its types leave out that it returns the socket, which is there before it is connected.
    socket = connector(options, (...[error, connected]) => {
      if (error !== null) return callback(error, null);
      if (isPinned(connected.remoteAddress, addresses)) return callback(null, connected);
      connected.destroy();
      callback(refused('the connection leads to another address'), null);
    }) as unknown as Socket;
  };
  const client = new Client(target.url.origin, {
    connect,
    pipelining: 0,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: headBytesMax,
    allowH2: false,
  });
  const destroy = () => {
    socket?.destroy();
    // Whatever ran on it was told before.
    client.destroy().catch(() => undefined);
  };
  return { client, destroy } satisfies PinnedClient;
}

/** Whether a socket is connected to one of the addresses that were judged. */
export function isPinned(address: string | undefined, addresses: readonly string[]): boolean {
  const plain = plainAddress(address ?? '');
  return plain !== null && addresses.includes(plain);
}

/** What Node asks in place of a resolver; it may want one address, or all of them. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_name, options, callback) => {
    const [first] = all;
    if (options.all === true) callback(null, all);
    else callback(null, first?.address ?? '', first?.family);
  };
}
