// A citation as Chat Completions writes it: an annotation of the message.
import type { Citation } from '../../events.ts';

export interface UrlCitation {
  type: 'url_citation';
  url_citation: { url: string; title: string; start_index: number; end_index: number };
}

/** Whether there is an address to show: documents of the request have none. */
export function hasAddress({ url }: Citation): boolean {
  return url !== '';
}

/** One of a provider of this format is told as it was written. */
export function urlCitation(citation: Citation): UrlCitation | Record<string, unknown> {
  const { url, title, start, end, native } = citation;
  if (native?.format === 'chat') return native.value;
  return {
    type: 'url_citation',
    url_citation: { url, title, start_index: start ?? 0, end_index: end ?? 0 },
  };
}
