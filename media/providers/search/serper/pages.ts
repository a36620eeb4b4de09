// Serper's web results. A direct answer stands in front with the page that it is from, which is not
// told twice.
import type { Reading } from '../../../search/contract.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { entriesOf, textOf } from '../reading.ts';

export interface Pages {
  readings: Reading[];
  related: unknown[];
  isPartial: boolean;
}

const besides = ['answerBox', 'knowledgeGraph', 'topStories', 'peopleAlsoAsk'];

export function pagesOf(body: Members): Pages {
  const pages = entriesOf(body.organic).map(pageOf);
  const answer = answerOf(body.answerBox, pages);
  const others = answer === null ? pages : pages.filter(({ url }) => url !== answer.url);
  return {
    readings: answer === null ? pages : [answer, ...others],
    related: [
      ...entriesOf(body.relatedSearches).map(({ query }) => query),
      ...entriesOf(body.peopleAlsoAsk).map(({ question }) => question),
    ],
    isPartial: !Array.isArray(body.organic) && besides.some((name) => isThere(body[name])),
  };
}

function pageOf({ title, link, snippet, date, imageUrl }: Members): Reading {
  return { title, url: link, snippet, date, thumbnail: imageUrl };
}

function answerOf(box: unknown, pages: Reading[]): Reading | null {
  if (!isMembers(box)) return null;
  const url = textOf(box.link);
  const snippet = textOf(box.answer) ?? textOf(box.snippet);
  if (url === undefined || snippet === undefined) return null;
  const page = pages.find((each) => each.url === url) ?? { date: box.date };
  return { ...page, title: page.title ?? box.title, url, snippet };
}

function isThere(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isMembers(value);
}
