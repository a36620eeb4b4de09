// Starts a main node and real shard threads for a test, and finds ids that live where it wants.
import { strict as assert } from 'node:assert';
import type { TestContext } from 'node:test';
import type { ActorRef } from '../../../runtime/actor/contract.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { Mesh } from '../../../runtime/shard/mesh.ts';
import { startThreads, type ThreadsOptions } from '../../../runtime/shard/threads.ts';
import { createBus } from '../../../runtime/work/bus.ts';
import { createTestLog, sleep } from '../actor/kinds.ts';
import {
  doormanKind,
  type KeeperProtocol,
  keeperKind,
  lodgerKind,
  type ShardControlProtocol,
  shardControlKind,
  type TestShardData,
} from './worker.ts';

/** Stopped when the test ends, however it ends: threads that go on would keep the file running. */
export async function startCluster(
  t: TestContext,
  shardCount: number,
  data: TestShardData = {},
  overrides: Partial<ThreadsOptions> = {},
) {
  const log = createTestLog();
  const mesh = new Mesh(0, log);
  const control = shardControlKind({ shard: null, bus: null });
  const bus = createBus({ mesh, log });
  const system = createActorSystem({
    node: 0,
    kinds: [doormanKind, keeperKind, lodgerKind, control],
    log,
    transport: mesh,
  });
  const givenUp: number[] = [];
  const threads = await startThreads({
    mesh,
    entry: new URL('./worker.js', import.meta.url),
    shardCount,
    data,
    readyTimeoutMs: 60_000,
    failingTimeoutMs: 2_000,
    restartsMax: 3,
    restartsWithinMs: 10_000,
    onGivenUp: (node) => givenUp.push(node),
    log,
    ...overrides,
  });
  t.after(async () => {
    await threads.stop(3_000);
    await system.stop(1_000);
  });
  return {
    log,
    mesh,
    bus,
    system,
    threads,
    givenUp,
    controlOf(node: number): ActorRef<ShardControlProtocol> {
      return system.at(control, { node, kind: control.name, id: 'control' });
    },
    /** A keeper on the given node, as long as that node is live; other names are other actors. */
    keeperOn(node: number, name = 'keeper'): ActorRef<KeeperProtocol> {
      assert(mesh.liveShards.includes(node), `node ${node} is not live`);
      for (let i = 0; ; i += 1) {
        if (mesh.nodeOf(`${name}-${i}`) === node) return system.ref(keeperKind, `${name}-${i}`);
      }
    },
  };
}

const EVENTUALLY_MS = 30_000;

/** Waits until the condition holds; fails when that is never. */
export async function eventually(condition: () => boolean, what: string) {
  const startedAt = performance.now();
  while (!condition()) {
    assert(performance.now() - startedAt < EVENTUALLY_MS, `not in ${EVENTUALLY_MS} ms: ${what}`);
    await sleep(2);
  }
}
