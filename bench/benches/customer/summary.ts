// What a person waits for who looks at its money, among many accounts: dashboard and summary. One
// wallet has millions of answers. Its summary stands beside the query that read all of them.
import type { Sql } from '../../../db/driver/sql.ts';
import { firstIdAt } from '../../../runtime/ids.ts';
import type { Report } from '../../report.ts';
import { median, rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, type Figures, interleave, progress } from '../bench.ts';
import { type BenchPerson, makePeople } from '../identity/people.ts';
import { assertAnswered, requestText, withIdentityStage } from '../identity/stage.ts';
import { countAll, makeAnswers, packRows } from './rows.ts';

const ACCOUNTS = 100_000;
const ROWS = 10_000_000;
const HEAVY_ROWS = 2_400_000;
const DAYS = 30;
const KEYS = 20;
const MODELS = 12;
const SAMPLES = 400;
/** All runs of one session stay below its 600 a minute. */
const BUSY_SAMPLES = 150;
const CONNECTIONS = 8;
const LIMIT_MS = 50;
const TIMEOUT_MS = 120_000;
const FORMER = 'the query before';

type Key = 'p50 ms' | 'p99 ms' | 'most ms';

interface Lane {
  name: string;
  measure(): Promise<Figures<Key>>;
}

const SUMMARY = '/api/me/billing/summary';

async function run(options: BenchOptions): Promise<Report> {
  const scale = options.scale ?? 1;
  const rows = Math.round(ROWS * scale);
  const heavyRows = Math.round(HEAVY_ROWS * scale);
  const accounts = Math.max(SAMPLES, Math.round(ACCOUNTS * scale));
  const { figures, countedMs } = await withIdentityStage(options, {}, async (stage) => {
    const { gateway, sql } = stage;
    progress(`making ${accounts} accounts and ${rows + heavyRows} answers`);
    await packRows(sql);
    const people = await makePeople(sql, accounts);
    const [heavy] = await makePeople(sql, 1);
    if (heavy === undefined) throw new Error('nobody was made');
    const idsOf = (who: readonly BenchPerson[]) => who.map(({ accountId }) => accountId);
    const spread = { days: DAYS, keys: KEYS, models: MODELS };
    await makeAnswers(sql, { ...spread, accountIds: idsOf(people), count: rows });
    await makeAnswers(sql, { ...spread, accountIds: idsOf([heavy]), count: heavyRows });
    const countedMs = await countAll(sql);
    const callers = stage.openCallers();
    const asked = (path: string, who: readonly BenchPerson[]): Lane => {
      const requests = who.map(({ app }) =>
        requestText(gateway, `GET ${path}`, { 'x-svc-session': app }),
      );
      const name = who[0] === heavy ? 'summary of the busy wallet' : path;
      return {
        name,
        async measure() {
          const job = { kind: 'closed', pauseMs: 0, rounds: 1, durationMs: TIMEOUT_MS } as const;
          const { port } = gateway;
          // Nobody asks for more of one wallet at once.
          const connections = who[0] === heavy ? 1 : CONNECTIONS;
          const result = await callers.run({ ...job, port, requests, connections });
          assertAnswered(name, result);
          const { p50, p99, most } = result.byStatus.get(200) ?? { p50: 0, p99: 0, most: 0 };
          return { 'p50 ms': p50, 'p99 ms': p99, 'most ms': most };
        },
      };
    };
    const some = people.slice(0, SAMPLES);
    const busy = Array.from({ length: BUSY_SAMPLES }, () => heavy);
    const lanes = [
      asked('/api/me/dashboard', some),
      asked(SUMMARY, some),
      asked(SUMMARY, busy),
      { name: FORMER, measure: () => measureFormer(sql, heavy) },
    ];
    const figures = await interleave<Key, Lane>(lanes, options.runs, (lane) => lane.measure());
    return { figures, countedMs };
  });
  return report(figures, { rows, heavyRows, accounts, countedMs });
}

/** The usage of 30 days as it was read until there were days: from the rows themselves. */
async function measureFormer(sql: Sql, { accountId }: BenchPerson): Promise<Figures<Key>> {
  const walletId = `wal${accountId.slice(3)}`;
  const sinceId = firstIdAt('req', Date.now() - 31 * 86_400_000);
  const times: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    const startedMs = performance.now();
    await sql`
      SELECT model, count(*), sum(input), sum(cached), sum(cache_write), sum(output),
        sum(reasoning), sum(charge_micros)
      FROM (SELECT model, charge_micros,
          coalesce((usage ->> 'input_tokens')::bigint, 0) AS input,
          coalesce((usage ->> 'cached_input_tokens')::bigint, 0) AS cached,
          coalesce((usage ->> 'cache_write_tokens')::bigint, 0) AS cache_write,
          coalesce((usage ->> 'output_tokens')::bigint, 0) AS output,
          coalesce((usage ->> 'reasoning_tokens')::bigint, 0) AS reasoning
        FROM generations
        WHERE account_id = ${accountId} AND wallet_id = ${walletId} AND charge_micros IS NOT NULL
          AND id >= ${sinceId} AND created_at > now() - interval '30 days') AS charged
      GROUP BY model ORDER BY model`;
    times.push(performance.now() - startedMs);
  }
  const most = Math.max(...times);
  return { 'p50 ms': median(times), 'p99 ms': most, 'most ms': most };
}

interface Made {
  rows: number;
  heavyRows: number;
  accounts: number;
  countedMs: number;
}

function report(figures: ReadonlyMap<string, Figures<Key>>, made: Made): Report {
  const count = (value: number) => value.toLocaleString('en-US');
  const title = 'Dashboard and summary among many charged rows';
  const asked = [...figures].filter(([name]) => name !== FORMER);
  const p50 = (name: string) => figures.get(name)?.['p50 ms'] ?? Number.NaN;
  return {
    name: 'customer-summary',
    title,
    method:
      `${count(made.rows)} charged rows of ${count(made.accounts)} accounts, and one wallet with ` +
      `${count(made.heavyRows)} of ${DAYS} days, ${KEYS} keys and ${MODELS} models. ` +
      `${SAMPLES} requests a run, ${CONNECTIONS} at once, of the one wallet ${BUSY_SAMPLES} in ` +
      `turn. ${FORMER} ` +
      'reads the rows themselves.',
    columns: ['what', 'p50 ms', 'p99 ms', 'most ms'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row['p50 ms']),
      rounded(row['p99 ms']),
      rounded(row['most ms']),
    ]),
    bars: [
      ...asked.map(([name, row]) => ({
        text: `${name}, p99`,
        limit: LIMIT_MS,
        measured: row['p99 ms'],
        unit: 'ms',
        sense: 'most' as const,
      })),
      {
        text: `summary of the busy wallet × ${FORMER}, p50`,
        limit: 1 / 40,
        measured: p50('summary of the busy wallet') / p50(FORMER),
        unit: '×',
        sense: 'most',
      },
    ],
    chart: {
      title,
      unit: 'p99 in milliseconds, less is better',
      rows: asked.map(([label, row]) => ({ label, value: row['p99 ms'], limit: LIMIT_MS })),
    },
    notes: [
      `All of it was counted and its days were closed in ${rounded(made.countedMs / 1_000)} s.`,
    ],
  };
}

export const customerSummary: Bench = { name: 'customer-summary', run };
