// What is found for a topic: the same pages in the same places for every family, dressed as the
// directive wants them.
import { dateMsOf, dateOf, resultOf, type SearchResult } from '../results.ts';
import type { SearchDirective } from './directive.ts';
import type { Topic } from './query.ts';

export interface Found extends SearchResult {
  /** Among all results of the topic, from 1. */
  place: number;
  /** It lacks what an item of its kind needs. */
  isBad: boolean;
  /** `Jan 3, 2026`, or in words. */
  date: string;
  /** The same as a moment, or in words. */
  moment: string;
}

interface Wanted {
  topic: Topic;
  /** How many results come before the first. */
  skipped: number;
  count: number;
  /** None is older. */
  ageDaysMax: number | null;
  directive: SearchDirective;
}

export function findAll({ topic, skipped, count, ageDaysMax, directive }: Wanted): Found[] {
  const wanted = directive.empty ? 0 : (directive.results ?? count);
  const found: Found[] = [];
  const excluded = new Set(topic.exclude);
  for (let place = 1; found.length < skipped + wanted && place < 40_000; place += 1) {
    const result = onSite(resultOf(topic.text, place), topic.include);
    if (excluded.has(result.domain)) continue;
    const index = found.length - skipped;
    if (ageDaysMax !== null) result.ageDays %= ageDaysMax;
    found.push(dressed(result, place, index >= 0 && index < directive.badItems, directive));
  }
  return found.slice(skipped);
}

const ageNames: Readonly<Record<string, number>> = { h: 1, d: 1, w: 7, m: 30, y: 365 };

/** `day`, `w`, `qdr:m`: days, or null. */
export function ageDaysOf(name: unknown): number | null {
  if (typeof name !== 'string') return null;
  return ageNames[name.replace(/^qdr:/, '').charAt(0)] ?? null;
}

function onSite(result: SearchResult, include: readonly string[]): SearchResult {
  const domain = include[result.hash % Math.max(1, include.length)];
  if (domain === undefined) return result;
  return { ...result, domain, link: result.link.replace(result.domain, domain) };
}

function dressed(
  result: SearchResult,
  place: number,
  isBad: boolean,
  { hasMarkup, hasRelativeDates }: SearchDirective,
): Found {
  const words = `${result.ageDays + 1} days ago`;
  const { title, snippet, link, domain, ageDays, hash } = result;
  // A literal: a spread takes longer than all the rest.
  return {
    link,
    domain,
    ageDays,
    hash,
    title: hasMarkup ? `<b>${title}</b> &amp; more &#8211; &lt;here&gt;` : title,
    snippet: hasMarkup
      ? `<em>${snippet}</em><br/>It&#39;s&nbsp;all <script>1</script>here`
      : snippet,
    place,
    isBad,
    date: hasRelativeDates ? words : dateOf(result),
    moment: hasRelativeDates ? words : new Date(dateMsOf(result)).toISOString(),
  };
}
