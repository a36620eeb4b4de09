// What audio has in common with every request that costs something: its retries are logged, and at
// the cap of requests that run on without a client no other begins.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRouteHealth } from '../../../actors/provider-health/health.ts';
import { orderAudio } from '../../../routes/audio/order.ts';
import type { DetachedRoom } from '../../../runtime/limiter.ts';

function orderAt(room: DetachedRoom, headers: Record<string, string>, logged: object[] = []) {
  const audio = {
    limiter: { detachedRoom: (accountId: string) => (accountId === 'acc' ? room : 'free') },
    health: createRouteHealth(),
  };
  const services = {
    audio,
    log: { info: (details: object) => logged.push(details) },
  };
  const caller = { kind: 'key', accountId: 'acc', walletId: 'wal', keyId: 'key', permit: {} };
  const exchange = { requestId: 'x', header: (name: string) => headers[name] };
  const model = { targets: [{ routeId: 'one' }] };
  const input = { model, work: {}, asked: {}, route: '/v1/audio/speech' };
  return orderAudio({ ...input, caller, services, exchange } as never);
}

test('at the cap of detached requests no audio begins', () => {
  assert.equal(orderAt('free', {}).plan().targets.length, 1);
  assert.throws(() => orderAt('process', {}).plan(), { code: 'overloaded' });
  assert.throws(() => orderAt('account', {}).plan(), { code: 'concurrency_limited' });
});

test('a client library that tries again is logged, its first try is not', () => {
  const logged: object[] = [];
  orderAt('free', {}, logged);
  orderAt('free', { 'x-stainless-retry-count': '0' }, logged);
  assert.deepEqual(logged, []);
  orderAt('free', { 'x-stainless-retry-count': '2' }, logged);
  const seen = { requestId: 'x', accountId: 'acc', route: '/v1/audio/speech', retries: '2' };
  assert.deepEqual(logged, [seen]);
});
