// Who the client is: the peer of the socket, or what a trusted proxy says of it in X-Forwarded-For.
// The header is read from the right: everything left of the first untrusted hop can be forged.
import { strict as assert } from 'node:assert';
import { BlockList, isIP, SocketAddress } from 'node:net';

export interface AddressReader {
  /** Whether the header may ever be believed. */
  readonly hasProxies: boolean;
  /** Text of the client's address; `peer` is binary, 4 or 16 bytes, as the socket gives it. */
  clientAddress(peer: ArrayBuffer, forwardedFor: string | undefined): string;
}

/** Addresses and CIDR blocks, IPv4 and IPv6, as one list. Throws on an entry that is neither. */
export function parseTrustedProxies(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix, ...rest] = entry.trim().split('/');
    const version = isIP(address);
    assert(version !== 0 && rest.length === 0, `not an address or CIDR block: ${entry}`);
    const family = version === 4 ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(address, family);
    else {
      const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
      assert(bits <= (version === 4 ? 32 : 128), `not a CIDR block: ${entry}`);
      list.addSubnet(address, bits, family);
    }
  }
  return list;
}

/** Reads client addresses; with no trusted proxies the header is never looked at. */
export function createAddressReader(trustedProxies: readonly string[]): AddressReader {
  const trusted = parseTrustedProxies(trustedProxies);
  const isTrusted = (address: string) =>
    trusted.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
  const hasProxies = trustedProxies.length > 0;
  return {
    hasProxies,
    clientAddress(peer, forwardedFor) {
      let client = addressText(new Uint8Array(peer));
      if (forwardedFor === undefined || !hasProxies || client === '') return client;
      const hops = forwardedFor.split(',');
      while (isTrusted(client)) {
        const hop = hops.pop();
        const address = hop === undefined ? '' : hopAddress(hop.trim());
        if (address === '') break;
        client = address;
      }
      return client;
    },
  };
}

/**
 * What stands for whoever has the address: itself, or the 64 bits of IPv6 that one site is given at
 * least (RFC 6177, section 2).
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  const [head = '', tail] = canonical.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':');
    while (groups.length + rest.length < 8) groups.push('0');
    groups.push(...rest);
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}

function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) return '';
  const isMapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255;
  if (isMapped && bytes[11] === 255) return bytes.subarray(12).join('.');
  const groups: string[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  for (let offset = 0; offset < 16; offset += 2) groups.push(view.getUint16(offset).toString(16));
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}

/** One entry of the header without its port and brackets; empty when it is no address. */
function hopAddress(hop: string): string {
  const bare = hop.startsWith('[')
    ? hop.slice(1, Math.max(1, hop.indexOf(']')))
    : hop.replace(/^([\d.]+):\d+$/, '$1');
  const mapped = bare.replace(/^::ffff:(?=\d+\.)/i, '');
  // A zone (RFC 4007, 11) says something to the machine that wrote it, and to no list of addresses.
  return isIP(mapped) === 0 || mapped.includes('%') ? '' : mapped;
}
