// Long steps must never share a turn of the event loop, or several of them block it together.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { afterOthers, atTurnEnd, ownTurn, pausing } from '../../runtime/turns.ts';

/** Counts turns of the loop while `work` runs. */
async function countTurns(work: (turn: () => number) => Promise<unknown>): Promise<void> {
  let turn = 0;
  let counting = true;
  const count = () => {
    turn += 1;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  await work(() => turn);
  counting = false;
}

test('steps that come at once have a turn each, in their order', async () => {
  await countTurns(async (turn) => {
    const seen: [number, number][] = [];
    const steps = Array.from({ length: 20 }, (_, index) =>
      ownTurn().then(() => seen.push([index, turn()])),
    );
    await Promise.all(steps);
    assert.deepEqual(
      seen.map(([index]) => index),
      Array.from({ length: 20 }, (_, index) => index),
    );
    assert.equal(new Set(seen.map(([, at]) => at)).size, 20);
  });
});

test('a step that asks for another turn goes behind those that wait', async () => {
  const seen: string[] = [];
  const twice = async (name: string) => {
    await ownTurn();
    seen.push(`${name}1`);
    await ownTurn();
    seen.push(`${name}2`);
  };
  await Promise.all([twice('a'), twice('b')]);
  assert.deepEqual(seen, ['a1', 'b1', 'a2', 'b2']);
});

test('work in pieces hands the loop on once it has been long, and where it must', async () => {
  await countTurns(async (turn) => {
    await ownTurn();
    const pause = pausing();
    const before = turn();
    const endMs = performance.now() + 5;
    while (performance.now() < endMs);
    await pause();
    const after = turn();
    assert.ok(after > before, 'other work has had the loop');
    await pause(true);
    assert.ok(turn() > after);
  });
});

test('long work is done one after the other, and a failure stops nothing', async () => {
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} begins`);
    await ownTurn();
    await ownTurn();
    seen.push(`${name} ends`);
    if (name === 'a') throw new Error('a fails');
    return name;
  };
  const [a, b] = await Promise.allSettled([afterOthers('', work('a')), afterOthers('', work('b'))]);
  assert.deepEqual(seen, ['a begins', 'a ends', 'b begins', 'b ends']);
  assert.equal(a.status, 'rejected');
  assert.deepEqual(b, { status: 'fulfilled', value: 'b' });
});

test('tenants take turns, and what throws at once stops nothing', async () => {
  const seen: string[] = [];
  const work = (tenant: string, name: string) =>
    afterOthers(tenant, async () => {
      await ownTurn();
      seen.push(name);
    });
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map((name) => work(name[0] ?? '', name));
  const failed = afterOthers('d', () => {
    throw new Error('at once');
  });
  await assert.rejects(failed, /at once/);
  await Promise.all(all);
  assert.deepEqual(seen, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('the end of a turn comes behind what was put there before, and never grows', async () => {
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    setImmediate(() => order.push('gathered'));
    atTurnEnd(() => {
      order.push('first');
      setImmediate(() => order.push('next turn'));
      atTurnEnd(() => {
        order.push('its end');
        resolve();
      });
    });
    atTurnEnd(() => order.push('second'));
    queueMicrotask(() => order.push('microtask'));
  });
  const expected = ['microtask', 'gathered', 'first', 'second', 'next turn', 'its end'];
  assert.deepEqual(order, expected);
});

test('one that throws at the end of a turn holds up no other, and its error is seen', async () => {
  const thread = new Worker(new URL('./turn-end-thread.js', import.meta.url));
  const [ran] = (await once(thread, 'message')) as [string[]];
  await thread.terminate();
  const all = (where: string) => [
    ...['broken 1', 'fine 2', 'broken 3', 'fine 4'].map((name) => `${name} ${where}`),
    `error broken 1 ${where}`,
  ];
  assert.deepEqual(ran, [...all('at the end'), ...all('in a stream')]);
});
