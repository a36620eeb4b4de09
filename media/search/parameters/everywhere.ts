// Parameters of all surfaces, of lists of pages, and of maps.
import type { MapPoint, SearchParameters } from '../contract.ts';
import { numberOf } from '../values/number.ts';
import { takeList, takeText, takeWhole, takeWord } from './forms.ts';
import { assume, type Parameters, refuse, refuseAt, take } from './given.ts';

const limitMax = 50;
const limitDefault = 10;
const limitNames = ['limit', 'num', 'max_results'];
const pageMax = 10;
const zoomMax = 22;
const safeWords = ['off', 'moderate', 'strict'] as const;
const ranges = ['day', 'week', 'month', 'year'] as const;

type Everywhere = Pick<SearchParameters, 'limit' | 'page' | 'gl' | 'hl' | 'location' | 'safe'>;
type Pages = Pick<SearchParameters, 'timeRange' | 'includeDomains' | 'excludeDomains'>;

export function readEverywhere(parameters: Parameters): Everywhere {
  return {
    limit: readLimit(parameters) ?? assume(parameters, 'limit', limitDefault),
    page: takeWhole(parameters, 'page', 1, pageMax) ?? assume(parameters, 'page', 1),
    gl: readCode(parameters, 'gl'),
    hl: readCode(parameters, 'hl'),
    location: takeText(parameters, 'location'),
    safe: takeWord(parameters, 'safe', safeWords) ?? assume(parameters, 'safe', 'moderate'),
  };
}

/** One number under three names: the first that is given counts, and all of them must be good. */
function readLimit(parameters: Parameters): number | null {
  const limits = limitNames.map((name) => takeWhole(parameters, name, 1, limitMax));
  return limits.find((limit) => limit !== null) ?? null;
}

/** Two letters; of a language its country is left out (`de-CH`). */
function readCode(parameters: Parameters, name: 'gl' | 'hl'): string | null {
  const value = take(parameters, name);
  if (value === undefined) return null;
  const form = name === 'gl' ? /^([a-z]{2})$/ : /^([a-z]{2})(?:[-_][a-z]{2,4})?$/;
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  const what = name === 'gl' ? 'a country' : 'a language';
  return form.exec(text)?.[1] ?? refuse(parameters, name, `${what} of two letters`);
}

export function readPages(parameters: Parameters): Pages {
  return {
    timeRange: takeWord(parameters, 'time_range', ranges),
    includeDomains: readDomains(parameters, 'include_domains'),
    excludeDomains: readDomains(parameters, 'exclude_domains'),
  };
}

function readDomains(parameters: Parameters, name: string): string[] {
  const domains = new Set<string>();
  for (const [at, value] of (takeList(parameters, name) ?? []).entries()) {
    const host = domainOf(value);
    if (host !== null) domains.add(host);
    else {
      const path = `${parameters.given.get(name)?.path ?? name}[${at}]`;
      refuseAt(parameters, path, `Invalid value for '${path}': expected the name of a host.`);
    }
  }
  return [...domains];
}

/** As resolvers know it: small letters, other alphabets in Punycode. */
function domainOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > 253) return null;
  const name = value.replace(/^\*?\./, '').replace(/\.$/, '');
  if (/[\s/\\:@?#%[\]]/.test(name) || !URL.canParse(`http://${name}`)) return null;
  const { hostname } = new URL(`http://${name}`);
  const labels = hostname.split('.');
  const isHost = labels.length > 1 && labels.every((label) => /^[a-z\d_-]{1,63}$/.test(label));
  return isHost ? hostname : null;
}

/** `lat,lng[,zoom]`; `@` before it and `z` behind it are of another spelling. */
export function readMapPoint(parameters: Parameters): MapPoint | null {
  const value = take(parameters, 'll');
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value.trim().replace(/^@|z$/g, '') : '';
  const [north, east, depth, ...more] = text.split(',').map((part) => part.trim());
  const latitude = numberOf(north, -90, 90);
  const longitude = numberOf(east, -180, 180);
  const zoom = depth === undefined ? null : numberOf(depth, 0, zoomMax);
  const isGood = latitude !== undefined && longitude !== undefined && zoom !== undefined;
  if (isGood && more.length === 0) return { latitude, longitude, zoom };
  return refuse(parameters, 'll', 'latitude,longitude or latitude,longitude,zoom');
}
