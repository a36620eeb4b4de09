// Products, papers and suggestions.
import type { Reading } from '../../../../search/contract.ts';
import { isMembers, type Members } from '../../../../transport/members.ts';
import { entriesOf } from '../../reading.ts';
import { nameOf, pictureOf, within } from './members.ts';

export function readProducts(body: Members): Reading[] {
  return entriesOf(body.shopping_results).map((result) => ({
    title: result.title,
    url: result.link ?? result.product_link,
    snippet: result.snippet,
    source: nameOf(result.source),
    seller: nameOf(result.source),
    // Only the text has the sign of the currency.
    price: result.price ?? result.extracted_price,
    rating: result.rating,
    ratingCount: result.reviews,
    thumbnail: pictureOf(result.thumbnail),
  }));
}

export function readPapers(body: Members): Reading[] {
  return entriesOf(body.organic_results).map((result) => ({
    title: result.title,
    url: result.link,
    snippet: result.snippet,
    ...publicationOf(result.publication_info),
    citedBy: within(result.inline_links, 'cited_by', 'total'),
    pdfUrl: entriesOf(result.resources).find(isPdf)?.link,
  }));
}

function isPdf({ file_format: format }: Members): boolean {
  return typeof format === 'string' && format.toUpperCase() === 'PDF';
}

/** Longer ones are no such text. */
const summaryCharactersMax = 1_000;

/** Its summary is `authors - venue, year - host`; any part but the first may be missing. */
function publicationOf(information: unknown): Reading {
  const summary = within(information, 'summary');
  const text = typeof summary === 'string' ? summary.slice(0, summaryCharactersMax) : '';
  const parts = text === '' ? [] : text.split(/\s[-–]\s/);
  const named = entriesOf(within(information, 'authors')).map(({ name }) => name);
  const authors = named.length > 0 ? named : authorsIn(parts[0]);
  const middle = parts.length > 2 ? parts.slice(1, -1).join(' - ') : (parts[1] ?? '');
  const year = /(?:^|[\s,])((?:1[5-9]|20)\d{2})\s*$/.exec(middle);
  // Two parts without a year are the authors and the host.
  const isVenue = parts.length > 2 || year !== null;
  const venue = middle.slice(0, year?.index ?? middle.length).replace(/[,\s]+$/, '');
  return {
    ...(authors.length === 0 ? {} : { authors }),
    ...(year === null ? {} : { year: year[1] }),
    ...(isVenue && venue !== '' ? { venue } : {}),
    ...(parts.length > 2 ? { source: parts.at(-1) } : {}),
  };
}

function authorsIn(part: string | undefined): string[] {
  return (part ?? '')
    .split(',')
    .map((author) => author.replace(/…|\.\.\.$/, '').trim())
    .filter((author) => author !== '');
}

/** Each is an object, or the text itself. */
export function readSuggestions(body: Members): Reading[] {
  if (!Array.isArray(body.suggestions)) return [];
  return body.suggestions.flatMap((suggestion: unknown): Reading[] => {
    if (isMembers(suggestion)) return [{ title: suggestion.value }];
    return typeof suggestion === 'string' ? [{ title: suggestion }] : [];
  });
}
