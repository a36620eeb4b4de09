// The answers of a session so far: which response runs, which items it has, which of them nobody
// may hear any more. Both are bounded: the oldest are forgotten.
import { ItemAudio } from '../pcm.ts';

const itemsMax = 256;
const responsesMax = 64;

export interface AnswerItem {
  readonly id: string;
  readonly responseId: string;
  readonly audio: ItemAudio;
  /** Interrupted: what still comes of it is swallowed. */
  isVoid: boolean;
  /** All its audio came. */
  isDone: boolean;
  /** The usage of its response was told. */
  isReported: boolean;
  /** Where it was cut, in milliseconds; null: nowhere. */
  cutMs: number | null;
}

export class Answers {
  /** The newest item. */
  newest: AnswerItem | null = null;
  readonly #items = new Map<string, AnswerItem>();
  readonly #voidResponses = new Set<string>();
  readonly #endedResponses = new Set<string>();
  /** The responses that the server works on, oldest first: one, but nothing holds it to that. */
  readonly #running = new Set<string>();
  /** The one that began last. */
  #begunId = '';

  /** Of the responses that the server works on the newest; null: none. */
  get runningId(): string | null {
    return [...this.#running].at(-1) ?? null;
  }

  /** The usage of a response is to come. */
  get isOwed(): boolean {
    return this.#running.size > 0;
  }

  /** Those that run and are to be heard. */
  get heardIds(): string[] {
    return [...this.#running].filter((id) => !this.#voidResponses.has(id));
  }

  /** The server would refuse another one. It may have lost the end of one that was given up. */
  get isBusy(): boolean {
    return this.#running.has(this.#begunId) || this.heardIds.length > 0;
  }

  item(itemId: string): AnswerItem | undefined {
    return this.#items.get(itemId);
  }

  /** It is void from the begin when its response was interrupted before. */
  addItem(itemId: string, responseId: string): AnswerItem {
    const audio = new ItemAudio();
    const isVoid = this.isVoidResponse(responseId);
    const item: AnswerItem = {
      id: itemId,
      responseId,
      audio,
      isVoid,
      isDone: false,
      isReported: false,
      cutMs: null,
    };
    this.#items.set(itemId, item);
    dropOldest(this.#items, itemsMax);
    if (!isVoid) this.newest = item;
    return item;
  }

  isVoidResponse(responseId: string): boolean {
    return this.#voidResponses.has(responseId);
  }

  /** False: it began before, this is told twice. */
  begin(responseId: string): boolean {
    if (this.#running.has(responseId) || this.#endedResponses.has(responseId)) return false;
    this.#running.add(responseId);
    dropOldest(this.#running, responsesMax);
    this.#begunId = responseId;
    return true;
  }

  /** False: it had ended, this is told twice. Of responses without an id nobody knows that. */
  end(responseId: string): boolean {
    if (responseId === '') return true;
    if (this.#endedResponses.has(responseId)) return false;
    this.#endedResponses.add(responseId);
    dropOldest(this.#endedResponses, responsesMax);
    this.#running.delete(responseId);
    return true;
  }

  /** What comes of it after its end is counted by the report that came with it. */
  reported(responseId: string): void {
    for (const item of this.#items.values()) {
      if (item.responseId === responseId) item.isReported = true;
    }
  }

  /** Items of a response that still lack their end. */
  open(responseId: string): AnswerItem[] {
    const items = [...this.#items.values()].filter((item) => item.responseId === responseId);
    return items.filter((item) => !item.isDone && !item.isVoid);
  }

  /** Nothing of what was said so far is to be heard any more. */
  voidAll(): void {
    for (const id of this.#running) {
      this.#voidResponses.add(id);
      dropOldest(this.#voidResponses, responsesMax);
    }
    for (const item of this.#items.values()) item.isVoid = true;
    this.newest = null;
  }

  /** Where to cut an item of which `heardMs` was heard, or null: there is nothing to cut. */
  cut(itemId: string, heardMs: number): number | null {
    const item = this.#items.get(itemId);
    if (item === undefined) return null;
    const { lengthMs } = item.audio;
    const endMs = Math.floor(Math.min(heardMs, lengthMs));
    // The server refuses 0, and an end beyond what an earlier cut left.
    if (!(endMs > 0) || (item.cutMs !== null && endMs >= item.cutMs)) return null;
    if (item.isDone && endMs === lengthMs) return null;
    item.cutMs = endMs;
    return endMs;
  }
}

/** Keeps the newest `countMax`. */
export function dropOldest(keys: Map<string, unknown> | Set<string>, countMax: number): void {
  if (keys.size <= countMax) return;
  for (const oldest of keys.keys()) {
    keys.delete(oldest);
    return;
  }
}
