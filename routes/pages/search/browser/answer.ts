// A cited answer: its marks jump to their quotes, and the quotes to their results.
import { make } from './dom.ts';
import type { CitedAnswer } from './wire.ts';

export function answerOf(answer: CitedAnswer): HTMLElement {
  const quotes = answer.citations.map((citation, index) => {
    const { position, title, quote } = citation;
    const link = make('a', { text: `Result ${position}: ${title}` });
    link.href = `#item-${position}`;
    const shown = make('li', {}, make('q', { text: quote }), ' ', link);
    shown.id = `quote-${index + 1}`;
    shown.tabIndex = -1;
    return shown;
  });
  return make(
    'section',
    { className: 'answer' },
    make('p', { className: 'answer-text' }, ...markedText(answer)),
    make('p', { className: 'meta', text: standingText(answer) }),
    ...(quotes.length === 0 ? [] : [make('ol', { className: 'quotes' }, ...quotes)]),
  );
}

/** Offsets count code points. */
function markedText({ text, citations }: CitedAnswer): (Node | string)[] {
  const points = Array.from(text);
  const parts: (Node | string)[] = [];
  let at = 0;
  for (const [index, { start, end }] of citations.entries()) {
    if (start < at) continue;
    parts.push(points.slice(at, start).join(''));
    const mark = make('a', { className: 'mark', text: points.slice(start, end).join('') });
    mark.href = `#quote-${index + 1}`;
    mark.setAttribute('aria-label', `Quote ${index + 1}`);
    parts.push(mark);
    at = end;
  }
  parts.push(points.slice(at).join(''));
  return parts;
}

function standingText({ grounded, model, removed }: CitedAnswer): string {
  const checked = grounded
    ? 'Each mark was checked against its source'
    : 'Not all of it has a source';
  const gone = removed === 0 ? '' : ` · ${removed} without support taken out`;
  return `${checked}${gone} · ${model}`;
}
