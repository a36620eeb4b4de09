// Batch kinds: everything that waits in one call, one batch at a time, a reply for each entry.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { collectorKind, createTestLog, sleep } from './kinds.ts';

test('a batch takes all that waits up to its bound, the next one when it resolves', async () => {
  const kind = collectorKind(4, 10);
  const system = createActorSystem({ node: 0, kinds: [kind], log: createTestLog() });
  const ref = system.ref(kind, 'a');
  const first = Array.from({ length: 6 }, (_, value) => ref.ask('add', value, 30_000));
  await sleep(3);
  const later = Array.from({ length: 3 }, (_, i) => ref.ask('add', 10 + i, 30_000));
  const values = (await Promise.all([...first, ...later])).map((answer) => {
    assert(answer.ok);
    return `${answer.value.batch}:${answer.value.value}`;
  });
  assert.deepEqual(values, ['1:0', '1:1', '1:2', '1:3', '2:4', '2:5', '2:10', '2:11', '3:12']);
  await system.stop(100);
});

test('a crash in a batch fails the asks that were not answered, the rest goes on', async () => {
  const kind = collectorKind(3, 5);
  const log = createTestLog();
  const system = createActorSystem({ node: 0, kinds: [kind], log });
  const ref = system.ref(kind, 'a');
  const answered = ref.ask('add', 1, 30_000);
  const failing = ref.ask('fail', null, 30_000);
  const unanswered = ref.ask('add', 2, 30_000);
  const nextBatch = ref.ask('add', 3, 30_000);
  assert.deepEqual(await answered, { ok: true, value: { batch: 1, value: 1 } });
  assert.deepEqual(await failing, { ok: false, reason: 'actor_crashed' });
  assert.deepEqual(await unanswered, { ok: false, reason: 'actor_crashed' });
  assert.deepEqual(await nextBatch, { ok: true, value: { batch: 1, value: 3 } });
  assert.equal(log.lines.length, 1);
  await system.stop(100);
});

test('replying to a tell, or twice, does nothing', async () => {
  const kind = collectorKind(10, 0);
  const { receive } = (kind.behaviour as { batch: { receive: (...of: never[]) => unknown } }).batch;
  const twice = {
    ...kind,
    behaviour: {
      batch: {
        lengthMax: 10,
        async receive(state: never, batch: never, context: never) {
          await receive(state, batch, context);
          await receive(state, batch, context);
        },
      },
    },
  };
  const log = createTestLog();
  const system = createActorSystem({ node: 0, kinds: [twice], log });
  const ref = system.ref(kind, 'a');
  assert(ref.tell('add', 1));
  const answer = await ref.ask('add', 2, 30_000);
  assert.deepEqual(answer, { ok: true, value: { batch: 1, value: 2 } });
  await sleep(20);
  assert.deepEqual(log.lines, []);
  await system.stop(100);
});
