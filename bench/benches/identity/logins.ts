// Logins, as many as the one thread for passwords can hash. Bare argon2 verifies the same password
// on one thread beside them, by turns.
import { Asked } from '../../load/asked.ts';
import type { Hashed, HashesJob } from '../../load/hashes.ts';
import { cpuMicrosOf, threadCpuMicros } from '../../proc.ts';
import type { Report } from '../../report.ts';
import { rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, type Figures, figureOf, interleave } from '../bench.ts';
import { givePassword, makePeople, PASSWORD } from './people.ts';
import {
  assertAnswered,
  type Callers,
  type IdentityStage,
  loginText,
  perSecond,
  withIdentityStage,
} from './stage.ts';

const PEOPLE = 500;
/** Enough for the thread to have the next password when it is done with one. */
const CONNECTIONS = 16;
const WARM_UP_MS = 2_000;
const TIMEOUT_MS = 60_000;
const SHARE_MIN = 0.8;

type Key = 'a second' | 'thread' | 'process' | 'database' | 'p50 ms';

interface Lane {
  name: 'bare argon2' | 'gateway';
  measure(durationMs: number): Promise<Figures<Key>>;
}

function bareLane(hashes: Asked<HashesJob>, hash: string): Lane {
  return {
    name: 'bare argon2',
    async measure(durationMs) {
      const job = { password: PASSWORD, hash, durationMs };
      const done = await hashes.ask<Hashed>(job, durationMs + TIMEOUT_MS);
      const cpu = done.cpuMicros / 1_000 / done.verifies;
      return {
        'a second': (done.verifies * 1_000) / done.elapsedMs,
        thread: cpu,
        process: cpu,
        database: 0,
        'p50 ms': done.elapsedMs / done.verifies,
      };
    },
  };
}

function gatewayLane({ gateway }: IdentityStage, callers: Callers, requests: string[]): Lane {
  const { port } = gateway;
  const [pid = -1] = gateway.pids();
  return {
    name: 'gateway',
    async measure(durationMs) {
      const threads = threadCpuMicros(pid);
      const [cpu, database] = [cpuMicrosOf([pid]), gateway.databaseCpuMicros()];
      const job = { kind: 'closed', pauseMs: 0, rounds: null, durationMs } as const;
      const result = await callers.run({ ...job, port, requests, connections: CONNECTIONS });
      assertAnswered('logins', result, [200, 503]);
      const logins = result.byStatus.get(200)?.count ?? 0;
      const after = threadCpuMicros(pid);
      // The one that hashes has more to do than all others.
      const busiest = Math.max(
        ...[...after].map(([id, micros]) => micros - (threads.get(id) ?? micros)),
      );
      const ms = (micros: number) => micros / 1_000 / logins;
      return {
        'a second': perSecond(result),
        thread: ms(busiest),
        process: ms(cpuMicrosOf([pid]) - cpu),
        database: ms(gateway.databaseCpuMicros() - database),
        'p50 ms': result.byStatus.get(200)?.p50 ?? Number.NaN,
      };
    },
  };
}

async function run(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 4) * 1_000;
  const hashes = new Asked<HashesJob>('hashes.js');
  const measured = withIdentityStage(options, {}, async (stage) => {
    const people = await makePeople(stage.sql, PEOPLE);
    const hash = await givePassword(stage.sql, people);
    const requests = people.map(({ email }) => loginText(stage.gateway, email, PASSWORD));
    const lanes = [gatewayLane(stage, stage.openCallers(), requests)];
    if (options.contenders === null) lanes.unshift(bareLane(hashes, hash));
    for (const lane of lanes) await lane.measure(WARM_UP_MS);
    return await interleave<Key, Lane>(lanes, options.runs, (lane) => lane.measure(durationMs));
  });
  return report(await measured.finally(() => hashes.stop()), durationMs);
}

function report(figures: ReadonlyMap<string, Figures<Key>>, durationMs: number): Report {
  const of = (name: Lane['name']) => figureOf(figures, name, 'a second');
  const bare = of('bare argon2');
  const title = 'Logins with a password';
  return {
    name: 'identity-login',
    title,
    method:
      `${CONNECTIONS} at once for ${durationMs / 1_000} s, by ${PEOPLE} people, hashed on one ` +
      'thread; bare argon2 verifies the same hash on one thread of the same priority.',
    columns: ['contender', 'a second', 'hashing ms', 'process ms', 'database ms', 'p50 ms'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row['a second']),
      rounded(row.thread),
      rounded(row.process),
      rounded(row.database),
      rounded(row['p50 ms']),
    ]),
    bars: [
      {
        text: 'logins a second × bare verifies',
        limit: SHARE_MIN,
        measured: of('gateway') / bare,
        unit: '×',
        sense: 'least',
      },
    ],
    chart: {
      title,
      unit: 'a second',
      rows: [...figures].map(([label, row]) => ({
        label,
        value: row['a second'],
        ...(label === 'gateway' ? { limit: SHARE_MIN * bare } : {}),
        higherIsBetter: true,
      })),
    },
    notes: ['Milliseconds are CPU of one login: of the thread that hashes, and of all threads.'],
  };
}

export const identityLogin: Bench = { name: 'identity-login', run };
