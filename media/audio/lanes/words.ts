// 32-bit words that two threads share, as little of Atomics as they need; a test puts its own words
// in their place and tries every order in which two threads may get at them.

export interface Words {
  load(index: number): number;
  store(index: number, value: number): void;
  /** Wraps around: values are compared, never ordered. */
  increment(index: number): void;
  /** True: it was `from`, and is `to`. */
  replace(index: number, from: number, to: number): boolean;
  /** Blocks until a notification, unless the word has another value by then. */
  wait(index: number, value: number, timeoutMs: number): void;
  /** Resolves with a notification; null: the word has another value. */
  waitAsync(index: number, value: number): Promise<unknown> | null;
  notify(index: number): void;
}

export function openWords(memory: SharedArrayBuffer, offset: number, bytes: number): Words {
  const words = new Int32Array(memory, offset, bytes / Int32Array.BYTES_PER_ELEMENT);
  return {
    load: (index) => Atomics.load(words, index),
    store: (index, value) => void Atomics.store(words, index, value),
    increment: (index) => void Atomics.add(words, index, 1),
    replace: (index, from, to) => Atomics.compareExchange(words, index, from, to) === from,
    wait: (index, value, timeoutMs) => void Atomics.wait(words, index, value, timeoutMs),
    // Without a timeout: V8 keeps a waiter that has one until then, 300 bytes of it a batch. The
    // caller has a timer, which unlike the waiter also keeps the process.
    waitAsync(index, value) {
      const waiter = Atomics.waitAsync(words, index, value);
      return waiter.async ? waiter.value : null;
    },
    notify: (index) => void Atomics.notify(words, index),
  };
}
