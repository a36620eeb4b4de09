// What a failed call means, pure: whether another route is tried, and what the client is told when
// none is left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AttemptsState,
  failureProblem,
  mayTryNext,
} from '../../../actors/billed-request/failure.ts';
import { createLimits } from '../../../actors/limits.ts';
import type { UpstreamFailure } from '../../../media/model/events.ts';
import { readConfig } from '../../../runtime/config.ts';
import { plainProblem } from '../../../runtime/problem.ts';

const createdAtMs = 1_000_000;
const bounds = { attemptsMax: 3, failoverWithinMs: 60_000 };

function attempts(
  made: number,
  busyAttempts = 0,
  generation = bounds,
  unpaidAttempts = 0,
): AttemptsState {
  const deps = { limits: { generation } };
  const spec = { createdAtMs };
  const state = { deps, spec, attempts: made, busyAttempts, unpaidAttempts };
  return state as unknown as AttemptsState;
}

function failure(kind: UpstreamFailure['kind'], retryAfterMs: number | null = null) {
  return { kind, status: null, retryAfterMs, detail: 'the provider’s own words' };
}

const fresh = { isShown: false, left: 1, nowMs: createdAtMs + 1 };

test('another route is tried within attempts and time, and until something is shown', () => {
  for (const kind of ['failed', 'busy', 'timeout', 'unpaid'] as const) {
    assert.ok(mayTryNext(attempts(1), failure(kind), fresh), kind);
    assert.ok(!mayTryNext(attempts(3), failure(kind), fresh), 'as often as it may');
    assert.ok(!mayTryNext(attempts(1), failure(kind), { ...fresh, isShown: true }));
    assert.ok(!mayTryNext(attempts(1), failure(kind), { ...fresh, left: 0 }));
    const last = { ...fresh, nowMs: createdAtMs + bounds.failoverWithinMs };
    assert.ok(mayTryNext(attempts(2), failure(kind), last));
    assert.ok(!mayTryNext(attempts(2), failure(kind), { ...last, nowMs: last.nowMs + 1 }));
  }
  for (const kind of ['rejected', 'overloaded'] as const) {
    assert.ok(!mayTryNext(attempts(1), failure(kind), fresh), kind);
  }
});

test('a provider that says nothing until its deadline is followed by another', () => {
  const { upstream, generation } = createLimits(readConfig({}));
  const nowMs = createdAtMs + upstream.queueMs + upstream.firstEventMs;
  const silent = failure('timeout');
  assert.ok(mayTryNext(attempts(1, 0, generation), silent, { ...fresh, nowMs }));
});

test('the last failure has a code of its own, in our words', () => {
  const rejection = plainProblem('invalid_request');
  const codes = { failed: 'upstream_error', timeout: 'upstream_timeout', overloaded: 'overloaded' };
  for (const [kind, code] of Object.entries(codes)) {
    const given = failure(kind as UpstreamFailure['kind']);
    const problem = failureProblem(attempts(1), given, rejection);
    assert.equal(problem.code, code);
    assert.doesNotMatch(JSON.stringify(problem), /own words/);
  }
  assert.equal(failureProblem(attempts(1), failure('rejected'), rejection), rejection);
});

test('who is busy everywhere says when to come back, within a second and an hour', () => {
  const rejection = plainProblem('invalid_request');
  const waits = (retryAfterMs: number | null) => {
    const problem = failureProblem(attempts(2, 2), failure('busy', retryAfterMs), rejection);
    assert.equal(problem.code, 'upstream_busy');
    return problem.headers['retry-after'];
  };
  assert.equal(waits(null), '1');
  assert.equal(waits(0), '1');
  assert.equal(waits(6_001), '7');
  assert.equal(waits(24 * 3_600_000), '3600');
  const some = failureProblem(attempts(2, 1), failure('busy', 60_000), rejection);
  assert.equal(some.code, 'upstream_error', 'another route only failed');
  assert.equal(some.headers['retry-after'], undefined, 'and may be well again sooner');
});

test('where nobody has paid any provider, no library is to try again', () => {
  const rejection = plainProblem('invalid_request');
  const told = (unpaid: number) =>
    failureProblem(attempts(2, 0, bounds, unpaid), failure('unpaid'), rejection);
  assert.deepEqual([told(2).code, told(2).headers['x-should-retry']], ['upstream_error', 'false']);
  assert.equal(told(1).headers['x-should-retry'], undefined, 'the other may be well again');
  assert.equal(failureProblem(attempts(2, 1), failure('busy'), rejection).code, 'upstream_error');
});
