// What operators open although it is no part of the web: `host[:port]` and `network[:port]`.
// Without a port the ports of the use hold; with one it opens that port alone, for http too. Pure.
import { BlockList, isIP } from 'node:net';
import { classOf, plainAddress } from './addresses.ts';
import { isMetadataHost } from './hosts.ts';

export interface Exception {
  /** A name; null: it is a network, or one address as the smallest of them. */
  readonly host: string | null;
  readonly network: BlockList | null;
  /** null: the ports of the use. */
  readonly port: number | null;
}

const inBrackets = /^\[([\da-fA-F:.]*:[\da-fA-F:.]*)\](?:\/(\d{1,3}))?(?::(\d{1,5}))?$/;
/** A port only behind the length of a prefix: `::1:80` is an address. */
const bareIpv6 = /^([\da-fA-F:.]*:[\da-fA-F:.]*)(?:\/(\d{1,3})(?::(\d{1,5}))?)?$/;
const named = /^([^[\]/:\s@?#\\]+)(?:\/(\d{1,3}))?(?::(\d{1,5}))?$/;

/** One entry; null: it is none, or one that is never opened. */
export function readException(text: string): Exception | null {
  const bare = bareIpv6.exec(text);
  // `fade:80` has the letters of an address, and is none.
  const isIpv6 = isIP(bare?.[1] ?? '') === 6;
  const match = isIpv6 ? bare : (inBrackets.exec(text) ?? named.exec(text));
  if (match === null) return null;
  const [, name = '', prefix, portText] = match;
  const isWhole = prefix !== undefined && (name === '0.0.0.0' || name === '::');
  const host = isWhole ? name : hostOf(name);
  const port = portText === undefined ? null : Number(portText);
  if (host === null || port === 0 || (port ?? 0) > 65_535) return null;
  const version = isIP(host);
  if (version === 0) return prefix === undefined ? { host, network: null, port } : null;
  const bitsMax = version === 4 ? 32 : 128;
  const bits = Number(prefix ?? bitsMax);
  // A mapped network would be one of IPv4, with another length of its prefix.
  if (bits > bitsMax || (prefix !== undefined && version !== isIP(name))) return null;
  const network = new BlockList();
  network.addSubnet(host, bits, version === 4 ? 'ipv4' : 'ipv6');
  return { host: null, network, port };
}

/** As `Target` has it, so that the two can be compared. */
function hostOf(name: string): string | null {
  const address = plainAddress(name);
  if (address !== null) return classOf(address) === 'never' ? null : address;
  const url = `http://${name}/`;
  if (!URL.canParse(url)) return null;
  const { hostname } = new URL(url);
  // Another spelling of an address is a mistake rather than a wish.
  if (!/^[a-z\d_-]+(\.[a-z\d_-]+)*\.?$/.test(hostname) || isIP(hostname) !== 0) return null;
  return isMetadataHost(hostname) ? null : hostname.replace(/\.$/, '');
}

/** Whether an entry is about this name or address. */
export function isAbout({ host, network }: Exception, name: string, address: string): boolean {
  if (network === null) return host === name;
  return network.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}
