// What the live view says of each shard: that it answers, that it does not, that it comes.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { CatalogSnapshot } from '../../../actors/catalog/snapshot.ts';
import { createLimits } from '../../../actors/limits.ts';
import { createMonitorKind, monitorId } from '../../../actors/monitor/monitor.ts';
import type { NodeProtocol, NodeReport } from '../../../actors/node/protocol.ts';
import type { ActorRef } from '../../../runtime/actor/contract.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { readConfig } from '../../../runtime/config.ts';

const report: NodeReport = { node: 1, actors: 3, sockets: 2, kinds: [], routes: [] };
const isSilent = new Set<number>();
const isGone = new Set([3]);

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
  catalog: () => ({ models: [], routes: [] }) as unknown as CatalogSnapshot,
  probe: async () => true,
  limits: createLimits(readConfig({})).monitor,
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
