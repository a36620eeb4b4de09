// Minutes of mixed load over every format and family, by clients that stay, leave, come back and
// cancel, with failing providers: memory is flat, and in the end nothing is left of any of them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bar, Findings } from '../../bench/report.ts';
import { assertChargesTold, assertNothingHeld } from '../chaos/books.ts';
import { nothingTold, openAgent, type Told } from '../chaos/client.ts';
import { assertLedger, cleanUp, onCleanUp, tail, until } from '../chaos/reach.ts';
import { openChance } from '../chaos/seed.ts';
import type { Gateway } from '../harness/gateway.ts';
import { Simulator } from '../harness/simulator.ts';
import { growthOf, openWatched, type Sample, type Watched } from './memory.ts';
import { type Persona, personas, type Stage } from './personas.ts';
import { recorded, say, soakMinutes } from './record.ts';

const CLIENTS = 16;
const SHARDS = 2;
const SAMPLES = 60;
const PAUSE_MS = 40;
const QUIET_MS = 30_000;
const FINDINGS_MAX = 20;
const GROWTH_MAX = 1.1;
/** Below this the first minute, which is warming up, weighs too much. */
const FLAT_FROM_MINUTES = 3;

after(cleanUp);

interface Soak {
  told: Told[];
  calls: Map<string, number>;
  unexpected: string[];
  stop(): Promise<void>;
}

function startSoak(gateway: Gateway): Soak {
  const chance = openChance('soak');
  const agent = openAgent(CLIENTS * 4);
  let number = 0;
  let going = true;
  onCleanUp(() => {
    going = false;
  });
  const stage: Stage = { gateway, chance, agent, number: () => ++number };
  const lots = personas.flatMap(([name, weight, persona]) =>
    Array.from({ length: weight }, (): [string, Persona] => [name, persona]),
  );
  const soak = { told: [] as Told[], calls: new Map<string, number>(), unexpected: [] as string[] };
  const client = async (): Promise<void> => {
    while (going) {
      const [name, persona] = lots[chance.integer(0, lots.length - 1)] ?? ['none', async () => []];
      soak.calls.set(name, (soak.calls.get(name) ?? 0) + 1);
      try {
        const receipts = await persona(stage);
        for (const usage of receipts) {
          if (usage != null) soak.told.push({ ...nothingTold(), usage });
        }
      } catch (error) {
        const text = `${name}: ${error instanceof Error ? error.message : error}`;
        if (soak.unexpected.push(text) <= FINDINGS_MAX) say(`UNEXPECTED ${text}`);
        await sleep(500);
      }
      await sleep(chance.integer(0, PAUSE_MS));
    }
  };
  const all = Promise.all(Array.from({ length: CLIENTS }, client));
  return {
    ...soak,
    stop: async () => {
      going = false;
      await all;
      await agent.destroy();
    },
  };
}

interface Rest {
  actors: number;
  crashes: number;
  sockets: number;
  detached: number;
  upstreamOpen: number;
  upstreamConnections: number;
}

interface Status {
  detached_generations: number;
  shards: { sockets: number }[];
  actors: { kind: string; alive: number; crashes: number }[];
}

/** Established connections of this machine to a port, from /proc/net/tcp (Linux only). */
function connectionsTo(port: number): number {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return rows.filter((row) => {
    const [, , remote = '', state] = row.trim().split(/\s+/);
    return remote.endsWith(wanted) && state === '01';
  }).length;
}

async function restOf(gateway: Gateway): Promise<Rest> {
  const reply = await fetch(`${gateway.url}/api/admin/status`, {
    headers: { 'x-svc-session': gateway.dev.admin_session_token, connection: 'close' },
  });
  const status = (await reply.json()) as Status;
  const simulator = new Simulator(gateway.dev.simulator_url);
  const upstreamOpen = (await simulator.stats()).open;
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  const living = status.actors.filter(({ kind }) => /^(generation|subscriber)$/.test(kind));
  return {
    actors: sum(living.map(({ alive }) => alive)),
    crashes: sum(status.actors.map(({ crashes }) => crashes)),
    // One is that of this very request.
    sockets: Math.max(0, sum(status.shards.map(({ sockets }) => sockets)) - 1),
    detached: status.detached_generations,
    upstreamOpen,
    // The stats were asked for by this process, on a connection that it keeps for a while.
    upstreamConnections: Math.max(0, connectionsTo(Number(new URL(simulator.url).port)) - 1),
  };
}

/** Waits until nothing is left, and says what is when the time is over. */
async function rest(gateway: Gateway): Promise<Rest> {
  let seen = await restOf(gateway);
  const isQuiet = async () => {
    seen = await restOf(gateway);
    const { crashes: _crashes, ...left } = seen;
    return Object.values(left).every((value) => value === 0);
  };
  await until('nothing is left', QUIET_MS, isQuiet, 500).catch(() => undefined);
  return seen;
}

function errorLines(gateway: Gateway): string[] {
  return gateway.logs.filter((line) => /"level":"(error|fatal)"/.test(line));
}

async function watchLoad(watched: Watched, soak: Soak, minutes: number): Promise<number> {
  const { gateway, samples } = watched;
  const periodMs = Math.max(2_000, (minutes * 60_000) / SAMPLES);
  const end = performance.now() + minutes * 60_000;
  let checks = 0;
  for (let round = 1; performance.now() < end; round += 1) {
    const begun = performance.now();
    const { minutes: at, rssMb, heapMb } = await watched.sample();
    const calls = [...soak.calls.values()].reduce((total, count) => total + count, 0);
    say(
      `${at.toFixed(1)} of ${minutes} min: ${calls} calls, RSS ${rssMb.toFixed(0)} MB, heap ` +
        `${heapMb.toFixed(1)} MB, ${soak.unexpected.length} unexpected`,
    );
    if (round % 20 === 10) {
      await assertLedger(gateway);
      checks += 1;
    }
    await sleep(Math.max(0, periodMs - (performance.now() - begun)));
  }
  assert.ok(samples.length > 4, 'there are samples to compare');
  return checks;
}

function barsOf(samples: Sample[], soak: Soak, left: Rest, errors: number): Bar[] {
  const none = (text: string, measured: number): Bar => ({
    text,
    limit: 0,
    measured,
    unit: '',
    sense: 'most',
  });
  const isLong = (samples.at(-1)?.minutes ?? 0) >= FLAT_FROM_MINUTES;
  const flat = (text: string, read: (sample: Sample) => number): Bar => ({
    text: `${text}, last quarter over second`,
    limit: isLong ? GROWTH_MAX : 2,
    measured: growthOf(samples, read),
    unit: '×',
    sense: 'most',
  });
  return [
    flat('resident memory', ({ rssMb }) => rssMb),
    flat('heap after collection', ({ heapMb }) => heapMb),
    flat('memory outside of the heap', ({ externalMb }) => externalMb),
    none('outcomes that nobody asked for', soak.unexpected.length),
    none('generation and subscriber actors left', left.actors),
    none('client sockets left', left.sockets),
    none('detached generations left', left.detached),
    none('upstream requests left', left.upstreamOpen),
    none('upstream connections left', left.upstreamConnections),
    none('crashes of actors', left.crashes),
    none('errors in the log', errors),
  ];
}

async function soakOnce(minutes: number): Promise<Omit<Findings, 'name' | 'title' | 'method'>> {
  const watched = await openWatched(SHARDS);
  const { gateway, samples } = watched;
  const main = await gateway.mainPid();
  const soak = startSoak(gateway);
  const checks = await watchLoad(watched, soak, minutes);
  await soak.stop();
  const left = await rest(gateway);
  await assertNothingHeld(gateway, 5_000);
  const quiet = await watched.sample();
  samples.pop();
  const receipts = await assertChargesTold(gateway, soak.told);
  await assertLedger(gateway);
  assert.equal(await gateway.mainPid(), main, `it was not restarted\n${tail(gateway)}`);
  const errors = errorLines(gateway);
  for (const line of errors.slice(0, FINDINGS_MAX)) say(line.slice(0, 500));
  const calls = [...soak.calls].map(([name, count]) => [`calls, ${name}`, String(count)]);
  await watched.close();
  return {
    columns: ['figure', 'value'],
    rows: [
      ['minutes', minutes.toFixed(1)],
      ...calls,
      ['receipts compared with the ledger', String(receipts)],
      ['ledger checks beside the load', String(checks)],
      ['resident memory at rest, MB', quiet.rssMb.toFixed(0)],
      ['heap after collection at rest, MB', quiet.heapMb.toFixed(1)],
    ],
    bars: barsOf(samples, soak, left, errors.length),
    chart: {
      title: 'Memory of the gateway under mixed load',
      unit: 'MB; heaps of the main thread and both shards together, after a collection of garbage',
      across: 'minutes',
      lines: [
        { label: 'resident', points: samples.map((each) => [each.minutes, each.rssMb]) },
        { label: 'heap', points: samples.map((each) => [each.minutes, each.heapMb]) },
        {
          label: 'outside of the heap',
          points: samples.map((each) => [each.minutes, each.externalMb]),
        },
      ],
    },
    notes: ['Afterwards nothing was held, and the ledger check found the books right.'],
  };
}

test('a soak of mixed load: flat memory, no actor or connection left, right books', async () => {
  const frame = {
    name: 'long-soak',
    title: 'Soak of mixed load',
    method:
      `${CLIENTS} clients without a pause on ${SHARDS} shards: four formats, four families and ` +
      'managed routes; streamed, whole, cancelled, disconnected, reattached, in the background, ' +
      'stored, refused, with failing providers.',
  };
  await recorded(frame, () => soakOnce(soakMinutes()));
});
