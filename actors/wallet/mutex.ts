// One at a time, in the order in which they came.

export interface Mutex {
  /** Resolves when those before have left; call what it gives when done. */
  take(): Promise<() => void>;
}

export function createMutex(): Mutex {
  let last: Promise<void> = Promise.resolve();
  return {
    async take() {
      const before = last;
      let leave = (): void => undefined;
      last = new Promise((resolve) => {
        leave = resolve;
      });
      await before;
      return leave;
    },
  };
}
