// Reads a form. Words that begin with `!`, `:` or `<` are modifiers of the query and beat the form.
import type { Members } from '../members.ts';

export const categories = ['general', 'images', 'news', 'videos', 'map', 'science'] as const;
export type Category = (typeof categories)[number];

export interface SearxngRequest {
  /** As it was sent. */
  sent: string;
  /** Without the modifiers. */
  query: string;
  category: Category;
  pageNumber: number;
  timeRange: string | null;
  /** `!!x`: the browser is to be sent elsewhere. */
  isRedirected: boolean;
}

const timeRanges = ['', 'day', 'week', 'month', 'year'];
const language = /^(all|auto|[a-z]{2,3}([-_][a-zA-Z]{2,4})?)?$/;

export function readSearxngRequest(form: Members): SearxngRequest | { error: string } {
  const textOf = (name: string) => (typeof form[name] === 'string' ? form[name] : '');
  const sent = textOf('q');
  if (sent.trim() === '') return { error: 'No query' };
  const invalid = (name: string) => ({
    error: `Invalid value "${textOf(name)}" for parameter ${name}`,
  });
  const pageText = form.pageno === undefined ? '1' : textOf('pageno');
  if (!/^[1-9]\d{0,3}$/.test(pageText)) return invalid('pageno');
  if (!/^[012]?$/.test(textOf('safesearch'))) return invalid('safesearch');
  if (!timeRanges.includes(textOf('time_range'))) return invalid('time_range');
  if (!language.test(textOf('language'))) return invalid('language');
  const { query, modifiers } = modifiersOf(sent);
  const wanted = [...modifiers.map((word) => word.slice(1)), ...textOf('categories').split(',')];
  return {
    sent,
    query,
    category: categories.find((name) => wanted.some((word) => word.trim() === name)) ?? 'general',
    pageNumber: Number(pageText),
    timeRange: textOf('time_range') === '' ? null : textOf('time_range'),
    isRedirected: modifiers.some((word) => word.startsWith('!!')),
  };
}

function modifiersOf(sent: string): { query: string; modifiers: string[] } {
  const words = sent.split(/(\s+)/);
  const isModifier = (word: string) => /^[!:<]\S/.test(word);
  const query = words.filter((word) => !isModifier(word)).join('');
  return { query: query.trim(), modifiers: words.filter(isModifier) };
}
