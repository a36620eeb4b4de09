// Stop sequences that a provider does not watch for, kept here: the answer ends before the first of
// them, wherever its deltas are cut. Of text that may begin one, the end waits for what follows.
import type { ModelEvent } from '../model/events.ts';

export class StopCut {
  readonly #sequences: readonly string[];
  /** Events that wait: the first is a text, of which something may belong to a sequence. */
  #waiting: ModelEvent[] = [];
  /** Their text. */
  #text = '';
  #ended = false;
  #shown = false;

  constructor(sequences: readonly string[]) {
    this.#sequences = sequences.filter((sequence) => sequence !== '');
  }

  /**
   * A sequence was found, and the call may be given up: what was told is counted then. Of an answer
   * that begins with one nothing was told, and its input would be free.
   */
  get ended(): boolean {
    return this.#ended && this.#shown;
  }

  /**
   * What of the next events is in front of the first sequence; behind it, of an answer of which
   * nothing was told, only what was used.
   */
  keep(events: readonly ModelEvent[]): ModelEvent[] {
    const kept: ModelEvent[] = [];
    for (const event of events) {
      if (this.#ended) {
        if (event.type !== 'usage' || this.#shown) continue;
        kept.push({ type: 'usage', usage: { ...event.usage, outputTokens: 0 } });
      } else if (event.type === 'text') this.#addText(event, kept);
      else if (this.#waiting.length > 0 && belongsToText(event)) this.#waiting.push(event);
      else {
        this.#release(this.#text.length, kept);
        kept.push(event);
      }
    }
    return kept;
  }

  #addText(event: ModelEvent & { type: 'text' }, kept: ModelEvent[]): void {
    this.#waiting.push(event);
    this.#text += event.text;
    const found = this.#find();
    if (found === null) {
      this.#release(this.#text.length - this.#begunLength(), kept);
      return;
    }
    this.#release(found.at, kept);
    this.#ended = true;
    this.#waiting = [];
    kept.push({ type: 'finish', reason: 'stop', stopSequence: found.sequence });
  }

  /** The sequence that is whole first; of several with one end the longest. */
  #find(): { at: number; sequence: string } | null {
    let found: { at: number; end: number; sequence: string } | null = null;
    for (const sequence of this.#sequences) {
      const at = this.#text.indexOf(sequence);
      if (at < 0) continue;
      const end = at + sequence.length;
      if (found !== null && (found.end < end || (found.end === end && found.at < at))) continue;
      found = { at, end, sequence };
    }
    return found;
  }

  /** How much of the text's end may begin a sequence. */
  #begunLength(): number {
    let longest = 0;
    for (const sequence of this.#sequences) {
      const most = Math.min(sequence.length - 1, this.#text.length);
      for (let length = most; length > longest; length -= 1) {
        if (!this.#text.endsWith(sequence.slice(0, length))) continue;
        longest = length;
        break;
      }
    }
    return longest;
  }

  /** Hands out this much of the text, and what stands behind whole texts. */
  #release(length: number, kept: ModelEvent[]): void {
    let left = length;
    this.#text = this.#text.slice(length);
    if (length > 0) this.#shown = true;
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined || (left === 0 && first.type === 'text')) return;
      if (first.type === 'text' && first.text.length > left) {
        const { text } = first;
        kept.push({ ...first, text: text.slice(0, left) });
        this.#waiting[0] = { ...first, text: text.slice(left) };
        return;
      }
      if (first.type === 'text') left -= first.text.length;
      kept.push(first);
      this.#waiting.shift();
    }
  }
}

/** What keeps its place behind the text that it tells of. */
function belongsToText({ type }: ModelEvent): boolean {
  return type === 'extra' || type === 'citation' || type === 'usage';
}
