// Reads a reply of `POST /search`. Its own answer is never read: nobody has checked it.
import type { Reading, SearchAsk } from '../../../search/contract.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import type { SearchReading } from '../family.ts';
import { providerPage } from '../paging.ts';
import { entriesOf, shownOf, textsOf } from '../reading.ts';
import { shape } from './data.ts';
import { resultsMax } from './encode.ts';

export function readTavily(body: unknown, ask: SearchAsk): SearchReading {
  if (!isMembers(body) || !Array.isArray(body.results)) return { state: 'failed' };
  const all = entriesOf(body.results);
  if (all.length === 0) return { state: body.results.length === 0 ? 'empty' : 'failed' };
  const { index, skipped } = providerPage(ask.parameters, resultsMax);
  // Behind the most that it gives there is nothing.
  const results = index > 0 ? [] : all.slice(skipped);
  if (results.length === 0) return { state: 'empty' };
  return {
    state: 'read',
    readings: results.map(readingOf),
    related: textsOf(body.follow_up_questions),
    isPartial: false,
    ...shownOf(body, shape),
  };
}

function readingOf({ title, url, content, score, published_date: date }: Members): Reading {
  return { title, url, snippet: content, content, score, date };
}
