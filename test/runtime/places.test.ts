// Turns for the places of a pool, without a thread: whose turn it is follows from who came, and
// from who left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Places } from '../../runtime/work/places.ts';
import { createRandom, testSeed } from '../harness/seed.ts';

const never = new AbortController().signal;

/** Who has a place, in the order in which they got it. */
function scene(count: number) {
  const places = new Places(count);
  const begun: string[] = [];
  const enter = async (tenant: string, signal = never) => {
    const hasPlace = await places.enter(tenant, signal);
    if (hasPlace) begun.push(tenant);
    return hasPlace;
  };
  return { places, begun, enter };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('tenants take turns, however much one of them sends', async () => {
  const { places, begun, enter } = scene(1);
  for (const tenant of 'aaaaaabbcc') void enter(tenant);
  await settled();
  assert.deepEqual(begun, ['a', 'b'], 'the place, and one more for who had nothing running');
  for (let left = 0; begun.length < 10; left += 1) {
    places.leave(begun[left] ?? '');
    await settled();
  }
  assert.equal(begun.join(''), 'ababcacaaa');
});

test('who has nothing running finds one place more, and no third one does', async () => {
  const { begun, enter } = scene(2);
  for (const tenant of 'aaaabc') void enter(tenant);
  await settled();
  assert.equal(begun.join(''), 'aab');
});

test('one tenant alone has all places, and none beyond them', async () => {
  const { places, begun, enter } = scene(2);
  for (const tenant of 'aaaa') void enter(tenant);
  await settled();
  assert.equal(begun.length, 2);
  assert.equal(places.countOf('a'), 4);
  places.leave('a');
  await settled();
  assert.equal(begun.length, 3);
  assert.equal(places.countOf('a'), 3);
});

test('who gives up leaves its line, and the next one is served', async () => {
  const { places, begun, enter } = scene(1);
  const giveUp = new AbortController();
  void enter('a');
  const given = enter('a', giveUp.signal);
  void enter('a');
  giveUp.abort();
  assert.equal(await given, false);
  assert.equal(places.countOf('a'), 2);
  places.leave('a');
  await settled();
  assert.equal(begun.length, 2);
  assert.equal(await enter('b', giveUp.signal), false, 'one that is over never begins');
  places.leave('a');
  assert.equal(places.countOf('a'), 0);
});

test('a close refuses who waits and who comes', async () => {
  const { places, enter } = scene(1);
  assert.equal(await enter('a'), true);
  const waiting = ['a', 'a'].map((tenant) => enter(tenant));
  places.close();
  assert.deepEqual(await Promise.all(waiting), [false, false]);
  places.leave('a');
  assert.equal(await enter('b'), false);
});

test(`places are never lost, nor given twice (seed ${testSeed})`, async () => {
  const random = createRandom(testSeed);
  const integer = (below: number) => Math.floor(random() * below);
  const { places, begun, enter } = scene(3);
  const running: string[] = [];
  let taken = 0;
  let waiting = 0;
  for (let step = 0; step < 3_000; step += 1) {
    const tenant = 'abcde'[integer(5)] ?? 'a';
    if (running.length > 0 && integer(10) < 5) {
      const [left = ''] = running.splice(integer(running.length), 1);
      places.leave(left);
    } else {
      waiting += 1;
      const controller = new AbortController();
      void enter(tenant, controller.signal).then(() => {
        waiting -= 1;
      });
      if (integer(4) === 0) controller.abort();
    }
    await settled();
    running.push(...begun.slice(taken));
    taken = begun.length;
    assert.ok(running.length <= 4, `step ${step}: ${running.length} have a place`);
    if (running.length < 3) assert.equal(waiting, 0, `step ${step}: a place is free`);
  }
});
