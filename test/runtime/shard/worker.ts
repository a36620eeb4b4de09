// A shard thread for tests: the kinds below, a bus, and ways to die. It has no HTTP app.
import { existsSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { ActorKind, ActorLog } from '../../../runtime/actor/contract.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import { connectShard, type ShardConnection } from '../../../runtime/shard/connection.ts';
import { type Bus, createBus } from '../../../runtime/work/bus.ts';
import { restarting, sleep } from '../actor/kinds.ts';

/** How a test shard behaves, given as its `data`. */
export interface TestShardData {
  /** Counts the starts of all shards: those from number `from` on are late by `ms`. */
  late?: { starts: SharedArrayBuffer; from: number; ms: number };
  neverReady?: boolean;
  exitAtStart?: boolean;
  /** A shard drains until its first number is not 0. */
  drained?: SharedArrayBuffer;
}

export interface Everything {
  amount: bigint;
  bytes: Uint8Array;
  at: Date;
  maybe: string | null;
  absent: undefined;
  list: { n: number }[];
}

export type KeeperProtocol = {
  where: (nothing: null) => number;
  echo: (payload: unknown) => unknown;
  everything: (payload: Everything) => Everything;
  add: (value: number) => number;
  list: (nothing: null) => number[];
  wait: (ms: number) => null;
  crash: (nothing: null) => never;
  unsendable: (nothing: null) => unknown;
  askPeer: (id: string) => { from: number; answered: unknown };
};

/** A hashed actor that says where it lives, and forwards to its peers. */
export const keeperKind: ActorKind<KeeperProtocol, { values: number[] }> = {
  name: 'keeper',
  parent: 'test',
  placement: 'hashed',
  supervision: restarting,
  mailboxLengthMax: 100_000,
  start: () => ({ values: [] }),
  behaviour: {
    where: (_state, _nothing, context) => context.system.node,
    echo: (_state, payload) => payload,
    everything: (_state, payload) => payload,
    add: (state, value) => state.values.push(value),
    list: (state) => state.values,
    async wait(_state, ms) {
      await sleep(ms);
      return null;
    },
    crash() {
      throw new Error('on purpose');
    },
    unsendable: () => Symbol('no plain data'),
    async askPeer(_state, id, context) {
      const peer = context.system.ref(keeperKind, id);
      return { from: context.system.node, answered: await peer.ask('where', null, 30_000) };
    },
  },
};

export type ShardControlProtocol = {
  exit: (code: number) => null;
  fail: (exitAfterMs: number) => null;
  fall: (nothing: null) => null;
  heard: (nothing: null) => unknown[];
  publish: (payload: unknown) => null;
  blockFor: (ms: number) => null;
  /** Until there is a file of this path, a minute at most. */
  blockUntil: (path: string) => null;
  spawnLocal: (id: string) => { node: number; kind: string; id: string };
};

/** Nobody ever wakes who waits on it. */
const nothing = new Int32Array(new SharedArrayBuffer(4));

interface ShardControls {
  shard: ShardConnection | null;
  bus: Bus | null;
}

/** One per shard, spawned by it under the id `control`. */
export function shardControlKind(
  controls: ShardControls,
): ActorKind<ShardControlProtocol, { heard: unknown[] }> {
  return {
    name: 'shard-control',
    parent: 'test',
    placement: 'local',
    supervision: restarting,
    mailboxLengthMax: 100,
    start() {
      const heard: unknown[] = [];
      controls.bus?.subscribe('news', (payload) => {
        heard.push(payload);
      });
      return { heard };
    },
    behaviour: {
      exit: (_state, code) => process.exit(code),
      async fail(_state, exitAfterMs) {
        controls.shard?.failing();
        setTimeout(() => process.exit(1), exitAfterMs);
        return null;
      },
      fall() {
        setImmediate(() => {
          throw new Error('the shard falls');
        });
        return null;
      },
      heard: (state) => state.heard,
      async publish(_state, payload) {
        await controls.bus?.publish('news', payload);
        return null;
      },
      blockFor(_state, ms) {
        const until = performance.now() + ms;
        while (performance.now() < until);
        return null;
      },
      blockUntil(_state, path) {
        const until = performance.now() + 60_000;
        while (!existsSync(path) && performance.now() < until) Atomics.wait(nothing, 0, 0, 5);
        return null;
      },
      spawnLocal: (_state, id, context) => {
        context.system.spawn(lodgerKind, id, undefined);
        return { node: context.system.node, kind: lodgerKind.name, id };
      },
    },
  };
}

export type LodgerProtocol = { add: (value: number) => number; leave: (nothing: null) => null };

/** A local actor that other nodes reach by its address. */
export const lodgerKind: ActorKind<LodgerProtocol, { sum: number }> = {
  name: 'lodger',
  parent: 'test',
  placement: 'local',
  supervision: restarting,
  mailboxLengthMax: 5,
  start: () => ({ sum: 0 }),
  behaviour: {
    async add(state, value) {
      state.sum += value;
      await sleep(1);
      return state.sum;
    },
    leave(_state, _nothing, context) {
      context.stop();
      return null;
    },
  },
};

export type DoormanProtocol = { where: (nothing: null) => number };

/** Lives on the main thread wherever it is asked from. */
export const doormanKind: ActorKind<DoormanProtocol, null> = {
  name: 'doorman',
  parent: 'test',
  placement: 'main',
  supervision: restarting,
  mailboxLengthMax: 100,
  start: () => null,
  behaviour: { where: (_state, _nothing, context) => context.system.node },
};

async function runShard(): Promise<void> {
  const log: ActorLog = { error: () => {}, warn: () => {}, info: () => {} };
  const shard = await connectShard(log);
  const data = shard.data as TestShardData;
  if (data.exitAtStart === true) process.exit(3);
  if (data.late !== undefined) {
    const { starts, from, ms } = data.late;
    if (Atomics.add(new Int32Array(starts), 0, 1) >= from) await sleep(ms);
  }
  const bus = createBus({ mesh: shard.mesh, log });
  const control = shardControlKind({ shard, bus });
  const system = createActorSystem({
    node: shard.node,
    kinds: [doormanKind, keeperKind, lodgerKind, control],
    log,
    transport: shard.mesh,
  });
  system.spawn(control, 'control', undefined);
  shard.onDrain(async () => {
    const drained = data.drained && new Int32Array(data.drained);
    while (drained !== undefined && Atomics.load(drained, 0) === 0) await sleep(2);
    await system.stop(1_000);
  });
  if (data.neverReady !== true) await shard.ready();
}

if (parentPort !== null) await runShard();
