// What a URL's host is by its address or its name. Names are not looked up here: whoever fetches
// them does that once, and judges every address. IPv6 forms that carry an IPv4 address count as
// that. Pure.
import { isIP } from 'node:net';
import { isMetadataAddress, isPublicAddress } from './addresses.ts';

const metadataNames =
  /^(metadata|metadata\.goog|metadata\.google\.internal|instance-data(\.ec2\.internal)?)\.?$/i;

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
  const host = withoutBrackets(hostname);
  return isIP(host) === 0 ? metadataNames.test(host) : isMetadataAddress(host);
}

/** Whether it is none of the web: of this machine, of a private network, or a metadata service. */
export function isInternalHost(hostname: string): boolean {
  if (isMetadataHost(hostname)) return true;
  const host = withoutBrackets(hostname);
  return isIP(host) === 0 ? !isPublicName(host) : !isPublicAddress(host);
}

/** A name of at least two labels, with or without the dot of the root behind them. */
export function isPublicName(host: string): boolean {
  const labels = host.replace(/\.$/, '').toLowerCase().split('.');
  const last = labels.at(-1) ?? '';
  return labels.length > 1 && !labels.includes('') && !specialNames.has(last);
}

/** An IPv6 address as sockets and resolvers write it. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
