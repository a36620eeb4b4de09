// SearXNG's requests: a form in the body, as no proxy logs one. It has no count of results; the
// surface chooses the category.
import type { ParameterValue, SearchAsk, SearchParameters } from '../../../search/contract.ts';
import type { UpstreamTarget } from '../../generation/contract.ts';
import { withDomains } from '../domains.ts';
import type { EncodedSearch } from '../family.ts';
import { withoutCommands } from './words.ts';

export type Category = 'general' | 'images' | 'news' | 'videos' | 'science' | 'map';
type Passed = Readonly<Record<string, ParameterValue>>;

const safety = { off: '0', moderate: '1', strict: '2' };

export function encodeSearch(
  category: Category,
  { query, parameters }: SearchAsk,
  target: UpstreamTarget,
  passed: Passed,
): EncodedSearch {
  const { page, safe, timeRange, location } = parameters;
  const words = withoutCommands(query);
  // Maps know no other way to be told where.
  const placed = category === 'map' && location !== null ? withoutCommands(location) : '';
  const form = new URLSearchParams({
    q: withDomains(placed === '' ? words : `${words}, ${placed}`, parameters),
    format: 'json',
    categories: category,
    pageno: String(page),
    safesearch: safety[safe],
  });
  if (timeRange !== null) form.set('time_range', timeRange);
  return posted('/search', form, target, languageOf(parameters, passed));
}

export function encodeSuggestions(
  { query, parameters }: SearchAsk,
  target: UpstreamTarget,
  passed: Passed,
): EncodedSearch {
  const form = new URLSearchParams({ q: withoutCommands(query) });
  return posted('/autocompleter', form, target, languageOf(parameters, passed));
}

/** `de-CH`; null: the server's own. A country alone has no form. */
function languageOf({ hl, gl }: SearchParameters, { language }: Passed): string | null {
  if (typeof language === 'string') return language;
  if (hl === null) return null;
  return gl === null ? hl : `${hl}-${gl.toUpperCase()}`;
}

function posted(
  path: string,
  form: URLSearchParams,
  { baseUrl, apiKey }: UpstreamTarget,
  language: string | null,
): EncodedSearch {
  if (language !== null) form.set('language', language);
  return {
    method: 'POST',
    url: baseUrl.replace(/\/+$/, '') + path,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      // The server itself has no keys: one is its proxy's.
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: form.toString(),
  };
}
