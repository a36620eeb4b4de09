// Maps of what comes and goes: what they hold, and that V8 lets go of what has left them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RecentMap, TransientMap, TransientSet } from '../../runtime/transient.ts';

const MEBIBYTE = 1024 * 1024;
const HELD = 64;
const HELD_NUMBERS = 2_000;

test('keeps what is in it over many copies, in the order of insertion', () => {
  const map = new TransientMap<number, string>([[-1_000, 'first']]);
  for (let key = 0; key < 1_000; key += 1) {
    map.set(key, String(key));
    assert.equal(map.delete(key - HELD), key >= HELD);
  }
  assert.equal(map.size, HELD + 1);
  assert.equal(map.get(999), '999');
  assert.equal(map.get(0), undefined);
  assert.ok(map.has(-1_000) && !map.has(0));
  assert.deepEqual([...map.values()].slice(0, 2), ['first', String(1_000 - HELD)]);
});

test('visits what is there, whatever comes and goes meanwhile', () => {
  const set = new TransientSet<number>();
  for (let value = 0; value < 10; value += 1) set.add(value);
  const seen: number[] = [];
  for (const value of set) {
    seen.push(value);
    set.delete(value + 1);
    for (let other = 100; other < 300; other += 1) set.add(value * 1_000 + other);
  }
  assert.deepEqual(seen, [0, 2, 4, 6, 8]);
  assert.equal(set.size, 5 + 5 * 200);
});

test('what has left an old map is garbage for the next scavenge', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
  const map = new TransientMap<number, number[]>();
  for (let key = 0; key < HELD; key += 1) map.set(key, []);
  // A full collection makes its table old; from there on only scavenges clear up.
  collect();
  collect();
  const before = oldBytes();
  for (let key = HELD; key < 50 * HELD; key += 1) {
    map.set(key, new Array<number>(HELD_NUMBERS).fill(key));
    map.delete(key - HELD);
    if (key % HELD === 0) collect({ type: 'minor' });
  }
  const grownBytes = oldBytes() - before;
  // Some sixty arrays of 16 kB are held; with a plain Map all three thousand become old.
  assert.ok(grownBytes < 6 * MEBIBYTE, `the old space grew by ${grownBytes} bytes`);
});

test('remembers the last entries, and forgets older ones', () => {
  const map = new RecentMap<number, number>(10);
  for (let key = 0; key < 105; key += 1) map.set(key, key);
  for (let key = 95; key < 105; key += 1) assert.equal(map.get(key), key);
  assert.ok(map.has(90) && !map.has(89));
  map.set(104, 1);
  assert.equal(map.get(104), 1);
});

function oldBytes(): number {
  const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
  assert.ok(old !== undefined);
  return old.space_used_size;
}
