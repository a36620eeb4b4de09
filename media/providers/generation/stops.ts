// Stop sequences that a provider does not watch for, kept here: the answer ends before the first of
// them, wherever its deltas are cut. Of text that may begin one, the end waits for what follows.
import type { ModelEvent } from '../../model/events.ts';
import { singles } from '../../model/text-run.ts';

/** One sequence, and how much of it the text ends with (Knuth, Morris and Pratt, 1977). */
class Watched {
  readonly sequence: string;
  /** Characters of it that stand at the end of the text. */
  begun = 0;
  /** Of as much of it as was ever there: the longest shorter beginning that it ends with. */
  readonly #shorter = [0, 0];

  constructor(sequence: string) {
    this.sequence = sequence;
  }

  /** Whether the sequence is whole with this character. */
  add(code: number): boolean {
    this.begun = this.#after(this.begun, code);
    if (this.begun === this.#shorter.length) {
      const last = this.sequence.charCodeAt(this.begun - 1);
      this.#shorter.push(this.#after(this.#shorter[this.begun - 1] ?? 0, last));
    }
    return this.begun === this.sequence.length;
  }

  #after(begun: number, code: number): number {
    let length = begun;
    while (length > 0 && this.sequence.charCodeAt(length) !== code) {
      length = this.#shorter[length] ?? 0;
    }
    return this.sequence.charCodeAt(length) === code ? length + 1 : 0;
  }
}

export class StopCut {
  readonly #watched: readonly Watched[];
  /** Events that wait: the first is a text, of which something may belong to a sequence. */
  #waiting: ModelEvent[] = [];
  /** Characters of their texts. */
  #length = 0;
  #ended = false;
  #shown = false;

  constructor(sequences: readonly string[]) {
    const told = sequences.filter((sequence) => sequence !== '');
    this.#watched = told.map((sequence) => new Watched(sequence));
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
    for (const event of singles(events)) {
      if (this.#ended) {
        if (event.type !== 'usage' || this.#shown) continue;
        kept.push({ type: 'usage', usage: { ...event.usage, outputTokens: 0 } });
      } else if (event.type === 'text') this.#addText(event, kept);
      else if (this.#waiting.length > 0 && belongsToText(event)) this.#waiting.push(event);
      else {
        this.#release(this.#length, kept);
        for (const watched of this.#watched) watched.begun = 0;
        kept.push(event);
      }
    }
    return kept;
  }

  #addText(event: ModelEvent & { type: 'text' }, kept: ModelEvent[]): void {
    this.#waiting.push(event);
    const found = this.#find(event.text);
    this.#length += event.text.length;
    if (found === null) {
      const begun = this.#watched.reduce((most, watched) => Math.max(most, watched.begun), 0);
      this.#release(this.#length - begun, kept);
      return;
    }
    this.#release(found.at, kept);
    this.#ended = true;
    this.#waiting = [];
    kept.push({ type: 'finish', reason: 'stop', stopSequence: found.sequence });
  }

  /** The sequence that is whole first with more text; of several with one end the longest. */
  #find(text: string): { at: number; sequence: string } | null {
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      let longest = '';
      for (const watched of this.#watched) {
        if (watched.add(code) && watched.sequence.length > longest.length) {
          longest = watched.sequence;
        }
      }
      if (longest !== '') {
        return { at: this.#length + index + 1 - longest.length, sequence: longest };
      }
    }
    return null;
  }

  /** Hands out this much of the text, and what stands behind whole texts. */
  #release(length: number, kept: ModelEvent[]): void {
    let left = length;
    this.#length -= length;
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
  return type === 'extra' || type === 'citation' || type === 'usage' || type === 'unread';
}
