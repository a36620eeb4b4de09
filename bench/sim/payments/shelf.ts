// The objects of one kind at a simulated payment provider, the newest of them: a process that runs
// for weeks forgets the oldest.

const objectsMax = 20_000;

export class Shelf<T extends { id: string }> {
  readonly #objects = new Map<string, T>();

  put(object: T): T {
    this.#objects.set(object.id, object);
    if (this.#objects.size > objectsMax) {
      const [oldest] = this.#objects.keys();
      if (oldest !== undefined) this.#objects.delete(oldest);
    }
    return object;
  }

  get(id: string): T | null {
    return this.#objects.get(id) ?? null;
  }

  /** The newest first, as providers list. */
  newest(): T[] {
    return [...this.#objects.values()].reverse();
  }

  get size(): number {
    return this.#objects.size;
  }
}
