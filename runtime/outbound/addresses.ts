// What an address is to the guard: of the web, of a private network, or never to be asked. The same
// lists judge the hosts of URLs that others fetch. Pure.
import { BlockList, isIP } from 'node:net';

type Subnet = readonly [address: string, prefix: number];

/** Link-local, and where clouds have the services that give credentials to whoever is inside. */
const metadataIpv4: readonly Subnet[] = [
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
  ['0.0.0.0', 32],
];
const metadata = blockListOf([
  ...metadataIpv4,
  // The same by a NAT64 (RFC 6052, RFC 8215), and as it was written before there were mapped ones.
  ...['64:ff9b::', '64:ff9b:1::', '::'].flatMap((carrier) =>
    metadataIpv4.map(([address, prefix]): Subnet => [`${carrier}${address}`, 96 + prefix]),
  ),
  ['fe80::', 10],
  ['fd00:ec2::23', 128],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
]);

/** Not reachable from the web (IANA's registries of special-purpose addresses, RFC 6890). */
const special = blockListOf([
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  // Protocols, Teredo and benchmarks; documentation, twice; 6to4.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
  ['2002::', 16],
]);
/** What IPv6 has of the web (RFC 4291, 2.4), and mapped addresses, which count as IPv4. */
const globalIpv6 = blockListOf([
  ['2000::', 3],
  ['::ffff:0:0', 96],
]);

/**
 * They carry an IPv4 address to wherever a translator or a tunnel brings it. They are compatible
 * (RFC 4291, 2.5.5.1), translated (RFC 2765), NAT64 twice, 6to4 (RFC 3056) and Teredo (RFC 4380).
 */
const carriers = blockListOf([
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['2001::', 32],
]);

/** `never` holds whatever an operator opens: he can name the IPv4 address itself. */
export type AddressClass = 'public' | 'private' | 'never';

/** @param address as `plainAddress` writes it */
export function classOf(address: string): AddressClass {
  if (isMetadataAddress(address)) return 'never';
  if (isPublicAddress(address)) return 'public';
  return address !== '::1' && isListed(address, carriers) ? 'never' : 'private';
}

export function isMetadataAddress(address: string): boolean {
  return isListed(address, metadata);
}

export function isPublicAddress(address: string): boolean {
  if (isListed(address, special)) return false;
  return isIP(address) === 4 || isListed(address, globalIpv6);
}

/** IPv4 inside IPv6 (RFC 4291, 2.5.5.2), as the parser of URLs writes it. */
const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/** The one spelling of an address, mapped ones as IPv4; null: it is none, or has a zone. */
export function plainAddress(text: string): string | null {
  const version = isIP(text);
  if (version === 4) return text;
  if (version === 0 || text.includes('%')) return null;
  const written = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const [, high, low] = mapped.exec(written) ?? [];
  if (high === undefined || low === undefined) return written;
  const [upper, lower] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join('.');
}

function isListed(address: string, list: BlockList): boolean {
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

function blockListOf(subnets: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of subnets) {
    list.addSubnet(address, prefix, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
