// Refresh tokens used up for new pairs, 64 at once. The same statement runs bare beside it, by
// turns, on as many connections to the same database.
import { tokenHash } from '../../../actors/credentials/token.ts';
import { newPair, sealPair } from '../../../actors/oauth/pair.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { costOf } from '../../contender.ts';
import { Asked } from '../../load/asked.ts';
import type { Refreshed, RefreshesJob } from '../../load/refreshes.ts';
import type { Report } from '../../report.ts';
import { rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, type Figures, figureOf, interleave } from '../bench.ts';
import { CLIENT, CLIENT_SCOPES, makeRefreshTokens } from './people.ts';
import {
  assertAnswered,
  type Callers,
  type IdentityStage,
  requestText,
  withIdentityStage,
} from './stage.ts';

const AT_ONCE = 64;
/** A shard has so many: the default of TOLLGATE_QUERY_CONNECTIONS. */
const QUERY_CONNECTIONS = 2;
/** A measurement uses so many, each of an authorization of its own. */
const TOKENS = 3_000;
const TIMEOUT_MS = 60_000;
const SHARE_MIN = 0.5;

type Key = 'a second' | 'cpu' | 'database' | 'p50 ms' | 'p99 ms';

interface Lane {
  name: 'bare SQL' | 'gateway';
  measure(tokens: readonly string[]): Promise<Figures<Key>>;
}

function figuresOf(
  { refreshes, elapsedMs, cpuMicros, p50, p99 }: Refreshed,
  databaseMicros: number,
): Figures<Key> {
  return {
    'a second': (refreshes * 1_000) / elapsedMs,
    cpu: cpuMicros / refreshes,
    database: databaseMicros / refreshes,
    'p50 ms': p50,
    'p99 ms': p99,
  };
}

function bareLane(
  { gateway, databaseUrl }: IdentityStage,
  bare: Asked<RefreshesJob>,
  shards: number,
): Lane {
  const sealed = sealPair(createSealer(Buffer.alloc(32).toString('base64url')), '', newPair());
  return {
    name: 'bare SQL',
    async measure(tokens) {
      const database = gateway.databaseCpuMicros();
      const done = await bare.ask<Refreshed>(
        {
          databaseUrl,
          connections: shards * QUERY_CONNECTIONS,
          callers: AT_ONCE,
          client: CLIENT,
          allowed: CLIENT_SCOPES,
          hashes: tokens.map(tokenHash),
          sealedBytes: sealed.length,
        },
        TIMEOUT_MS,
      );
      return figuresOf(done, gateway.databaseCpuMicros() - database);
    },
  };
}

function gatewayLane({ gateway }: IdentityStage, callers: Callers): Lane {
  const { port } = gateway;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return {
    name: 'gateway',
    async measure(tokens) {
      const requests = tokens.map((token) => {
        const form = `grant_type=refresh_token&client_id=${CLIENT}&refresh_token=${token}`;
        return requestText(gateway, 'POST /oauth/token', headers, form);
      });
      const job = { kind: 'closed', pauseMs: 0, rounds: 1, durationMs: TIMEOUT_MS } as const;
      const { result, cost } = await costOf(gateway, () =>
        callers.run({ ...job, port, requests, connections: AT_ONCE }),
      );
      assertAnswered('refreshes', result);
      const { p50 = Number.NaN, p99 = Number.NaN } = result.byStatus.get(200) ?? {};
      const { answers: refreshes, elapsedMs } = result;
      const { cpuMicros, databaseMicros } = cost;
      return figuresOf({ refreshes, elapsedMs, cpuMicros, p50, p99 }, databaseMicros);
    },
  };
}

async function run(options: BenchOptions): Promise<Report> {
  const bare = new Asked<RefreshesJob>('refreshes.js');
  const measured = withIdentityStage(options, {}, async (stage) => {
    const lanes = [gatewayLane(stage, stage.openCallers())];
    if (options.contenders === null) lanes.unshift(bareLane(stage, bare, options.shards));
    const measure = async (lane: Lane): Promise<Figures<Key>> =>
      lane.measure(await makeRefreshTokens(stage.sql, TOKENS));
    for (const lane of lanes) await measure(lane);
    return await interleave<Key, Lane>(lanes, options.runs, measure);
  });
  return report(await measured.finally(() => bare.stop()));
}

function report(figures: ReadonlyMap<string, Figures<Key>>): Report {
  const bare = figureOf(figures, 'bare SQL', 'a second');
  const title = `Refresh tokens, ${AT_ONCE} at once`;
  return {
    name: 'identity-refresh',
    title,
    method:
      `${TOKENS} refreshes a run by \`${CLIENT}\`, each of an authorization of its own; the same ` +
      'statement bare, on as many connections to the same database.',
    columns: ['contender', 'a second', 'CPU µs', 'database µs', 'p50 ms', 'p99 ms'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row['a second']),
      rounded(row.cpu),
      rounded(row.database),
      rounded(row['p50 ms']),
      rounded(row['p99 ms']),
    ]),
    bars: [
      {
        text: 'refreshes a second × bare SQL',
        limit: SHARE_MIN,
        measured: figureOf(figures, 'gateway', 'a second') / bare,
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
    notes: [],
  };
}

export const identityRefresh: Bench = { name: 'identity-refresh', run };
