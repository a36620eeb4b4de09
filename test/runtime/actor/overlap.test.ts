// Batch kinds that overlap: a second batch begins while the first is under way, a third does not.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActorKind, BatchEntry } from '../../../runtime/actor/contract.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { createTestLog, restarting } from './kinds.ts';

interface Jobs {
  do(value: number): string;
}

interface Running {
  values: number[];
  finish(): Promise<void>;
  fail(): Promise<void>;
}

/** More turns than it takes: a scheduler that was preempted leaves the loop one in between. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
}

/** Batches end when the test says so. */
function openStage(lengthMax: number, overlapFrom: number) {
  const running: Running[] = [];
  const ends: string[] = [];
  let lives = 0;
  const kind: ActorKind<Jobs, { life: number }> = {
    name: 'jobs',
    parent: 'test',
    placement: 'hashed',
    supervision: restarting,
    mailboxLengthMax: 100,
    start: () => {
      lives += 1;
      return { life: lives };
    },
    stopped: (state, reason) => ends.push(`${state.life} ${reason}`),
    behaviour: {
      batch: {
        lengthMax,
        overlapFrom,
        receive: (state, batch) =>
          new Promise((resolve, reject) => {
            running.push({
              values: batch.map(({ payload }) => payload),
              async finish() {
                for (const { payload, reply } of named(batch)) reply(`${state.life}:${payload}`);
                resolve();
                await settle();
              },
              async fail() {
                reject(new Error('the batch fails'));
                await settle();
              },
            });
          }),
      },
    },
  };
  const log = createTestLog();
  const system = createActorSystem({ node: 0, kinds: [kind], log });
  const ref = system.ref(kind, 'a');
  return {
    running,
    ends,
    log,
    system,
    ref,
    /** Asks, and lets a batch be taken. */
    async ask(...values: number[]) {
      const asked = values.map((value) => ref.ask('do', value, 30_000));
      await settle();
      return asked;
    },
  };
}

function named(batch: BatchEntry<Jobs>[]): { payload: number; reply: (value: string) => void }[] {
  return batch.map((entry) => ({ payload: entry.payload, reply: (value) => entry.reply(value) }));
}

test('a second batch begins when enough waits, a third when one of two has ended', async () => {
  const { ask, running, system } = openStage(10, 2);
  const first = await ask(1);
  const second = await ask(2);
  assert.deepEqual(
    running.map(({ values }) => values),
    [[1]],
    'one is not enough',
  );
  const third = await ask(3);
  const later = await ask(4, 5, 6);
  assert.deepEqual(
    running.map(({ values }) => values),
    [[1], [2, 3]],
  );
  await running[1]?.finish();
  await settle();
  assert.deepEqual(running[2]?.values, [4, 5, 6], 'the first may still be under way');
  await running[0]?.finish();
  await running[2]?.finish();
  const answers = await Promise.all([...first, ...second, ...third, ...later]);
  assert.deepEqual(
    answers.map((answer) => answer.ok && answer.value),
    ['1:1', '1:2', '1:3', '1:4', '1:5', '1:6'],
  );
  await system.stop(100);
});

test('what is left when both have ended is a batch, be it ever so small', async () => {
  const { ask, running, system } = openStage(10, 2);
  const asked = [...(await ask(1)), ...(await ask(2, 3)), ...(await ask(4))];
  await running[0]?.finish();
  await settle();
  assert.equal(running.length, 2, 'one waits, one is under way');
  await running[1]?.finish();
  await settle();
  assert.deepEqual(running[2]?.values, [4]);
  await running[2]?.finish();
  assert.ok((await Promise.all(asked)).every(({ ok }) => ok));
  await system.stop(100);
});

test('a batch that crashes fails its own; the other one answers, the state is new', async () => {
  const { ask, running, ends, log, system } = openStage(10, 1);
  const [first] = await ask(1);
  const [second] = await ask(2);
  const [waiting] = await ask(3);
  await running[0]?.fail();
  assert.deepEqual(await first, { ok: false, reason: 'actor_crashed' });
  assert.deepEqual(ends, ['1 crashed']);
  await settle();
  assert.deepEqual(running[2]?.values, [3], 'the new life does not wait for the old one');
  await running[1]?.finish();
  await running[2]?.finish();
  assert.deepEqual(await second, { ok: true, value: '1:2' });
  assert.deepEqual(await waiting, { ok: true, value: '2:3' });
  assert.equal(log.lines.length, 1);
  await system.stop(100);
});

test('a batch of a life that is over may crash, too, without harm to the new one', async () => {
  const { ask, running, ends, log, system } = openStage(10, 1);
  const asked = [...(await ask(1)), ...(await ask(2))];
  await running[0]?.fail();
  await running[1]?.fail();
  for (const answer of await Promise.all(asked)) {
    assert.deepEqual(answer, { ok: false, reason: 'actor_crashed' });
  }
  assert.deepEqual(ends, ['1 crashed']);
  assert.equal(log.lines.length, 2);
  const [next] = await ask(3);
  await running[2]?.finish();
  assert.deepEqual(await next, { ok: true, value: '2:3' });
  await system.stop(100);
});

test('a stop waits for both batches, and ends them when its time is over', async () => {
  const { ask, running, ends, system } = openStage(10, 1);
  const asked = [...(await ask(1)), ...(await ask(2))];
  const stopping = system.stop(30_000);
  await running[0]?.finish();
  assert.deepEqual(ends, [], 'the second is under way');
  await running[1]?.finish();
  await stopping;
  assert.deepEqual(ends, ['1 shutdown']);
  assert.ok((await Promise.all(asked)).every(({ ok }) => ok));
  const late = openStage(10, 1);
  const lost = [...(await late.ask(1)), ...(await late.ask(2))];
  await late.system.stop(1);
  for (const answer of await Promise.all(lost)) {
    assert.deepEqual(answer, { ok: false, reason: 'stopped' });
  }
});
