// Crashes: the caller learns it, the log says it once, the supervisor acts, neighbours go on.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { judge } from '../../../runtime/actor/supervisor.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { createTestLog, emptyState, recorderKind, sleep } from './kinds.ts';

const crashed = { ok: false, reason: 'actor_crashed' };

test('a crash answers its caller, is logged once, and a neighbour notices nothing', async () => {
  const kind = recorderKind();
  const log = createTestLog();
  const system = createActorSystem({ node: 3, kinds: [kind], log });
  const bad = system.spawn(kind, 'bad', undefined);
  const good = system.spawn(kind, 'good', undefined);
  assert(bad !== null && good !== null);
  good.tell('note', 1);
  const crash = bad.ask('crash', 'on purpose', 30_000);
  good.tell('note', 2);
  const slow = bad.ask('crashSlowly', 5, 30_000);
  const behind = bad.ask('note', 9, 30_000);
  assert.deepEqual(await crash, crashed);
  assert.deepEqual(await slow, crashed);
  assert.deepEqual(await behind, { ok: true, value: 1 }, 'the mailbox survives a restart');
  assert.deepEqual(await good.ask('list', null, 30_000), { ok: true, value: [1, 2] });
  assert.equal(log.lines.length, 2);
  const { err, ...details } = log.lines[0]?.details ?? {};
  assert(err instanceof Error && err.message === 'on purpose');
  assert.deepEqual(details, { kind: 'recorder', id: 'bad', node: 3, message: 'crash' });
  assert.equal(system.status()[0]?.crashes, 2);
  await system.stop(100);
});

test('the request id of the message that crashed the actor is in the log', async () => {
  const kind = recorderKind();
  const log = createTestLog();
  const system = createActorSystem({ node: 0, kinds: [kind], log });
  const ref = system.spawn(kind, 'a', undefined);
  ref?.tell('crash', { requestId: 'req_1' } as unknown as string);
  await ref?.ask('list', null, 30_000);
  assert.equal(log.lines[0]?.details.requestId, 'req_1');
  await system.stop(100);
});

for (const [strategy, notes, ends] of [
  ['restart', [], ['crashed']],
  ['resume', [1], []],
] as const) {
  test(`after a crash, ${strategy} leaves the notes ${JSON.stringify(notes)}`, async () => {
    const reasons: string[] = [];
    const kind = recorderKind({
      supervision: { strategy, crashesMax: 3, withinMs: 60_000 },
      stopped: (_state, reason) => reasons.push(reason),
    });
    const system = createActorSystem({ node: 0, kinds: [kind], log: createTestLog() });
    const ref = system.spawn(kind, 'a', undefined);
    assert(ref !== null);
    ref.tell('note', 1);
    ref.tell('crash', 'on purpose');
    assert.deepEqual(await ref.ask('list', null, 30_000), { ok: true, value: notes });
    assert.deepEqual(reasons, ends);
    await system.stop(100);
  });
}

test('stop ends the actor at its first crash and answers what waits', async () => {
  const kind = recorderKind({ supervision: { strategy: 'stop', crashesMax: 9, withinMs: 60_000 } });
  const system = createActorSystem({ node: 0, kinds: [kind], log: createTestLog() });
  const ref = system.spawn(kind, 'a', undefined);
  assert(ref !== null);
  const slow = ref.ask('crashSlowly', 5, 30_000);
  const behind = ref.ask('list', null, 30_000);
  assert.deepEqual(await slow, crashed);
  assert.deepEqual(await behind, crashed);
  assert.deepEqual(await ref.ask('list', null, 30_000), { ok: false, reason: 'stopped' });
  assert.equal(system.status()[0]?.alive, 0);
  await system.stop(100);
});

test('more crashes than the intensity allows end the actor', async () => {
  const kind = recorderKind({
    supervision: { strategy: 'restart', crashesMax: 2, withinMs: 60_000 },
  });
  const system = createActorSystem({ node: 0, kinds: [kind], log: createTestLog() });
  const ref = system.spawn(kind, 'a', undefined);
  assert(ref !== null);
  for (let i = 0; i < 2; i += 1) assert.deepEqual(await ref.ask('crash', 'x', 30_000), crashed);
  assert.deepEqual(await ref.ask('note', 1, 30_000), { ok: true, value: 1 });
  assert.deepEqual(await ref.ask('crash', 'x', 30_000), crashed);
  assert.deepEqual(await ref.ask('note', 1, 30_000), { ok: false, reason: 'stopped' });
  await system.stop(100);
});

test('crashes that lie apart longer than the window never end the actor', () => {
  const supervision = { strategy: 'resume', crashesMax: 2, withinMs: 100 } as const;
  const crashTimes: number[] = [];
  for (let nowMs = 0; nowMs < 5_000; nowMs += 60) {
    assert.equal(judge(supervision, crashTimes, nowMs, true), 'resume');
  }
  assert(crashTimes.length <= 2);
  assert.equal(judge(supervision, crashTimes, 5_000, true), 'stop');
});

test('a start that rejects answers those who wait and is tried again for the next', async () => {
  let starts = 0;
  const start = async () => {
    starts += 1;
    await sleep(5);
    if (starts === 1) throw new Error('no start');
    return emptyState();
  };
  const kind = recorderKind({ placement: 'hashed', start });
  const log = createTestLog();
  const system = createActorSystem({ node: 0, kinds: [kind], log });
  const ref = system.ref(kind, 'a');
  assert.deepEqual(await ref.ask('note', 1, 30_000), crashed);
  assert.deepEqual(await ref.ask('note', 1, 30_000), { ok: true, value: 1 });
  assert.equal(log.lines[0]?.details.message, 'start');
  await system.stop(100);
});

test('who spawns an actor whose start throws learns it, and may spawn another one', async () => {
  let starts = 0;
  const start = () => {
    starts += 1;
    if (starts === 1) throw new Error('no start');
    return emptyState();
  };
  const supervision = { strategy: 'stop', crashesMax: 1, withinMs: 1_000 } as const;
  const kind = recorderKind({ supervision, start });
  const log = createTestLog();
  const system = createActorSystem({ node: 0, kinds: [kind], log });
  assert.equal(system.spawn(kind, 'a', undefined), null);
  assert.equal(log.lines[0]?.details.message, 'start');
  const second = system.spawn(kind, 'a', undefined);
  assert.deepEqual(await second?.ask('note', 1, 30_000), { ok: true, value: 1 });
  await system.stop(100);
});

test('a start that always throws ends by the intensity, and does not spin', async () => {
  let starts = 0;
  const start = () => {
    starts += 1;
    throw new Error('never starts');
  };
  const kind = recorderKind({ placement: 'hashed', start });
  const system = createActorSystem({ node: 0, kinds: [kind], log: createTestLog() });
  const answer = await system.ref(kind, 'a').ask('note', 1, 30_000);
  assert.deepEqual(answer, { ok: false, reason: 'stopped' });
  assert.equal(starts, 4);
  assert.equal(system.status()[0]?.alive, 0);
  await system.stop(100);
});
