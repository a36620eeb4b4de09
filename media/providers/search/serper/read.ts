// Serper's replies as readings, a list an endpoint. An absent list is an empty one; beside other
// results it is one that failed.
import type { Reading, SearchAsk } from '../../../search/contract.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import type { SearchReading } from '../family.ts';
import { entriesOf, shownOf, textOf } from '../reading.ts';
import { shapes } from './data.ts';
import { pageOf, type SerperPath } from './encode.ts';
import { pagesOf } from './pages.ts';
import { paperOf } from './papers.ts';

interface Results {
  list: string;
  readingOf: (entry: Members) => Reading;
}

const results: Readonly<Record<Exclude<SerperPath, 'search'>, Results>> = {
  images: { list: 'images', readingOf: pictureOf },
  news: { list: 'news', readingOf: newsOf },
  videos: { list: 'videos', readingOf: videoOf },
  places: { list: 'places', readingOf: placeOf },
  maps: { list: 'places', readingOf: placeOf },
  shopping: { list: 'shopping', readingOf: productOf },
  scholar: { list: 'organic', readingOf: paperOf },
  autocomplete: { list: 'suggestions', readingOf: ({ value }) => ({ title: value }) },
};

export function readSearch(path: SerperPath, body: unknown, ask: SearchAsk): SearchReading {
  if (!isMembers(body) || isError(body)) return { state: 'failed' };
  const shown = shownOf(body, shapes[path]);
  const { skipped } = pageOf(path, ask);
  if (path === 'search') {
    const pages = pagesOf(body);
    return { state: 'read', ...pages, readings: pages.readings.slice(skipped), ...shown };
  }
  const { list, readingOf } = results[path];
  const readings = entriesOf(body[list]).slice(skipped).map(readingOf);
  return { state: 'read', readings, related: [], isPartial: false, ...shown };
}

/** An error that came with the status of success; every other reply repeats what was asked. */
function isError({ message, searchParameters }: Members): boolean {
  return textOf(message) !== undefined && searchParameters === undefined;
}

function pictureOf(entry: Members): Reading {
  return {
    title: entry.title,
    url: entry.link,
    source: textOf(entry.source) ?? entry.domain,
    imageUrl: entry.imageUrl,
    width: entry.imageWidth,
    height: entry.imageHeight,
    thumbnail: entry.thumbnailUrl,
  };
}

function newsOf({ title, link, snippet, source, date, imageUrl }: Members): Reading {
  return { title, url: link, snippet, source, date, thumbnail: imageUrl };
}

function videoOf(entry: Members): Reading {
  return { ...newsOf(entry), duration: entry.duration, channel: entry.channel };
}

function placeOf(entry: Members): Reading {
  return {
    title: entry.title,
    address: entry.address,
    latitude: entry.latitude,
    longitude: entry.longitude,
    rating: entry.rating,
    ratingCount: entry.ratingCount,
    category: textOf(entry.category) ?? entry.type,
    phone: entry.phoneNumber,
    website: entry.website,
    openingHours: entry.openingHours,
    placeId: textOf(entry.placeId) ?? entry.cid,
    thumbnail: entry.thumbnailUrl,
  };
}

function productOf(entry: Members): Reading {
  return {
    title: entry.title,
    url: entry.link,
    source: entry.source,
    seller: entry.source,
    price: entry.price,
    rating: entry.rating,
    ratingCount: entry.ratingCount,
    thumbnail: entry.imageUrl,
  };
}
