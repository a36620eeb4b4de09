// Papers: who wrote each, where it appeared, and how often it is cited.
import * as v from 'valibot';
import type { Reading } from '../contract.ts';
import { count, shownText, webAddress, whole } from '../fields.ts';
import {
  itemEntries,
  known,
  named,
  type ReadItem,
  type ReadingContext,
  readBase,
} from '../item.ts';
import { addressOf, pageOf } from '../values/address.ts';
import { countOf, wholeOf } from '../values/number.ts';
import { cleanText, textOf, textsOf } from '../values/text.ts';

const authorsMax = 50;
const nameMax = 200;
const venueMax = 300;
const yearMin = 1_500;

export const papersItem = v.pipe(
  v.strictObject({
    ...itemEntries,
    authors: v.exactOptional(
      v.pipe(v.array(shownText(nameMax)), v.minLength(1), v.maxLength(authorsMax)),
    ),
    year: v.exactOptional(whole(yearMin, 9_999)),
    venue: v.exactOptional(shownText(venueMax)),
    cited_by: v.exactOptional(count),
    pdf_url: v.exactOptional(webAddress),
  }),
  v.title('PapersItem'),
);

export function readPaper(reading: Reading, context: ReadingContext): ReadItem | null {
  const { title, ...base } = readBase(reading, context);
  if (title === undefined) return null;
  const nextYear = new Date(context.nowMs).getUTCFullYear() + 1;
  const own = known({
    authors: authorsOf(reading.authors),
    year: wholeOf(reading.year, yearMin, nextYear),
    venue: textOf(reading.venue, venueMax),
    cited_by: countOf(reading.citedBy),
    pdf_url: addressOf(reading.pdfUrl),
  });
  const same = base.url === undefined ? `${title} ${own.year}` : pageOf(base.url);
  return { item: { title, ...base, ...own }, same };
}

/** A list of names, or names in one text. */
function authorsOf(value: unknown): string[] | undefined {
  const names = Array.isArray(value)
    ? value.slice(0, 2 * authorsMax).map(named)
    : cleanText(value, authorsMax * 40).split(/,|;|\band\b/);
  // Names that are left out are a sign, no author.
  const authors = textsOf(names, authorsMax, nameMax).filter((name) => /\p{L}/u.test(name));
  return authors.length === 0 ? undefined : authors;
}
