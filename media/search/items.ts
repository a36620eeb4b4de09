// Makes the items that are answered of a provider's readings. They are clean, each page is there
// once, and they keep to the caller's domains and limit.
import type { Reading, SearchAsk, SearchItem } from './contract.ts';
import { itemsMax, named, type ReadItem, type ReadKind, type Unplaced } from './item.ts';
import { readAnswer } from './kinds/answer.ts';
import { readFlight } from './kinds/flights.ts';
import { readHotel } from './kinds/hotels.ts';
import { readImage } from './kinds/images.ts';
import { readNews } from './kinds/news.ts';
import { readPaper } from './kinds/papers.ts';
import { readPlace } from './kinds/places.ts';
import { readProduct } from './kinds/products.ts';
import { readRoute } from './kinds/routes.ts';
import { readSuggestion } from './kinds/suggestions.ts';
import { readVideo } from './kinds/videos.ts';
import { readWeb, scored } from './kinds/web.ts';
import type { SurfaceKind } from './surfaces.ts';
import { hostOf, isWithin } from './values/address.ts';
import { textsOf } from './values/text.ts';

const readers: Readonly<Record<SurfaceKind, ReadKind>> = {
  web: readWeb,
  answer: readAnswer,
  images: readImage,
  news: readNews,
  videos: readVideo,
  places: readPlace,
  routes: readRoute,
  products: readProduct,
  papers: readPaper,
  suggestions: readSuggestion,
  flights: readFlight,
  hotels: readHotel,
};
/** More than this is no page of results: what is behind it is not looked at. */
const readingsMax = 500;
export const relatedMax = 20;
export const relatedCharactersMax = 300;

/**
 * `dropped`: readings that are no item, for want of what their kind needs. Where all of them are,
 * the reply is of no use; pages outside of the domains, or twice there, are not counted.
 */
export function itemsOf(
  ask: SearchAsk,
  kind: SurfaceKind,
  readings: readonly Reading[],
  nowMs: number,
): { items: SearchItem[]; dropped: number } {
  const read = readers[kind];
  const seen = new Set<string>();
  const kept: Unplaced[] = [];
  let dropped = 0;
  for (const reading of readings.slice(0, readingsMax)) {
    const found = isReading(reading) ? read(reading, { ask, nowMs }) : null;
    if (found === null) dropped += 1;
    else if (isFirst(found, seen) && isWanted(found.item, ask)) kept.push(found.item);
    // Scores decide which ones are the best.
    if (kept.length >= ask.parameters.limit && ask.surface !== 'ai_search') break;
  }
  const ordered = ask.surface === 'ai_search' ? scored(kept) : kept;
  const items = ordered
    .slice(0, Math.min(ask.parameters.limit, itemsMax))
    .map((item, at) => ({ position: at + 1, ...item }));
  return { items, dropped };
}

function isReading(value: unknown): value is Reading {
  return typeof value === 'object' && value !== null;
}

function isFirst({ same }: ReadItem, seen: Set<string>): boolean {
  if (same === null) return true;
  if (seen.has(same)) return false;
  seen.add(same);
  return true;
}

/** Enforced here as well: not every provider keeps to it. */
function isWanted({ url }: Unplaced, { parameters }: SearchAsk): boolean {
  const { includeDomains, excludeDomains } = parameters;
  if (includeDomains.length === 0 && excludeDomains.length === 0) return true;
  if (url === undefined) return includeDomains.length === 0;
  const host = hostOf(url);
  if (isWithin(host, excludeDomains)) return false;
  return includeDomains.length === 0 || isWithin(host, includeDomains);
}

/** Other questions: texts, or objects that have one as `query`, `title`, `name` or `value`. */
export function relatedOf(related: readonly unknown[]): string[] {
  const texts = related.slice(0, readingsMax).map((each) => {
    if (typeof each !== 'object' || each === null) return each;
    const given: { query?: unknown; title?: unknown; value?: unknown } = each;
    return given.query ?? given.title ?? given.value ?? named(each);
  });
  return textsOf(texts, relatedMax, relatedCharactersMax);
}
