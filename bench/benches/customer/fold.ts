// Small answers while the round counts them, beside small answers that nobody counts meanwhile.
// Whoever has the turn keeps rounds out: the bench has it while it measures without them.
import { countUsage } from '../../../actors/usage/rounds.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { costOf } from '../../contender.ts';
import type { Report } from '../../report.ts';
import { median, rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, type Figures, figureOf, interleave } from '../bench.ts';
import {
  assertAnswered,
  type Callers,
  type IdentityStage,
  requestText,
  withIdentityStage,
} from '../identity/stage.ts';

const CONNECTIONS = 32;
/** Two rounds fall into a window. */
const WINDOW_MS = 30_000;
/** Rows are counted a minute behind the clock: so long they are made before. */
const BEFORE_MS = 75_000;
const LIMITS = { behindMs: 60_000, rowsMax: 20_000, roundForMs: 60_000 };
const LIMIT = 1.05;

type Key = 'cpu' | 'database' | 'a second' | 'p99 ms';
type Lane = { name: 'with rounds' | 'without' };

async function measure(
  { gateway }: IdentityStage,
  callers: Callers,
  request: string,
  durationMs: number,
): Promise<Figures<Key>> {
  const requests = Array.from({ length: CONNECTIONS }, () => request);
  const job = { kind: 'closed', pauseMs: 0, rounds: null, durationMs } as const;
  const { port } = gateway;
  const { result, cost } = await costOf(gateway, () =>
    callers.run({ ...job, port, requests, connections: CONNECTIONS }),
  );
  assertAnswered('small answers', result);
  return {
    cpu: cost.cpuMicros / result.answers,
    database: cost.databaseMicros / result.answers,
    'a second': (result.answers * 1_000) / result.elapsedMs,
    'p99 ms': result.byStatus.get(200)?.p99 ?? Number.NaN,
  };
}

/** Keeps rounds out as long as the work takes. */
async function withoutRounds<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
  return (await sql.begin(async (transaction) => {
    await transaction`SET LOCAL idle_in_transaction_session_timeout = 0`;
    await transaction`SELECT FROM usage_state FOR UPDATE`;
    return await work();
  })) as T;
}

async function run(options: BenchOptions): Promise<Report> {
  const durationMs = options.seconds === null ? WINDOW_MS : options.seconds * 1_000;
  const beforeMs = Math.round(BEFORE_MS * (options.scale ?? 1));
  const ratios: number[] = [];
  const figures = await withIdentityStage(options, {}, async (stage) => {
    const { gateway, sql } = stage;
    const body = {
      model: gateway.model,
      messages: [{ role: 'user', content: '[[sim tokens=1]]' }],
    };
    const headers = { 'content-type': 'application/json', ...gateway.headers };
    const request = requestText(gateway, `POST ${gateway.path}`, headers, JSON.stringify(body));
    const callers = stage.openCallers();
    await measure(stage, callers, request, beforeMs);
    const totals = new Map<string, number>();
    return await interleave<Key, Lane>(
      [{ name: 'with rounds' }, { name: 'without' }],
      options.runs,
      async ({ name }) => {
        // Both begin with as much that waits to be counted.
        for (let done = false; !done; ) done = await countUsage(sql, LIMITS);
        const work = () => measure(stage, callers, request, durationMs);
        const measured = name === 'without' ? await withoutRounds(sql, work) : await work();
        totals.set(name, measured.cpu + measured.database);
        const [counted, bare] = [totals.get('with rounds'), totals.get('without')];
        if (counted !== undefined && bare !== undefined) {
          ratios.push(counted / bare);
          totals.clear();
        }
        return measured;
      },
    );
  });
  return report(figures, median(ratios), durationMs);
}

function report(
  figures: ReadonlyMap<string, Figures<Key>>,
  ratio: number,
  durationMs: number,
): Report {
  const title = 'Small answers while a round counts them';
  const bare = figureOf(figures, 'without', 'cpu') + figureOf(figures, 'without', 'database');
  return {
    name: 'customer-fold',
    title,
    method:
      `One token, not streamed, ${CONNECTIONS} at once, in windows of ${durationMs / 1_000} s; ` +
      'without: the bench keeps rounds out meanwhile. The ratio is the median of the pairs.',
    columns: ['what', 'CPU µs a request', 'database µs', 'a second', 'p99 ms'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.cpu),
      rounded(row.database),
      rounded(row['a second']),
      rounded(row['p99 ms']),
    ]),
    bars: [
      {
        text: 'CPU of gateway and database × without rounds',
        limit: LIMIT,
        measured: ratio,
        unit: '×',
        sense: 'most',
      },
    ],
    chart: {
      title,
      unit: 'CPU of gateway and database in µs, less is better',
      rows: [...figures].map(([label, { cpu, database }]) => ({
        label,
        value: cpu + database,
        ...(label === 'without' ? {} : { limit: LIMIT * bare }),
      })),
    },
    notes: [],
  };
}

export const customerFold: Bench = { name: 'customer-fold', run };
