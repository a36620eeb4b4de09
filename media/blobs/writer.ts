// A put for whoever has bytes pushed at it: it says when to wait, and what it holds is bounded.
import type { BlobStore, StoredBlob } from './contract.ts';
import { pieceBytes } from './pieces.ts';

/** One object that is being stored. Never throws: a full disk makes `finish` answer null. */
export interface BlobWriter {
  /** False: write no more before `onDrain` is called. */
  write(bytes: Uint8Array): boolean;
  /** Once it is durable; null: it could not be kept. */
  finish(): Promise<StoredBlob | null>;
  discard(): void;
}

export interface BlobWriterOptions {
  id: string;
  bytesMax: number;
  onDrain(): void;
  /** It will not be kept: what is written from now on goes nowhere. */
  onLost(error: unknown): void;
}

export function writeBlob(store: BlobStore, options: BlobWriterOptions): BlobWriter {
  const { id, bytesMax, onDrain, onLost } = options;
  const discarding = new AbortController();
  let queue: Uint8Array[] = [];
  let queuedBytes = 0;
  let isWaitedFor = false;
  let isEnded = false;
  let isLost = false;
  let wake = () => {};

  const drain = () => {
    if (!isWaitedFor) return;
    isWaitedFor = false;
    onDrain();
  };

  async function* pushed(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunks = queue;
      queue = [];
      queuedBytes = 0;
      drain();
      yield* chunks;
      if (queue.length > 0) continue;
      if (isEnded) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  const { signal } = discarding;
  const stored = store.put(pushed(), { id, bytesMax, signal }).catch((error: unknown) => {
    isLost = true;
    queue = [];
    if (!signal.aborted) onLost(error);
    drain();
    return null;
  });

  return {
    write(bytes) {
      if (isLost || isEnded || signal.aborted) return true;
      queue.push(bytes);
      queuedBytes += bytes.length;
      wake();
      isWaitedFor ||= queuedBytes >= pieceBytes;
      return !isWaitedFor;
    },
    finish() {
      isEnded = true;
      wake();
      return stored;
    },
    discard() {
      queue = [];
      discarding.abort();
      isEnded = true;
      wake();
    },
  };
}
