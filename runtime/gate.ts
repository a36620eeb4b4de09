// A gate: many wait, one opens it once, with a value.

export interface Gate<T> {
  readonly opened: Promise<T>;
  /** The value; an error before the gate is open. */
  readonly value: T;
  /** Only the first call counts. */
  open(value: T): void;
}

export function createGate<T>(): Gate<T> {
  let resolve: (value: T) => void = () => {};
  const opened = new Promise<T>((settle) => {
    resolve = settle;
  });
  let held: { value: T } | null = null;
  return {
    opened,
    get value() {
      if (held === null) throw new Error('the gate is still closed');
      return held.value;
    },
    open(value) {
      if (held !== null) return;
      held = { value };
      resolve(value);
    },
  };
}
