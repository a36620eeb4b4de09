// 400 days of a busy wallet as CSV: what it costs in memory, and how long it holds a shard up.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql } from '../../../db/driver/sql.ts';
import { blocksBetween, longestWorkMs } from '../../blocks.ts';
import { peakRssBytesOf, resetPeakRss, rssBytesOf } from '../../proc.ts';
import type { Report } from '../../report.ts';
import { rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, type Figures, interleave } from '../bench.ts';
import { makePeople } from '../identity/people.ts';
import { withIdentityStage } from '../identity/stage.ts';

const DAYS = 400;
const KEYS = 20;
const MODELS = 12;
const DAY_MS = 86_400_000;
const MEMORY_MIB = 32;
const TURN_MS = 20;
/** What a slow client reads. */
const SLOW_BYTES_A_SECOND = 4 * 1024 * 1024;
const MIB = 1024 * 1024;

type Key = 'MiB more' | 'longest turn ms' | 'seconds' | 'MiB sent';
type Lane = { name: 'as fast as it comes' | 'by a slow client'; isSlow: boolean };

const dayText = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** A line for each key and model of each day; all days are closed. */
async function makeDays(sql: Sql, accountId: string, days: number): Promise<void> {
  await sql`
    INSERT INTO usage_days (wallet_id, day, account_id, api_key_id, kind, model, requests, failed,
      settled, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
      reasoning_tokens, search_calls, milliseconds, characters, charge_micros)
    SELECT ${`wal${accountId.slice(3)}`}, current_date - d, ${accountId},
      'key_' || lpad(to_hex(k), 24, '0'), 'generation', 'model-' || m, 333, 1, 332, 299000, 0, 0,
      39000, 0, 0, 0, 0, 498000 + d * k
    FROM generate_series(1, ${days}::int) d, generate_series(1, ${KEYS}) k,
      generate_series(1, ${MODELS}) m`;
  await sql`UPDATE usage_state SET closed_from = 'epoch', closed_until = current_date`;
  await sql`VACUUM ANALYZE usage_days`;
}

async function readAll(response: Response, isSlow: boolean): Promise<number> {
  if (response.status !== 200 || response.body === null) throw new Error(await response.text());
  const startedMs = performance.now();
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    const dueMs = isSlow ? (bytes * 1_000) / SLOW_BYTES_A_SECOND : 0;
    const waitMs = dueMs - (performance.now() - startedMs);
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  return bytes;
}

async function run(options: BenchOptions): Promise<Report> {
  const days = Math.max(1, Math.round(DAYS * (options.scale ?? 1)));
  const blocksFolder = await mkdtemp(join(tmpdir(), 'tollgate-bench-blocks-'));
  try {
    const figures = await withIdentityStage(options, { blocksFolder }, async (stage) => {
      const { gateway, sql } = stage;
      const [person] = await makePeople(sql, 1);
      if (person === undefined) throw new Error('nobody was made');
      await makeDays(sql, person.accountId, days);
      const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
      const range = `from=${dayText(todayMs - days * DAY_MS)}&to=${dayText(todayMs - DAY_MS)}`;
      const url = `http://127.0.0.1:${gateway.port}/api/me/billing/export.csv?what=usage&${range}`;
      const read = async (isSlow: boolean) =>
        readAll(await fetch(url, { headers: { 'x-svc-session': person.app } }), isSlow);
      // What is compiled and kept once is not of each.
      for (let n = 0; n < 3; n += 1) await read(false);
      const lanes: Lane[] = [
        { name: 'as fast as it comes', isSlow: false },
        { name: 'by a slow client', isSlow: true },
      ];
      return await interleave<Key, Lane>(lanes, options.runs, async ({ isSlow }) => {
        const pids = gateway.pids();
        resetPeakRss(pids);
        const [beforeBytes, fromMs] = [rssBytesOf(pids), Date.now()];
        const bytes = await read(isSlow);
        return {
          'MiB more': (peakRssBytesOf(pids) - beforeBytes) / MIB,
          'longest turn ms': longestWorkMs(blocksBetween(blocksFolder, fromMs, Date.now())),
          seconds: (Date.now() - fromMs) / 1_000,
          'MiB sent': bytes / MIB,
        };
      });
    });
    return report(figures, days);
  } finally {
    await rm(blocksFolder, { recursive: true, force: true });
  }
}

function report(figures: ReadonlyMap<string, Figures<Key>>, days: number): Report {
  const title = `${days} days of a busy wallet as CSV`;
  const worst = (key: Key) => Math.max(...[...figures.values()].map((row) => row[key]));
  const most = { sense: 'most' } as const;
  return {
    name: 'customer-export',
    title,
    method: `${KEYS * MODELS} lines a day: ${KEYS} keys and ${MODELS} models, read to the end.`,
    columns: ['read', 'MiB more', 'longest turn ms', 'seconds', 'MiB sent'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row['MiB more']),
      rounded(row['longest turn ms']),
      rounded(row.seconds),
      rounded(row['MiB sent']),
    ]),
    bars: [
      { text: 'more memory', limit: MEMORY_MIB, measured: worst('MiB more'), unit: 'MiB', ...most },
      {
        text: 'longest turn of a shard',
        limit: TURN_MS,
        measured: worst('longest turn ms'),
        unit: 'ms',
        ...most,
      },
    ],
    chart: {
      title,
      unit: 'more memory in MiB, less is better',
      rows: [...figures].map(([label, row]) => ({
        label,
        value: row['MiB more'],
        limit: MEMORY_MIB,
      })),
    },
    notes: [],
  };
}

export const customerExport: Bench = { name: 'customer-export', run };
