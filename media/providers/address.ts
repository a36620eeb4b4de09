// Which addresses no provider may have. Administrators may name local model runners, so private
// networks are fine; the metadata services of clouds, which give credentials to whoever asks from
// inside, are not.
import { BlockList, isIP } from 'node:net';

const refused = new BlockList();
refused.addSubnet('169.254.0.0', 16, 'ipv4');
refused.addSubnet('fe80::', 10, 'ipv6');
refused.addAddress('fd00:ec2::254', 'ipv6');
refused.addAddress('::', 'ipv6');
refused.addAddress('0.0.0.0', 'ipv4');
/** Names of the same services. */
const refusedNames = /^(metadata|metadata\.google\.internal|instance-data(\.ec2\.internal)?)\.?$/i;

/** Why this cannot be the base URL of a provider, or null. Names are not looked up. */
export function addressFault(baseUrl: string): string | null {
  if (!URL.canParse(baseUrl)) return 'this is not a URL';
  // The parser writes every spelling of an IPv4 address the same way (WHATWG URL, 3.5).
  const { protocol, username, password, hostname, search, hash } = new URL(baseUrl);
  if (protocol !== 'http:' && protocol !== 'https:') return 'only http and https are possible';
  if (username !== '' || password !== '') return 'credentials belong into api_key';
  if (search !== '' || hash !== '') return 'a base URL has neither query nor fragment';
  const host = hostname.replace(/^\[|\]$/g, '');
  const version = isIP(host);
  const isRefused =
    version === 0 ? refusedNames.test(host) : refused.check(host, version === 4 ? 'ipv4' : 'ipv6');
  return isRefused ? 'this address is refused: it is link-local or a metadata service' : null;
}
