// How a child is kept alive where the system has nothing to start it with.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { createGate } from '../../runtime/gate.ts';
import { supervise } from '../../runtime/supervised.ts';

test('a start that throws is one that ended, and is tried again', async () => {
  const told: string[] = [];
  let launches = 0;
  const running = createGate<void>();
  const supervised = supervise({
    launch: () => {
      launches += 1;
      if (launches === 1) return spawn(process.execPath, ['-e', '']);
      // As spawn does without memory: that is no event.
      if (launches < 4) throw new Error('spawn ENOMEM');
      running.open();
      return spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    },
    onCrash: (how) => told.push(how),
    onGiveUp: assert.fail,
    restartsMax: 10,
    restartsWithinMs: 60_000,
  });
  await running.opened;
  assert.deepEqual(told, ['exit code 0', 'spawn ENOMEM', 'spawn ENOMEM']);
  assert.equal(await supervised.stop((child) => child.kill(), 60_000), true);
});

test('one that cannot be started at all is given up', async () => {
  const end = createGate<string>();
  supervise({
    launch: () => {
      throw new Error('spawn ENOMEM');
    },
    onCrash: () => undefined,
    onGiveUp: end.open,
    restartsMax: 2,
    restartsWithinMs: 60_000,
  });
  assert.equal(await end.opened, 'spawn ENOMEM');
});
