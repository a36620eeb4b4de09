// What the live view says of each shard: that it answers, that it does not, that it comes.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { CatalogSnapshot } from '../../../actors/catalog/snapshot.ts';
import { createLimits } from '../../../actors/limits.ts';
import { createMonitorKind, monitorId } from '../../../actors/monitor/monitor.ts';
import type { NodeProtocol, NodeReport } from '../../../actors/node/protocol.ts';
import { identityOf } from '../../../actors/provider-health/identity.ts';
import type { ActorRef } from '../../../runtime/actor/contract.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { readConfig } from '../../../runtime/config.ts';
import type { Logger } from '../../../runtime/log.ts';

const report: NodeReport = { node: 1, actors: 3, sockets: 2, kinds: [], routes: [] };
const isSilent = new Set<number>();
const isGone = new Set([3]);
const target = { routeId: 'p/m', family: 'f', baseUrl: 'http://x', apiKey: 'k' };
const catalog = { models: [{ alias: 'm', targets: [target] }], routes: [], surfaces: [] };
const logged: [string, object][] = [];

function nodeAt(id: number): ActorRef<NodeProtocol> {
  const ask = async () =>
    isSilent.has(id) ? { ok: false, reason: 'timeout' } : { ok: true, value: report };
  return {
    kind: 'node',
    id: String(id),
    tell: () => true,
    ask,
  } as unknown as ActorRef<NodeProtocol>;
}

const kind = createMonitorKind({
  shards: () => [1, 2, 3].map((id) => ({ id, live: !isGone.has(id) })),
  node: nodeAt,
  catalog: () => catalog as unknown as CatalogSnapshot,
  probe: async () => true,
  limits: createLimits(readConfig({})).monitor,
  log: {
    error: (details: object, message: string) => logged.push([message, details]),
    info: (details: object, message: string) => logged.push([message, details]),
  } as unknown as Logger,
});
const log = { info: () => {}, warn: () => {}, error: () => {} };
const system = createActorSystem({ node: 0, kinds: [kind], log });
after(() => system.stop(0));

test('a shard that does not answer is named, with what it said last', async () => {
  const monitor = system.ref(kind, monitorId);
  const look = async () => {
    monitor.tell('poll', null);
    const answer = await monitor.ask('shards', null, 30_000);
    assert.ok(answer.ok);
    return answer.value;
  };
  const well = { status: 'ok', actors: 3, sockets: 2 };
  const coming = { status: 'starting', actors: 0, sockets: 0 };
  assert.deepEqual(await look(), [
    { id: 1, ...well },
    { id: 2, ...well },
    { id: 3, ...coming },
  ]);
  isSilent.add(1);
  isGone.add(2);
  isGone.delete(3);
  assert.deepEqual(await look(), [
    { id: 1, ...well, status: 'unresponsive' },
    { id: 2, ...coming },
    { id: 3, ...well },
  ]);
});

test('a bill is logged once for all shards, until it is paid or the key is another', async () => {
  const monitor = system.ref(kind, monitorId);
  const unpaid = async () => {
    const answer = await monitor.ask('tree', null, 30_000);
    assert.ok(answer.ok);
    return answer.value.unpaid.map(({ routeId }) => routeId);
  };
  const untilMs = Date.now() + 600_000;
  for (const laterMs of [0, 5, 10]) {
    monitor.tell('unpaid', { routeId: 'p/m', untilMs: untilMs + laterMs });
  }
  assert.deepEqual(await unpaid(), ['p/m']);
  const line = ['provider.unpaid', { route: 'p/m', until: new Date(untilMs).toISOString() }];
  assert.deepEqual(logged.splice(0), [line]);
  monitor.tell('unpaid', { routeId: 'p/m', untilMs: 0 });
  monitor.tell('unpaid', { routeId: 'p/m', untilMs: 0 });
  assert.deepEqual(await unpaid(), []);
  assert.deepEqual(logged.splice(0), [['provider.paid', { route: 'p/m' }]]);
  monitor.tell('unpaid', { routeId: 'p/m', untilMs });
  assert.deepEqual(await unpaid(), ['p/m']);
  target.apiKey = 'of an account that is paid';
  assert.deepEqual(await unpaid(), []);
});

test('a refused key is logged once for all threads, until it is accepted or another', async () => {
  const monitor = system.ref(kind, monitorId);
  const down = async () => {
    const answer = await monitor.ask('tree', null, 30_000);
    assert.ok(answer.ok);
    return answer.value.down.map(({ routeId }) => routeId);
  };
  logged.splice(0);
  const found = { routeId: 'p/m', identity: identityOf(target), isDown: true };
  for (let shard = 0; shard < 3; shard += 1) monitor.tell('down', found);
  assert.deepEqual(await down(), ['p/m']);
  assert.deepEqual(logged.splice(0), [['provider.down', { route: 'p/m' }]]);
  for (let probe = 0; probe < 2; probe += 1) monitor.tell('down', { ...found, isDown: false });
  assert.deepEqual(await down(), []);
  assert.deepEqual(logged.splice(0), [['provider.up', { route: 'p/m' }]]);
  monitor.tell('down', { ...found, identity: 'of another key' });
  monitor.tell('down', { ...found, routeId: 'p/none' });
  assert.deepEqual(await down(), []);
  monitor.tell('down', found);
  assert.deepEqual(await down(), ['p/m']);
  target.apiKey = 'a new one';
  assert.deepEqual(await down(), []);
  assert.equal(logged.splice(0).length, 1);
});
