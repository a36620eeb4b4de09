// How often passwords may be wrong, and who is not counted. The bounds are those of production.
import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { createIdentityLimits } from '../../../actors/identity/limits.ts';
import {
  countAttempt,
  countRegistration,
  refuseSpentAttempt,
} from '../../../routes/app/auth/attempts.ts';
import { createFailureBuffers, FailureLimiter } from '../../../runtime/failure-limiter.ts';
import { Problem } from '../../../runtime/problem.ts';

const epochMs = 1_700_000_000_000;
const hourMs = 3_600_000;
type Services = Parameters<typeof countAttempt>[0];
let services: Services;
let counts: Record<string, number>;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['Date'], now: epochMs });
  counts = {};
  services = {
    access: { failures: new FailureLimiter(createFailureBuffers(epochMs)) },
    identity: {
      count: (event: string) => {
        counts[event] = (counts[event] ?? 0) + 1;
      },
    },
    limits: { identity: createIdentityLimits({ mode: 'production' }) },
  } as unknown as Services;
});

function attempt(name: string, network: string, isKnownPlace = false) {
  return countAttempt(services, { name, network, isKnownPlace });
}

/** The seconds of a refusal; null: it was none. */
function refusedFor(act: () => unknown): number | null {
  try {
    act();
    return null;
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === 'rate_limited');
    return Number(error.headers['retry-after']);
  }
}

test('an address is tried 10 times from one network, and one more each 90 seconds', () => {
  for (let count = 0; count < 10; count += 1) attempt('a@b.c', '192.0.2.1');
  assert.equal(
    refusedFor(() => attempt('a@b.c', '192.0.2.1')),
    90,
  );
  attempt('other@b.c', '192.0.2.1');
  attempt('a@b.c', '192.0.2.2');
  mock.timers.tick(90_000);
  attempt('a@b.c', '192.0.2.1');
  assert.notEqual(
    refusedFor(() => attempt('a@b.c', '192.0.2.1')),
    null,
  );
  assert.equal(counts.password_refused, 2);
});

test('right passwords are not counted, however many there are', () => {
  for (let count = 0; count < 1_000; count += 1) attempt('a@b.c', '192.0.2.1').wasRight();
  for (let count = 0; count < 10; count += 1) attempt('a@b.c', '192.0.2.1').wasWrong();
  assert.notEqual(
    refusedFor(() => attempt('a@b.c', '192.0.2.1')),
    null,
  );
  assert.deepEqual(counts, { password_right: 1_000, password_wrong: 10, password_refused: 1 });
});

test('many that are hashed at once are counted before any of them is known to be wrong', () => {
  const begun = Array.from({ length: 64 }, () => refusedFor(() => attempt('a@b.c', '192.0.2.1')));
  assert.equal(begun.filter((seconds) => seconds === null).length, 10);
});

test('an address is tried 50 times a day from networks that are new to it', () => {
  let index = 0;
  const fromNew = () => {
    index += 1;
    return refusedFor(() => attempt('a@b.c', `2001:db8:${index}::/64`));
  };
  for (let count = 0; count < 50; count += 1) assert.equal(fromNew(), null, `attempt ${count}`);
  assert.notEqual(fromNew(), null);
  attempt('a@b.c', '192.0.2.1', true);
  attempt('other@b.c', '192.0.2.1');
});

test('a network tries 100 passwords an hour, of whichever addresses', () => {
  const tries = Array.from({ length: 120 }, (_, index) =>
    refusedFor(() => attempt(`p${index}@b.c`, '192.0.2.1')),
  );
  assert.equal(tries.filter((seconds) => seconds === null).length, 100);
  mock.timers.tick(hourMs);
  attempt('p1@b.c', '192.0.2.1');
});

test('what a network has spent is refused before anything is looked up', () => {
  const asked = { name: 'a@b.c', network: '192.0.2.1' };
  for (let count = 0; count < 100; count += 1) refuseSpentAttempt(services, asked);
  for (let count = 0; count < 10; count += 1) attempt('a@b.c', '192.0.2.1');
  assert.equal(
    refusedFor(() => refuseSpentAttempt(services, asked)),
    90,
  );
});

test('a network makes 10 accounts an hour', () => {
  for (let count = 0; count < 10; count += 1) countRegistration(services, '192.0.2.1');
  const seconds = refusedFor(() => countRegistration(services, '192.0.2.1'));
  assert.equal(seconds, 360);
  countRegistration(services, '192.0.2.2')();
  mock.timers.tick(hourMs);
  countRegistration(services, '192.0.2.1');
  assert.deepEqual(counts, { registration_refused: 1 });
});
