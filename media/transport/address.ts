// Which addresses no provider may have. Administrators may name local model runners, so private
// networks are fine; the metadata services of clouds, which give credentials to whoever asks from
// inside, are not.
import { isMetadataHost } from '../../runtime/outbound/hosts.ts';

/** Why this cannot be the base URL of a provider, or null. Names are not looked up. */
export function addressFault(baseUrl: string): string | null {
  if (!URL.canParse(baseUrl)) return 'this is not a URL';
  // The parser writes every spelling of an IPv4 address the same way (WHATWG URL, 3.5).
  const { protocol, username, password, hostname, search, hash } = new URL(baseUrl);
  if (protocol !== 'http:' && protocol !== 'https:') return 'only http and https are possible';
  if (username !== '' || password !== '') return 'credentials belong into api_key';
  if (search !== '' || hash !== '') return 'a base URL has neither query nor fragment';
  return isMetadataHost(hostname)
    ? 'this address is refused: it is link-local or a metadata service'
    : null;
}
