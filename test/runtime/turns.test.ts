// Long steps must never share a turn of the event loop, or several of them block it together.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownTurn } from '../../runtime/turns.ts';

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
