// Output of one session, sent at the pace at which it is heard, so that its position is known when
// the user interrupts. Pure: time comes in, chunks go out; the session sends them.
import { strict as assert } from 'node:assert';
import { type AudioBudget, blockBytes } from '../budget.ts';
import { Ring } from './ring.ts';

/** 24 kHz pcm_s16le mono. */
export const outputBytesPerMs = 48;
/** The longest message that the protocol allows. */
export const chunkMsMax = 80;
const chunkBytesMax = chunkMsMax * outputBytesPerMs;
/**
 * How far sending may be ahead of hearing. Full chunks are sent up to the upper bound; what the
 * upstream has only begun is sent at the lower one, so that nobody hears a gap.
 */
export const leadMs = { min: 200, max: 400 } as const;

/**
 * Guaranteed to each session, and the most that one may hold. The longest answer that a provider
 * gives at once (4,096 tokens of 50 ms) fits in what is read: an upstream that is not read cannot
 * tell that the user speaks, so behind a fuller ring nobody could interrupt by voice.
 */
export const heldMs = { guaranteed: 30_000, max: 240_000 } as const;
/** From here on the session should read no more from its upstream. */
const pressedMs = 220_000;
const pressedShare = 0.9;

/** Items whose position is still known after they were sent. */
const itemsMax = 8;

export interface OutputChunk {
  readonly itemId: string;
  /** Whole samples, at most `chunkMsMax`. To be sent before the next push. */
  readonly pcm: Uint8Array;
}

const nothing: readonly OutputChunk[] = [];

interface Item {
  readonly id: string;
  sentBytes: number;
  /** No more will come. */
  ended: boolean;
  /** Interrupted: what still comes is dropped. */
  voided: boolean;
}

export class Playout {
  readonly #budget: AudioBudget;
  readonly #ring = new Ring<Item>();
  #items: Item[] = [];
  /** When the next chunk is due, if that is known: sessions ask far more often than it changes. */
  #dueMs: number | null = null;
  #blocks = 0;
  /** When the audio that was sent so far is heard to its end, if the client plays without a gap. */
  #heardUpToMs = Number.NEGATIVE_INFINITY;

  constructor(budget: AudioBudget) {
    this.#budget = budget;
  }

  /**
   * Keeps whole samples by reference: nobody may change them. False: over the bound of a session,
   * or over its guarantee while the budget of the process is spent; nothing was kept, and since
   * the answer has a hole then, the session must end. Of an interrupted item: dropped, true.
   */
  push(itemId: string, pcm: Uint8Array, nowMs: number): boolean {
    assert(pcm.byteLength % 2 === 0, 'audio is whole samples');
    const item = this.#item(itemId);
    if (item.voided || pcm.byteLength === 0) return true;
    const bytes = this.#ring.byteLength + pcm.byteLength;
    if (bytes > heldMs.max * outputBytesPerMs || !this.#reserve(bytes)) return false;
    // While nothing waited the client was not late, only idle.
    if (this.#ring.byteLength === 0) this.#heardUpToMs = Math.max(this.#heardUpToMs, nowMs);
    this.#ring.push(item, pcm);
    this.#dueMs = null;
    return true;
  }

  /** All audio of the item came: its last chunk need not wait to be full. */
  endItem(itemId: string): void {
    const item = this.#find(itemId);
    if (item === null) return;
    item.ended = true;
    this.#dueMs = null;
  }

  /** What is to be sent now, in order. After a late call as much as brings the lead back. */
  due(nowMs: number): readonly OutputChunk[] {
    if (nowMs < this.#dueAtMs()) return nothing;
    const chunks: OutputChunk[] = [];
    for (let next = this.#next(); next !== null && next.atMs <= nowMs; next = this.#next()) {
      const { item, length } = next;
      this.#heardUpToMs = Math.max(this.#heardUpToMs, nowMs) + length / outputBytesPerMs;
      item.sentBytes += length;
      chunks.push({ itemId: item.id, pcm: this.#ring.take(length) });
    }
    this.#reserve(this.#ring.byteLength);
    this.#dueMs = null;
    return chunks;
  }

  /** When `due` has something; null: not before the next push. A time that is over: now. */
  get nextDueMs(): number | null {
    const dueMs = this.#dueAtMs();
    return dueMs === Number.POSITIVE_INFINITY ? null : dueMs;
  }

  /** Barge-in: nothing of what waits is sent, and what still comes of these items is dropped. */
  clear(): { droppedMs: number } {
    const droppedMs = this.#ring.byteLength / outputBytesPerMs;
    this.#ring.clear();
    this.#reserve(0);
    for (const item of this.#items) item.voided = true;
    // The client has dropped what it had: what comes next is heard at once.
    this.#heardUpToMs = Number.NEGATIVE_INFINITY;
    this.#dueMs = null;
    return { droppedMs };
  }

  /** What was sent of an item, in whole milliseconds; null: nothing. Survives `clear`. */
  heardMs(itemId: string): number | null {
    const sentBytes = this.#find(itemId)?.sentBytes ?? 0;
    return sentBytes === 0 ? null : Math.floor(sentBytes / outputBytesPerMs);
  }

  /** The items that wait whole: nothing of them was sent. */
  get unsentItems(): string[] {
    const isUnsent = ({ sentBytes, voided }: Item) => sentBytes === 0 && !voided;
    return this.#items.filter(isUnsent).map(({ id }) => id);
  }

  /** What the client has and has not played yet. */
  leadMs(nowMs: number): number {
    return Math.max(0, this.#heardUpToMs - nowMs);
  }

  get bufferedMs(): number {
    return this.#ring.byteLength / outputBytesPerMs;
  }

  /** Nothing waits and what was sent is played. */
  isQuiet(nowMs: number): boolean {
    return this.#ring.byteLength === 0 && this.leadMs(nowMs) === 0;
  }

  /** The upstream should be read no further until this is false again: `push` will soon refuse. */
  get pressed(): boolean {
    const bufferedMs = this.bufferedMs;
    if (bufferedMs >= pressedMs) return true;
    const { usedBytes, bytesMax } = this.#budget;
    return bufferedMs > pressedShare * heldMs.guaranteed && usedBytes > pressedShare * bytesMax;
  }

  /** Gives back what it has of the budget. The last call. */
  close(): void {
    this.clear();
  }

  #dueAtMs(): number {
    this.#dueMs ??= this.#next()?.atMs ?? Number.POSITIVE_INFINITY;
    return this.#dueMs;
  }

  /** The next chunk and when it is due; null: nothing waits. */
  #next(): { item: Item; length: number; atMs: number } | null {
    const item = this.#ring.owner;
    if (item === null) return null;
    const length = this.#ring.available(chunkBytesMax);
    const isFull = length === chunkBytesMax || item.ended || this.#ring.hasNextOwner;
    const ahead = isFull ? leadMs.max - length / outputBytesPerMs : leadMs.min;
    return { item, length, atMs: this.#heardUpToMs - ahead };
  }

  /** Blocks of the budget for so many bytes. The guaranteed ones are always given. */
  #reserve(bytes: number): boolean {
    const blocks = Math.ceil(bytes / blockBytes);
    const more = blocks - this.#blocks;
    if (more > 0) {
      const guaranteed = bytes <= heldMs.guaranteed * outputBytesPerMs;
      if (guaranteed) this.#budget.take(more);
      else if (!this.#budget.tryTake(more)) return false;
    } else if (more < 0) {
      this.#budget.giveBack(-more);
    }
    this.#blocks = blocks;
    return true;
  }

  #find(itemId: string): Item | null {
    return this.#items.findLast(({ id }) => id === itemId) ?? null;
  }

  #item(itemId: string): Item {
    const known = this.#find(itemId);
    if (known !== null) return known;
    const item = { id: itemId, sentBytes: 0, ended: false, voided: false };
    // The oldest are forgotten; those that wait are still held by the ring.
    this.#items = [...this.#items.slice(1 - itemsMax), item];
    return item;
  }
}
