// Chance with a seed: the same conversations on every machine.

export interface Random {
  /** From 0 up to, not including, `below`. */
  integer(below: number): number;
  pick<T>(items: readonly T[]): T;
  chance(share: number): boolean;
  shuffled<T>(items: readonly T[]): T[];
  hex(digits: number): string;
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (below: number): number => Math.floor(next() * below);
  const pick = <T>(items: readonly T[]): T => {
    const item = items[integer(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  return {
    integer,
    pick,
    chance: (share) => next() < share,
    shuffled: (items) =>
      items
        .map((item) => ({ item, key: next() }))
        .toSorted((a, b) => a.key - b.key)
        .map(({ item }) => item),
    hex: (digits) => Array.from({ length: digits }, () => integer(16).toString(16)).join(''),
  };
}
