// What a URL's host is by its address. Names are not looked up: they may lead elsewhere a moment
// later. IPv6 forms that carry an IPv4 address count as that: BlockList sees to mapped ones.
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
  // By way of a NAT64 (RFC 6052, RFC 8215), and as it was written before mapped addresses were.
  ...['64:ff9b::', '64:ff9b:1::', '::'].flatMap((carrier) =>
    metadataIpv4.map(([address, prefix]): Subnet => [`${carrier}${address}`, 96 + prefix]),
  ),
  ['fe80::', 10],
  ['fd00:ec2::23', 128],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
]);
const metadataNames =
  /^(metadata|metadata\.goog|metadata\.google\.internal|instance-data(\.ec2\.internal)?)\.?$/i;

/** Not reachable from the web (IANA's registries of special-purpose addresses, RFC 6890). */
const special = blockListOf([
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
  // With `::1`, and what was IPv4 before mapped addresses were.
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['fc00::', 7],
  ['fec0::', 10],
  ['ff00::', 8],
]);
const localNames = /(^|\.)localhost\.?$/i;

/** Whether the `hostname` of a URL is link-local or a metadata service: no provider's address. */
export function isMetadataHost(hostname: string): boolean {
  return isListed(hostname, metadata, metadataNames);
}

/** Whether it is none of the web: of this machine, of a private network, or a metadata service. */
export function isInternalHost(hostname: string): boolean {
  return isMetadataHost(hostname) || isListed(hostname, special, localNames);
}

function isListed(hostname: string, addresses: BlockList, names: RegExp): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  const version = isIP(host);
  if (version === 0) return names.test(host);
  return addresses.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

function blockListOf(subnets: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of subnets) {
    list.addSubnet(address, prefix, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
