// How long the queue's backend waits: never so long that a silent network stops all maintenance.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePatient, RECONNECT_MS } from '../../runtime/work/queue-backend.ts';

type Given = Parameters<typeof makePatient>[0];

/** A backend that notes what it is asked for, and fails if it has to. */
function fake(fails: boolean) {
  const seconds: number[] = [];
  let destroyed = 0;
  const stream = {
    destroy() {
      destroyed += 1;
    },
  };
  const backend = {
    connection: {
      pool: {
        Client: class {
          connect() {}
          end() {}
        },
      },
      listenClient: { connection: { stream } },
    },
    moveToActive: () => (fails ? Promise.reject(new Error('away')) : Promise.resolve([])),
    waitForJob(given: number) {
      seconds.push(given);
      return fails ? Promise.reject(new Error('away')) : Promise.resolve(null);
    },
  };
  const patient = makePatient(backend as unknown as Given);
  return { patient, seconds, destroyed: () => destroyed };
}

test('an hour is waited in pieces of seconds, a short wait as it is', async () => {
  const { patient, seconds } = fake(false);
  await patient.waitForJob(3_600);
  await patient.waitForJob(Number.POSITIVE_INFINITY);
  await patient.waitForJob(0.25);
  assert.deepEqual(seconds, [5, 5, 0.25]);
});

test('a wait that fails gives its connection up, and takes its time', async (t) => {
  // Its pause alone keeps no process alive.
  const alive = setTimeout(() => {}, 10_000);
  t.after(() => clearTimeout(alive));
  const { patient, destroyed } = fake(true);
  const begun = performance.now();
  await assert.rejects(patient.waitForJob(1), /away/);
  assert.ok(performance.now() - begun >= RECONNECT_MS - 10);
  assert.equal(destroyed(), 1);
});
