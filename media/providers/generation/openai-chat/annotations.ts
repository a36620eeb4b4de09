// What the annotations of a message mean: the sources of its text, and what only a client of the
// same format may know.
import type { Citation, ModelEvent } from '../../../model/events.ts';
import { isMembers, type Members } from '../../../transport/members.ts';

/** `worded`: there is text that they can belong to. */
export function readAnnotations(annotations: readonly unknown[], worded: boolean): ModelEvent[] {
  const events: ModelEvent[] = [];
  const others: unknown[] = [];
  for (const annotation of annotations) {
    const citation = worded && isMembers(annotation) ? citationOf(annotation) : null;
    if (citation === null) others.push(annotation);
    else events.push({ type: 'citation', citation });
  }
  if (others.length === 0) return events;
  return [...events, { type: 'extra', format: 'chat', delta: { annotations: others }, choice: {} }];
}

function citationOf(annotation: Members): Citation | null {
  const { type, url_citation: source } = annotation;
  if (type !== 'url_citation' || !isMembers(source)) return null;
  const { url, title, start_index: start, end_index: end } = source;
  if (typeof url !== 'string' || url === '') return null;
  return {
    url,
    title: typeof title === 'string' && title !== '' ? title : url,
    start: offset(start),
    end: offset(end),
    native: { format: 'chat', value: annotation },
  };
}

function offset(value: unknown): number | null {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null;
}
