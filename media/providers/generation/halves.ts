// Halves of surrogate pairs in what models say. Servers that count in UTF-16 cut a character in two
// between their deltas. Many clients can read neither half, and a strict one gives up.
import type { ModelEvent } from '../../model/events.ts';

type Said = Extract<ModelEvent, { type: 'text' | 'refusal' | 'reasoning' | 'tool_arguments' }>;

const replacement = '\ufffd';

/** Gives each character whole: a first half waits for the second, and one alone is replaced. */
export class WholeCharacters {
  /** It ended with the first half of a pair. */
  #waiting: { said: Said; half: string } | null = null;

  /** The same events where nothing is cut: that is nearly always so. */
  keep(events: ModelEvent[]): ModelEvent[] {
    if (this.#waiting === null && events.every(isWhole)) return events;
    const kept: ModelEvent[] = [];
    for (const event of events) {
      if (isSaid(event)) this.#keepSaid(event, kept);
      else {
        if (event.type !== 'usage') this.#release(kept);
        kept.push(event);
      }
    }
    return kept;
  }

  #keepSaid(said: Said, kept: ModelEvent[]): void {
    if (this.#waiting !== null && !isSameRun(this.#waiting.said, said)) this.#release(kept);
    const text = (this.#waiting?.half ?? '') + said.text;
    const last = text.charCodeAt(text.length - 1);
    const isCut = last >= 0xd800 && last < 0xdc00;
    this.#waiting = isCut ? { said, half: text.slice(-1) } : null;
    const whole = (isCut ? text.slice(0, -1) : text).toWellFormed();
    if (whole !== '') kept.push(whole === said.text ? said : saying(said, whole));
  }

  #release(kept: ModelEvent[]): void {
    if (this.#waiting === null) return;
    kept.push(saying(this.#waiting.said, replacement));
    this.#waiting = null;
  }
}

function isSaid(event: ModelEvent): event is Said {
  const { type } = event;
  return type === 'text' || type === 'tool_arguments' || type === 'reasoning' || type === 'refusal';
}

function isWhole(event: ModelEvent): boolean {
  return !isSaid(event) || event.text.isWellFormed();
}

function isSameRun(first: Said, second: Said): boolean {
  if (first.type !== second.type) return false;
  return first.type !== 'tool_arguments' || Object(second).index === first.index;
}

/** How its deltas were cut is not told then. */
function saying(said: Said, text: string): Said {
  if (said.type !== 'text') return { ...said, text };
  const { logprobs } = said;
  return { type: 'text', text, plain: false, ...(logprobs === undefined ? {} : { logprobs }) };
}
