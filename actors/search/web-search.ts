// The web search of generations and voice: an order for the surface `web_search` of the caller's
// catalog, and hits as models are given them. Money is theirs: a search is paid or it is not.
import type { SearchItem, SearchParameters } from '../../media/search/contract.ts';
import { cutText } from '../../runtime/http/text.ts';
import type { CatalogSurface } from '../catalog/surface.ts';
import type { SearchDesk, SearchOrder } from './contract.ts';

export interface SearchHit {
  title: string;
  url: string;
  snippet: string;
  date: string | null;
}

export interface WebQuery {
  query: string;
  /** As in `de-CH`: language and country of the results. */
  locale: string | null;
}

/** Where it is searched, and for whom. */
export interface WebPlace {
  /** The caller's catalog has it so. */
  surface: CatalogSurface;
  accountId: string;
  hitsMax: number;
}

export interface WebSearch {
  /** Null: nobody could answer. No hits: nothing is paid. Never rejects. */
  search(place: WebPlace, query: WebQuery, signal: AbortSignal): Promise<SearchHit[] | null>;
}

/** Every part of a hit stands in the prompt, at the client's expense. */
const titleCharactersMax = 200;
const snippetCharactersMax = 1_000;
const dateCharactersMax = 100;
/** A longer address would lead nowhere when it is cut. */
const urlCharactersMax = 2_048;

/** `de`, `de-CH`, `zh-Hans-CN`: no longer word is taken for a country. */
const localeForm = /^([a-z]{2})(?![a-z])(?:[-_][a-z]{4}(?![a-z]))?(?:[-_]([a-z]{2})(?![a-z]))?/i;

export function createWebSearch(desk: SearchDesk): WebSearch {
  return {
    async search({ surface, accountId, hitsMax }, query, signal) {
      const ask = {
        surface: 'web_search' as const,
        query: query.query.normalize('NFC'),
        parameters: parametersOf(query.locale, hitsMax),
        extra: {},
      };
      // What is not offered for queries keeps no answers of them either: each is asked anew.
      const maxAgeSeconds = surface.priceMicros === null ? 0 : surface.maxAgeSeconds;
      const order: SearchOrder = {
        surface,
        ask,
        accountId,
        maxAgeSeconds,
        answer: null,
        // As for any other route of a generation: with no other way the open one is tried.
        isLastResort: true,
      };
      // A query has paid for what it keeps; a generation that is left pays for nothing.
      const kept = await desk.look(order, signal);
      const isThere = kept !== null && kept.result.state !== 'failed';
      const found = isThere ? kept : await desk.find({ ...order, isPaidLater: true }, signal);
      const { result } = found;
      return result.state === 'failed' ? null : result.items.slice(0, hitsMax).flatMap(hitOf);
    },
  };
}

function hitOf({ title, url, snippet, published_at, published_text }: SearchItem): SearchHit[] {
  if (url === undefined || url.length > urlCharactersMax) return [];
  const date = published_at ?? published_text;
  return [
    {
      title: cutText(title, titleCharactersMax),
      url,
      snippet: cutText(snippet ?? '', snippetCharactersMax),
      date: date === undefined ? null : cutText(date, dateCharactersMax),
    },
  ];
}

function parametersOf(locale: string | null, limit: number): SearchParameters {
  const [, language, country] = localeForm.exec(locale ?? '') ?? [];
  return {
    limit,
    page: 1,
    gl: country?.toLowerCase() ?? null,
    hl: language?.toLowerCase() ?? null,
    location: null,
    safe: 'moderate',
    timeRange: null,
    includeDomains: [],
    excludeDomains: [],
    ll: null,
    flights: null,
    hotels: null,
    routes: null,
  };
}
