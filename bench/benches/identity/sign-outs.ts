// People sign out beside keys that are in use. What ends is forgotten by every shard, and nothing
// else may be: the database counts how often a key is looked up.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../../db/driver/sql.ts';
import type { CallersResult } from '../../load/callers.ts';
import { cpuMicrosOf } from '../../proc.ts';
import type { Report } from '../../report.ts';
import { rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, progress } from '../bench.ts';
import { type BenchPerson, makePeople } from './people.ts';
import {
  assertAnswered,
  type IdentityStage,
  perSecond,
  requestText,
  SMALL_PATH,
  withIdentityStage,
} from './stage.ts';

const KEYS = 10_000;
const CONNECTIONS = 64;
/** Each key is used every 4 s, on a connection that it keeps, and so on one shard. */
const PAUSE_MS = 25;
const SIGN_OUTS_PER_SECOND = 500;
const QUIET_MS = 4_000;
const BUSY_MS = 8_000;
/** The keys are used so long. A cache reads anew what it has after 30 s: all is over by then. */
const USED_MS = 24_000;
/** Statements that are counted need it. */
const settings = { shared_preload_libraries: 'pg_stat_statements' };

/** How often the keys, or the sessions, of tokens were looked up. */
async function lookupsOf(sql: Sql, from: 'api_keys' | 'sessions'): Promise<number> {
  const [row] = await sql<{ calls: string }[]>`
    SELECT coalesce(sum(calls), 0)::text AS calls FROM pg_stat_statements
    WHERE query LIKE ${`%FROM ${from} _ JOIN accounts a %.token_hash = $%`}`;
  return Number(row?.calls);
}

interface Stretch {
  keyLookups: number;
  sessionLookups: number;
  cores: number;
  databaseCores: number;
}

async function during<T>(
  { sql, gateway }: IdentityStage,
  work: () => Promise<T>,
): Promise<{ stretch: Stretch; result: T }> {
  const look = async () => ({
    keys: await lookupsOf(sql, 'api_keys'),
    sessions: await lookupsOf(sql, 'sessions'),
    cpu: cpuMicrosOf(gateway.pids()),
    database: gateway.databaseCpuMicros(),
    atMicros: performance.now() * 1_000,
  });
  const before = await look();
  const result = await work();
  const after = await look();
  const micros = after.atMicros - before.atMicros;
  const stretch = {
    keyLookups: after.keys - before.keys,
    sessionLookups: after.sessions - before.sessions,
    cores: (after.cpu - before.cpu) / micros,
    databaseCores: (after.database - before.database) / micros,
  };
  return { stretch, result };
}

/** Until every key was looked up once. */
async function warmed(sql: Sql): Promise<void> {
  const untilMs = performance.now() + USED_MS - QUIET_MS - BUSY_MS;
  for (let lookups = 0; lookups < KEYS; ) {
    await sleep(100);
    lookups = await lookupsOf(sql, 'api_keys');
    if (performance.now() > untilMs) throw new Error(`only ${lookups} keys were used in time`);
  }
}

interface Figures {
  warm: Stretch;
  quiet: Stretch;
  busy: Stretch;
  used: CallersResult;
  signedOut: CallersResult;
}

async function measure(stage: IdentityStage, people: readonly BenchPerson[]): Promise<Figures> {
  const { gateway } = stage;
  const { port } = gateway;
  const keys = people.map(({ key }) =>
    requestText(gateway, `GET ${SMALL_PATH}`, { authorization: `Bearer ${key}` }),
  );
  const origin = `http://127.0.0.1:${port}`;
  const leaving = people.map(({ browser }) =>
    requestText(gateway, 'POST /api/auth/logout', { cookie: `svc_session=${browser}`, origin }),
  );
  const users = stage.openCallers();
  const leavers = stage.openCallers();
  const using = { kind: 'closed', connections: CONNECTIONS, pauseMs: PAUSE_MS } as const;
  const warming = during(stage, () => warmed(stage.sql));
  const end = new AbortController();
  const used = users
    .run({ ...using, port, requests: keys, rounds: null, durationMs: USED_MS })
    .finally(() => end.abort());
  const windows = async () => {
    const { stretch: warm } = await warming;
    const { stretch: quiet } = await during(stage, () => sleep(QUIET_MS));
    const offered = { kind: 'offered', perSecond: SIGN_OUTS_PER_SECOND } as const;
    const busy = await during(stage, () =>
      leavers.run({
        ...offered,
        port,
        requests: leaving,
        durationMs: BUSY_MS,
        connectionsMax: 256,
      }),
    );
    if (end.signal.aborted) throw new Error('the machine is too slow: the keys were done first');
    return { warm, quiet, busy: busy.stretch, signedOut: busy.result };
  };
  const [all, usedResult] = await Promise.all([windows(), used]);
  return { ...all, used: usedResult };
}

/** What was answered is what happened: the sessions are gone. */
async function assertSignedOut(
  { sql }: IdentityStage,
  { used, signedOut }: Figures,
): Promise<void> {
  assertAnswered('keys', used);
  // A server without time for all of them says so: the bar counts those that are signed out.
  assertAnswered('sign-outs', signedOut, [200, 503]);
  const [row] = await sql<{ left: number }[]>`
    SELECT count(*)::integer AS left FROM sessions WHERE kind = 'browser'`;
  const [left = Number.NaN, signedOutCount = 0] = [row?.left, signedOut.byStatus.get(200)?.count];
  if (left <= KEYS - signedOutCount) return;
  throw new Error(`${left} sessions are left of ${KEYS}, although ${signedOutCount} signed out`);
}

async function run(options: BenchOptions): Promise<Report> {
  const figures = await withIdentityStage(options, { settings }, async (stage) => {
    await stage.sql`CREATE EXTENSION pg_stat_statements`;
    const people = await makePeople(stage.sql, KEYS);
    progress(`${KEYS} keys are used, then people sign out`);
    const measured = await measure(stage, people);
    await assertSignedOut(stage, measured);
    return measured;
  });
  return report(figures);
}

function report({ warm, quiet, busy, used, signedOut }: Figures): Report {
  const title = `${SIGN_OUTS_PER_SECOND} sign-outs a second beside ${KEYS} keys in use`;
  const signOutMs = signedOut.byStatus.get(200);
  const row = (name: string, stretch: Stretch): string[] => [
    name,
    String(stretch.keyLookups),
    String(stretch.sessionLookups),
    rounded(stretch.cores),
    rounded(stretch.databaseCores),
  ];
  return {
    name: 'identity-sign-out',
    title,
    method:
      `One run: ${rounded(perSecond(used))} requests a second by key, each key on the shard ` +
      `of its connection. When all are in the caches: ${QUIET_MS / 1_000} s without and ` +
      `${BUSY_MS / 1_000} s with sign-outs. Lookups are what pg_stat_statements counts.`,
    columns: ['stretch', 'keys looked up', 'sessions looked up', 'cores', 'database cores'],
    rows: [
      row('each key for the first time', warm),
      row('keys alone', quiet),
      row('beside sign-outs', busy),
    ],
    bars: [
      {
        text: 'keys read anew because of sign-outs',
        limit: 0,
        measured: busy.keyLookups,
        unit: '',
        sense: 'most',
      },
      {
        text: 'sign-outs a second',
        limit: 0.98 * SIGN_OUTS_PER_SECOND,
        measured: perSecond(signedOut),
        unit: '',
        sense: 'least',
      },
    ],
    chart: {
      title,
      unit: 'lookups of keys, less is better',
      rows: [
        { label: 'first time', value: warm.keyLookups },
        { label: 'keys alone', value: quiet.keyLookups },
        { label: 'beside sign-outs', value: busy.keyLookups, limit: 0 },
      ],
    },
    notes: [
      `A sign-out took ${rounded(signOutMs?.p50 ?? Number.NaN)} ms at the median, ` +
        `${rounded(signOutMs?.p99 ?? Number.NaN)} ms at p99, from when it was due.`,
    ],
  };
}

export const identitySignOut: Bench = { name: 'identity-sign-out', run };
