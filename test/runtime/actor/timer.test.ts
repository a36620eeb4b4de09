// Timers die with their actor; idle actors are passivated and come back with a fresh state.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { createTestLog, recorderKind, sleep } from './kinds.ts';

test('timers deliver once and again and again, and nothing after the actor has ended', async () => {
  const ended: number[][] = [];
  const kind = recorderKind({ stopped: (state) => ended.push(state.notes) });
  const log = createTestLog();
  const system = createActorSystem({ node: 0, kinds: [kind], log });
  const ref = system.spawn(kind, 'a', undefined);
  assert(ref !== null);
  ref.tell('noteLater', { value: 1, ms: 5 });
  ref.tell('noteLater', { value: 9, ms: 150 });
  ref.tell('noteOften', { value: 2, ms: 10 });
  const count = async () => {
    const answer = await ref.ask('list', null, 30_000);
    return answer.ok ? answer.value.filter((value) => value === 2).length : 0;
  };
  while ((await count()) < 2) await sleep(10);
  await ref.ask('finish', null, 30_000);
  const notes = [...(ended[0] ?? [])];
  assert.equal(notes.filter((value) => value === 1).length, 1);
  assert(notes.filter((value) => value === 2).length >= 2);
  // An actor of the same id must not hear the timers of its predecessor.
  const successor = system.spawn(kind, 'a', undefined);
  assert(successor !== null);
  await sleep(120);
  assert.deepEqual(await successor.ask('list', null, 30_000), { ok: true, value: [] });
  assert.deepEqual(ended[0], notes);
  assert.deepEqual(log.lines, []);
  await system.stop(100);
});

test('timers die with the state that a crash ended', async () => {
  const kind = recorderKind();
  const system = createActorSystem({ node: 0, kinds: [kind], log: createTestLog() });
  const ref = system.spawn(kind, 'a', undefined);
  assert(ref !== null);
  ref.tell('noteLater', { value: 1, ms: 20 });
  ref.tell('crash', 'on purpose');
  await sleep(60);
  assert.deepEqual(await ref.ask('list', null, 30_000), { ok: true, value: [] });
  await system.stop(100);
});

test('a single timer is delivered even to a full mailbox', async () => {
  const kind = recorderKind({ mailboxLengthMax: 1 });
  const system = createActorSystem({ node: 0, kinds: [kind], log: createTestLog() });
  const ref = system.spawn(kind, 'a', undefined);
  assert(ref !== null);
  await ref.ask('noteLater', { value: 5, ms: 5 }, 30_000);
  const slow = ref.ask('noteSlowly', { value: 1, ms: 40 }, 30_000);
  ref.tell('note', 2);
  await slow;
  await sleep(0);
  assert.deepEqual(await ref.ask('list', null, 30_000), { ok: true, value: [1, 2, 5] });
  await system.stop(100);
});

test('an idle actor is passivated and starts anew with its next message', async () => {
  const reasons: string[] = [];
  const kind = recorderKind({
    placement: 'hashed',
    idleTimeoutMs: 60,
    stopped: (_state, reason) => reasons.push(reason),
  });
  const system = createActorSystem({ node: 0, kinds: [kind], log: createTestLog() });
  const ref = system.ref(kind, 'a');
  const startedAt = performance.now();
  for (let i = 1; i <= 6; i += 1) {
    await sleep(20);
    const answer = await ref.ask('note', i, 30_000);
    // Only a machine that slept for us may have let it end here.
    if (performance.now() - startedAt < i * 20 + 20) {
      assert.deepEqual(answer, { ok: true, value: i }, 'it had messages all the time');
    }
  }
  while (system.status()[0]?.alive !== 0) await sleep(20);
  assert.equal(reasons.at(-1), 'passivated');
  assert.equal(system.status()[0]?.alive, 0);
  assert.deepEqual(await ref.ask('list', null, 30_000), { ok: true, value: [] });
  assert.equal(system.status()[0]?.alive, 1);
  await system.stop(100);
});

test('a busy actor is not passivated however long its handler takes', async () => {
  const reasons: string[] = [];
  const kind = recorderKind({
    placement: 'hashed',
    idleTimeoutMs: 20,
    stopped: (_state, reason) => reasons.push(reason),
  });
  const system = createActorSystem({ node: 0, kinds: [kind], log: createTestLog() });
  const answer = await system.ref(kind, 'a').ask('noteSlowly', { value: 1, ms: 150 }, 30_000);
  assert.deepEqual(answer, { ok: true, value: 1 });
  assert.deepEqual(reasons, []);
  while (system.status()[0]?.alive !== 0) await sleep(20);
  assert.deepEqual(reasons, ['passivated']);
  await system.stop(100);
});
