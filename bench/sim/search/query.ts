// Tells the topic of a query from its operators and directives. Sites may be asked for in the query
// or in a member of its own, and the same pages are found.
import { withoutDirective } from '../directive.ts';

export interface Topic {
  text: string;
  /** Hosts; with none of them, all. */
  include: readonly string[];
  exclude: readonly string[];
}

const operator = /(^|[\s(])(-?)site:([^\s()]+)/gi;
const ages = /(^|\s)(?:when:\d+[hdwmy]|(?:after|before):\d{4}-\d\d-\d\d)(?=\s|$)/gi;

export function topicOf(query: string): Topic {
  const include: string[] = [];
  const exclude: string[] = [];
  const rest = withoutDirective(query)
    .replace(operator, (_, before: string, minus: string, host: string) => {
      (minus === '' ? include : exclude).push(host.toLowerCase());
      return before;
    })
    .replace(ages, ' ');
  const isAsked = include.length > 0;
  const words = isAsked ? rest.replace(/\bOR\b/g, ' ').replace(/[()]/g, ' ') : rest;
  return { text: words.replace(/\s+/g, ' ').trim(), include, exclude };
}
