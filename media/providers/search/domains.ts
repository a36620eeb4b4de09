// Hosts that a search is bound to, in the words that search engines know for it. Whether they were
// heeded is looked at again in the answer.
import type { SearchParameters } from '../../search/contract.ts';

export function withDomains(
  query: string,
  { includeDomains, excludeDomains }: SearchParameters,
): string {
  const included = includeDomains.map((host) => `site:${host}`).join(' OR ');
  const wanted = includeDomains.length > 1 ? `(${included})` : included;
  const unwanted = excludeDomains.map((host) => `-site:${host}`);
  return [query, wanted, ...unwanted].filter((part) => part !== '').join(' ');
}
