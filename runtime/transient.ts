// A Map and a Set of what comes and goes for as long as the process lives: requests, calls, holds.
// V8 links each table that a Map outgrows to the next. Once one is old, a scavenge takes all that
// follow, and all that they held, for live, and makes them old too, until the next full collection.

/** So many insertions at least from one copy to the next. */
const RENEWAL_MIN = 64;

/** A Map that is copied now and then, which costs as much as inserting once more. */
export class TransientMap<K, V> {
  #map: Map<K, V>;
  #insertionsLeft = RENEWAL_MIN;

  constructor(entries: Iterable<readonly [K, V]> = []) {
    this.#map = new Map(entries);
  }

  get size(): number {
    return this.#map.size;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  has(key: K): boolean {
    return this.#map.has(key);
  }

  set(key: K, value: V): void {
    this.#insertionsLeft -= 1;
    if (this.#insertionsLeft === 0) {
      // Another Map's first table is linked to none of this one's.
      this.#map = new Map(this.#map);
      this.#insertionsLeft = Math.max(RENEWAL_MIN, this.#map.size);
    }
    this.#map.set(key, value);
  }

  delete(key: K): boolean {
    return this.#map.delete(key);
  }

  /** Those that are here now, in the order of insertion; not what is deleted before its turn. */
  *values(): Generator<V, void> {
    for (const [key, value] of [...this.#map]) if (this.#map.has(key)) yield value;
  }
}

/** Remembers the last `lengthMin` entries at least, and twice as many at most. */
export class RecentMap<K, V> {
  readonly #lengthMin: number;
  #older: ReadonlyMap<K, V> = new Map();
  #newer = new Map<K, V>();

  constructor(lengthMin: number) {
    this.#lengthMin = lengthMin;
  }

  get(key: K): V | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  has(key: K): boolean {
    return this.#newer.has(key) || this.#older.has(key);
  }

  set(key: K, value: V): void {
    if (this.#newer.size >= this.#lengthMin) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }
}

/** A Set of the same kind as TransientMap. */
export class TransientSet<T> {
  readonly #map = new TransientMap<T, T>();

  get size(): number {
    return this.#map.size;
  }

  add(value: T): void {
    this.#map.set(value, value);
  }

  delete(value: T): boolean {
    return this.#map.delete(value);
  }

  /** Those that are here now, in the order of insertion; not what is deleted before its turn. */
  [Symbol.iterator](): Generator<T, void> {
    return this.#map.values();
  }
}
