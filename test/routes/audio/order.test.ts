// What audio has in common with every request that costs something: its retries are logged, and at
// the cap of requests that run on without a client no other begins.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRouteHealth } from '../../../actors/provider-health/health.ts';
import { orderAudio } from '../../../routes/audio/order.ts';

function orderAt(detached: number, headers: Record<string, string>, logged: object[] = []) {
  const audio = {
    limiter: { detachedCount: () => detached },
    limits: { generation: { detachedMax: 3 } },
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
  assert.equal(orderAt(2, {}).plan().targets.length, 1);
  assert.throws(() => orderAt(3, {}).plan(), { code: 'overloaded' });
});

test('a client library that tries again is logged, its first try is not', () => {
  const logged: object[] = [];
  orderAt(0, {}, logged);
  orderAt(0, { 'x-stainless-retry-count': '0' }, logged);
  assert.deepEqual(logged, []);
  orderAt(0, { 'x-stainless-retry-count': '2' }, logged);
  const seen = { requestId: 'x', accountId: 'acc', route: '/v1/audio/speech', retries: '2' };
  assert.deepEqual(logged, [seen]);
});
