// What the actor system costs: local tell and ask, spawn, idle memory, asks across two threads.
// Run alone it prints its table; the bare port beside the cross-shard ask is the machine's floor.
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  Worker,
  workerData,
} from 'node:worker_threads';
import type { ActorKind, ActorLog, ActorRef } from '../runtime/actor/contract.ts';
import { createActorSystem } from '../runtime/actor/system.ts';
import { connectShard } from '../runtime/shard/connection.ts';
import { Mesh } from '../runtime/shard/mesh.ts';
import { startThreads } from '../runtime/shard/threads.ts';
import type { Bench } from './benches/bench.ts';
import { type Bar, printReport, type Report } from './report.ts';
import { median, percentile, rounded } from './statistics.ts';

type CounterProtocol = { add: (value: number) => number; count: (nothing: null) => number };

function counterKind(
  name: string,
  placement: 'local' | 'hashed',
): ActorKind<CounterProtocol, { count: number }> {
  return {
    name,
    parent: 'bench',
    placement,
    supervision: { strategy: 'restart', crashesMax: 3, withinMs: 1_000 },
    mailboxLengthMax: 10_000,
    idleTimeoutMs: 600_000,
    start: () => ({ count: 0 }),
    behaviour: {
      add(state, value) {
        state.count += value;
        return state.count;
      },
      count: (state) => state.count,
    },
  };
}

const localKind = counterKind('counter', 'local');
const remoteKind = counterKind('remote-counter', 'hashed');
const log: ActorLog = { error: console.error, warn: console.error, info: () => {} };

function spawnMany(count: number): { refs: ActorRef<CounterProtocol>[]; stop(): Promise<void> } {
  const system = createActorSystem({ node: 0, kinds: [localKind], log });
  const refs: ActorRef<CounterProtocol>[] = [];
  for (let i = 0; i < count; i += 1) {
    const ref = system.spawn(localKind, `gen_${i.toString(16).padStart(24, '0')}`, undefined);
    if (ref === null) throw new Error('spawn was refused');
    refs.push(ref);
  }
  return { refs, stop: () => system.stop(5_000) };
}

/** Messages a second, sent in bursts of 1,000 over `actors` actors and all handled. */
async function messageRate(actors: number, messages: number): Promise<number> {
  const { refs, stop } = spawnMany(actors);
  const startedAt = performance.now();
  for (let sent = 0; sent < messages; ) {
    for (let i = 0; i < 1_000; i += 1, sent += 1) refs[sent % actors]?.tell('add', 1);
    await turn();
  }
  let handled = 0;
  for (const ref of refs) {
    const answer = await ref.ask('count', null, 10_000);
    handled += answer.ok ? answer.value : 0;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  if (handled !== messages) throw new Error(`${handled} of ${messages} were handled`);
  await stop();
  return messages / seconds;
}

/** Nanoseconds an ask, one after the other, to an idle actor of the same node. */
async function localAskNs(asks: number): Promise<number> {
  const { refs, stop } = spawnMany(1);
  const startedAt = performance.now();
  for (let i = 0; i < asks; i += 1) await refs[0]?.ask('add', 1, 1_000);
  const ns = ((performance.now() - startedAt) * 1e6) / asks;
  await stop();
  return ns;
}

async function spawnRate(actors: number): Promise<number> {
  const startedAt = performance.now();
  const { stop } = spawnMany(actors);
  const seconds = (performance.now() - startedAt) / 1_000;
  await stop();
  return actors / seconds;
}

/** Heap bytes that one idle actor with its id and its reference keeps. */
async function idleBytes(actors: number): Promise<number> {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage();
  const { refs, stop } = spawnMany(actors);
  await turn();
  collect();
  const after = process.memoryUsage();
  const bytes = after.heapUsed + after.external - before.heapUsed - before.external;
  if (refs.length !== actors) throw new Error('an actor is missing');
  await stop();
  return bytes / actors;
}

interface Latency {
  p50Us: number;
  p99Us: number;
}

async function latencyOf(rounds: number, once: () => Promise<unknown>): Promise<Latency> {
  const samplesUs: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const startedAt = performance.now();
    await once();
    if (i >= rounds / 5) samplesUs.push((performance.now() - startedAt) * 1_000);
  }
  return { p50Us: percentile(samplesUs, 0.5), p99Us: percentile(samplesUs, 0.99) };
}

/** Keeps this thread's event loop from sleeping, as traffic does; returns the end of it. */
function stayAwake(): () => void {
  let over = false;
  const again = (): void => {
    if (!over) setImmediate(again);
  };
  again();
  return () => {
    over = true;
  };
}

/** Sequential asks to an actor of another thread, and many at once. */
async function crossShard(rounds: number, awake: boolean): Promise<Latency & { rate: number }> {
  const mesh = new Mesh(0, log);
  const system = createActorSystem({ node: 0, kinds: [remoteKind], log, transport: mesh });
  const threads = await startThreads({
    mesh,
    entry: new URL(import.meta.url),
    shardCount: 1,
    data: { awake },
    readyTimeoutMs: 10_000,
    failingTimeoutMs: 1_000,
    restartsMax: 0,
    restartsWithinMs: 1_000,
    onGivenUp: (node) => console.error(`shard ${node} was lost`),
    log,
  });
  const ref = system.ref(remoteKind, 'one');
  const ask = async (): Promise<void> => {
    const answer = await ref.ask('add', 1, 5_000);
    if (!answer.ok) throw new Error(answer.reason);
  };
  const sleepAgain = awake ? stayAwake() : () => {};
  const latency = await latencyOf(rounds, ask);
  sleepAgain();
  const startedAt = performance.now();
  for (let i = 0; i < rounds; i += 64) await Promise.all(Array.from({ length: 64 }, ask));
  const rate = rounds / ((performance.now() - startedAt) / 1_000);
  await threads.stop(5_000);
  await system.stop(1_000);
  return { ...latency, rate };
}

/** The same round trip through a bare port: what the machine itself takes. */
async function barePort(rounds: number, awake: boolean): Promise<Latency> {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { bare: true, awake, port: port2 },
    transferList: [port2],
  });
  let answered: (value: unknown) => void = () => {};
  port1.on('message', (value) => answered(value));
  const sleepAgain = awake ? stayAwake() : () => {};
  const latency = await latencyOf(rounds, () => {
    return new Promise((resolve) => {
      answered = resolve;
      port1.postMessage(1);
    });
  });
  sleepAgain();
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  port1.close();
  await ended;
  return latency;
}

async function runThread(): Promise<void> {
  if (workerData?.bare === true) {
    const port = workerData.port as MessagePort;
    const sleepAgain = workerData.awake ? stayAwake() : () => {};
    port.on('message', (value) => port.postMessage(value));
    port.on('close', sleepAgain);
    return;
  }
  const shard = await connectShard(log);
  const sleepAgain = (shard.data as { awake: boolean }).awake ? stayAwake() : () => {};
  const system = createActorSystem({
    node: shard.node,
    kinds: [remoteKind],
    log,
    transport: shard.mesh,
  });
  shard.onDrain(async () => {
    sleepAgain();
    await system.stop(1_000);
  });
  await shard.ready();
}

export interface ActorRow extends Bar {
  /** Every run's figure; `measured` is their median. */
  samples: number[];
}

function most(text: string, limit: number, unit: string) {
  return { text, limit, unit, sense: 'most' } as const;
}

function least(text: string, limit: number, unit: string) {
  return { text, limit, unit, sense: 'least' } as const;
}

function rowOf(bar: Omit<Bar, 'measured'>, samples: number[]): ActorRow {
  return { ...bar, measured: median(samples), samples };
}

async function row(
  runs: number,
  bar: Omit<Bar, 'measured'>,
  measure: () => Promise<number>,
): Promise<ActorRow> {
  const samples: number[] = [];
  for (let i = 0; i < runs; i += 1) samples.push(await measure());
  return rowOf(bar, samples);
}

async function crossThreadRows(runs: number, rounds: number): Promise<ActorRow[]> {
  const samples: Record<'cross' | 'crossAwake' | 'bare' | 'bareAwake', Latency[]> = {
    cross: [],
    crossAwake: [],
    bare: [],
    bareAwake: [],
  };
  const rates: number[] = [];
  for (let i = 0; i < runs; i += 1) {
    samples.bare.push(await barePort(rounds, false));
    const cross = await crossShard(rounds, false);
    samples.cross.push(cross);
    rates.push(cross.rate);
    samples.bareAwake.push(await barePort(rounds, true));
    samples.crossAwake.push(await crossShard(rounds, true));
  }
  const latencies = (text: string, of: Latency[], limit: number): ActorRow[] => [
    rowOf(
      most(`${text}, p50`, limit, 'µs'),
      of.map((each) => each.p50Us),
    ),
    rowOf(
      most(`${text}, p99`, Number.NaN, 'µs'),
      of.map((each) => each.p99Us),
    ),
  ];
  return [
    ...latencies('cross-shard ask', samples.cross, 25),
    ...latencies('bare MessagePort', samples.bare, Number.NaN),
    ...latencies('cross-shard ask, loops awake', samples.crossAwake, 25),
    ...latencies('bare MessagePort, loops awake', samples.bareAwake, Number.NaN),
    rowOf(least('cross-shard asks, 64 at once', Number.NaN, '/s'), rates),
  ];
}

/** Measures everything `runs` times; a row's `limit` is NaN where it is only there to compare. */
export async function run(runs = 3): Promise<ActorRow[]> {
  // The first round teaches the compiler; what it sees later in production is warm.
  await messageRate(1, 500_000);
  const rows = [
    await row(runs, least('local tell, one actor', 2e6, '/s'), () => messageRate(1, 2_000_000)),
    await row(runs, least('local tell, 1,000 actors', 2e6, '/s'), () =>
      messageRate(1_000, 2_000_000),
    ),
    await row(runs, most('local ask, idle actor', 500, 'ns'), () => localAskNs(500_000)),
    await row(runs, least('spawn', 300_000, '/s'), () => spawnRate(100_000)),
    await row(runs, most('idle memory an actor', 1_024, 'B'), () => idleBytes(100_000)),
  ];
  rows.push(...(await crossThreadRows(runs, 20_000)));
  return rows;
}

function reportOf(rows: ActorRow[], runs: number): Report {
  const cells = rows.map((each) => [
    each.text,
    `${rounded(each.measured)} ${each.unit}`,
    each.samples.map((sample) => rounded(sample)).join(', '),
  ]);
  const timed = rows.filter((each) => each.unit === 'µs');
  return {
    name: 'actors',
    title: 'Actors',
    method: `Median of ${runs} runs in one process; asks across threads go to one shard.`,
    columns: ['figure', 'median', 'runs'],
    rows: cells,
    bars: rows.filter((each) => !Number.isNaN(each.limit)),
    chart: {
      title: 'Round trip between two threads',
      unit: 'µs',
      rows: timed.map(({ text, measured, limit }) => ({
        label: text,
        value: measured,
        ...(Number.isNaN(limit) ? {} : { limit }),
      })),
    },
    notes: [],
  };
}

export const actors: Bench = {
  name: 'actors',
  run: async ({ runs }) => reportOf(await run(runs), runs),
};

if (!isMainThread) await runThread();
else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  printReport(reportOf(await run(), 3));
}
