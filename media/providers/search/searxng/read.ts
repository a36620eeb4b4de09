// SearXNG's replies as readings. Engines that did not answer make a reply partial, and one without
// results no empty one.
import type { Reading, SearchAsk } from '../../../search/contract.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import type { SearchReading } from '../family.ts';
import { entriesOf, shownOf, textOf, textsOf } from '../reading.ts';
import { shapes } from './data.ts';
import type { Category } from './encode.ts';
import { placeOf } from './places.ts';

const readers: Readonly<Record<Category, (entry: Members) => Reading>> = {
  general: pageOf,
  images: pictureOf,
  news: newsOf,
  videos: videoOf,
  science: paperOf,
  map: placeOf,
};

export function readSearch(category: Category, body: unknown): SearchReading {
  if (!isMembers(body) || !Array.isArray(body.results)) return { state: 'failed' };
  const { unresponsive_engines: silent } = body;
  return {
    state: 'read',
    readings: entriesOf(body.results).map(readers[category]),
    related: [...textsOf(body.suggestions), ...textsOf(body.corrections)],
    isPartial: Array.isArray(silent) && silent.length > 0,
    ...shownOf(body, shapes[category]),
  };
}

/** `[query, [suggestion, …], …]`, or the suggestions alone. */
export function readSuggestions(body: unknown, { parameters }: SearchAsk): SearchReading {
  if (!Array.isArray(body)) return { state: 'failed' };
  const { limit, page } = parameters;
  const listed: unknown[] = Array.isArray(body[1]) ? body[1] : body;
  const suggestions = listed.slice((page - 1) * limit);
  return {
    state: 'read',
    readings: suggestions.map((title) => ({ title })),
    related: [],
    isPartial: false,
    data: { suggestions: textsOf(suggestions).map((text) => text.toWellFormed()) },
  };
}

function pageOf(entry: Members): Reading {
  const { title, url, content } = entry;
  const thumbnail = textOf(entry.thumbnail) ?? entry.img_src;
  return { title, url, snippet: content, date: dateOf(entry), thumbnail };
}

function dateOf({ publishedDate, pubdate }: Members): unknown {
  return textOf(publishedDate) ?? pubdate;
}

function pictureOf(entry: Members): Reading {
  const { title, url, source, img_src, thumbnail_src, resolution } = entry;
  const thumbnail = textOf(thumbnail_src) ?? entry.thumbnail;
  return { title, url, source, imageUrl: img_src, resolution, thumbnail };
}

function newsOf(entry: Members): Reading {
  return { ...pageOf(entry), source: textOf(entry.source) ?? entry.author };
}

function videoOf(entry: Members): Reading {
  return { ...pageOf(entry), duration: entry.length, channel: entry.author };
}

function paperOf(entry: Members): Reading {
  const { authors, journal, publisher, pdf_url } = entry;
  const date = dateOf(entry);
  return {
    ...pageOf(entry),
    authors,
    year: /^\d{4}/.exec(textOf(date) ?? '')?.[0],
    venue: textOf(journal) ?? publisher,
    pdfUrl: pdf_url,
  };
}
