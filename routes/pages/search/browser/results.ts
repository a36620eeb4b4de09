// What a reply is shown as: what it cost and who was tried, then the answer and the items.
import { answerOf } from './answer.ts';
import { button, make } from './dom.ts';
import { itemOf } from './items.ts';
import { chargeText, enginesText, outcomeText } from './text.ts';
import type { Reply } from './wire.ts';

/** `ask` is called with a related query that was chosen. */
export function showReply(box: HTMLElement, reply: Reply, ask: (query: string) => void): void {
  const { normalized } = reply;
  const { items, answer, related = [], ignored, assumed } = normalized;
  const lines: HTMLElement[] = [
    make('p', { className: 'outcome', text: outcomeText(normalized) }),
    make('p', { className: 'meta', text: enginesText(normalized) }),
    make('p', { className: 'meta', text: chargeText(reply) }),
  ];
  if (ignored.length > 0) {
    lines.push(make('p', { className: 'meta', text: `Not used: ${ignored.join(', ')}` }));
  }
  const filled = Object.entries(assumed).map(([name, value]) => `${name} ${String(value)}`);
  if (filled.length > 0) {
    lines.push(make('p', { className: 'meta', text: `Filled in: ${filled.join(', ')}` }));
  }
  if (answer === null) {
    lines.push(make('p', { className: 'meta', text: 'No answer stood up to its sources.' }));
  } else if (answer !== undefined) lines.push(answerOf(answer));
  const shown = make('ol', { className: 'items' }, ...items.map(itemOf));
  shown.dataset.kind = normalized.kind;
  if (items.length > 0) lines.push(shown);
  if (related.length > 0) {
    const choices = related.map((query) => button(query, () => ask(query)));
    lines.push(make('div', { className: 'related' }, make('h3', { text: 'Related' }), ...choices));
  }
  lines.push(rawOf(reply));
  box.replaceChildren(...lines);
}

function rawOf(reply: Reply): HTMLElement {
  const pre = make('pre', { className: 'code', text: JSON.stringify(reply, null, 2) });
  pre.tabIndex = 0;
  return make('details', {}, make('summary', { text: 'The whole reply' }), pre);
}
