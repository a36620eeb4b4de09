// Serper's scholar results. Authors and venue stand in one text, `A Author, B Author - Journal,
// 2020 - host`; clients disagree on whether it is wrapped.
import type { Reading } from '../../../search/contract.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { textOf } from '../reading.ts';

export function paperOf(entry: Members): Reading {
  const { title, link, snippet, publicationInfo, year, citedBy, pdfUrl } = entry;
  const told = publicationOf(
    isMembers(publicationInfo) ? publicationInfo.summary : publicationInfo,
  );
  return {
    title,
    url: link,
    snippet,
    authors: told.authors,
    venue: told.venue,
    year: year ?? told.year,
    citedBy: isMembers(citedBy) ? citedBy.total : citedBy,
    pdfUrl,
  };
}

/** Longer ones are no such text. */
const summaryCharactersMax = 1_000;

function publicationOf(summary: unknown): { authors?: string; venue?: string; year?: string } {
  const text = textOf(summary)?.slice(0, summaryCharactersMax);
  if (text === undefined) return {};
  const [authors = '', ...rest] = text.split(' - ').map((part) => part.trim());
  // The last part is the host, where there are three.
  const middle = rest.length > 1 ? rest.slice(0, -1).join(' - ') : '';
  const year = /(?:^|,\s*)(\d{4})$/.exec(middle)?.[1];
  const venue = year === undefined ? middle : middle.slice(0, -4).replace(/[,\s]+$/, '');
  return {
    ...(authors === '' ? {} : { authors }),
    ...(venue === '' ? {} : { venue }),
    ...(year === undefined ? {} : { year }),
  };
}
