// What a URL's host is by its address or its name. Names are not looked up: they may lead elsewhere
// a moment later. IPv6 forms that carry an IPv4 address count as that: BlockList sees to mapped
// ones. Pure.
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
 * No public resolver has names that end in these. They are IANA's special-use names (RFC 6761), and
 * those of private networks (RFC 6762, appendix G; `localdomain` of hosts files). The registry has
 * `example.com` and its two sisters as well, but they are on the web.
 */
const specialNames: ReadonlySet<string> = new Set([
  'alt',
  'arpa',
  'corp',
  'example',
  'home',
  'internal',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localdomain',
  'localhost',
  'onion',
  'private',
  'test',
]);

/** Whether the `hostname` of a URL is link-local or a metadata service: no provider's address. */
export function isMetadataHost(hostname: string): boolean {
  const host = addressOf(hostname);
  return isIP(host) === 0 ? metadataNames.test(host) : isListed(host, metadata);
}

/** Whether it is none of the web: of this machine, of a private network, or a metadata service. */
export function isInternalHost(hostname: string): boolean {
  if (isMetadataHost(hostname)) return true;
  const host = addressOf(hostname);
  const version = isIP(host);
  if (version === 0) return !isPublicName(host);
  return isListed(host, special) || (version === 6 && !isListed(host, globalIpv6));
}

/** A name of at least two labels, with or without the dot of the root behind them. */
function isPublicName(host: string): boolean {
  const labels = host.replace(/\.$/, '').toLowerCase().split('.');
  const last = labels.at(-1) ?? '';
  return labels.length > 1 && !labels.includes('') && !specialNames.has(last);
}

function addressOf(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
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
