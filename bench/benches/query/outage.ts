// A first provider that hangs, then refuses, then is well: 200 queries a second go on by the second
// one. What callers see, what they pay, and when the first is used again.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Gateway, startGateway } from '../../contenders/gateway.ts';
import type { Report } from '../../report.ts';
import { percentile, rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, progress } from '../bench.ts';

const RATE = 200;
const SECONDS = 60;
/** When what happens to the first provider, as shares of the time. */
const HANGS_AT = 0.25;
const REFUSES_AT = 25 / 60;
const WELL_AT = 40 / 60;
const FIRST = 'serper-search';

interface Seen {
  answered: number;
  failed: number;
  times: number[];
  /** Microcredits that replies told. */
  charged: number;
  statuses: Map<number, number>;
}

interface Outcome extends Seen {
  ledgerCharged: number;
  /** From the provider's recovery to the next call of it; null: none came. */
  backAfterMs: number | null;
}

async function outage(simulatorPort: number, status: number | string, forMs: number) {
  const body = JSON.stringify({ status, for_ms: forMs, model: FIRST });
  await fetch(`http://127.0.0.1:${simulatorPort}/sim/outage`, { method: 'POST', body });
}

async function callsOf(simulatorPort: number): Promise<number> {
  const reply = await fetch(`http://127.0.0.1:${simulatorPort}/sim/stats`);
  const { models } = (await reply.json()) as { models: Record<string, { started: number }> };
  return models[FIRST]?.started ?? 0;
}

async function ask(pool: Pool, key: string, index: number, seen: Seen): Promise<void> {
  const askedAt = performance.now();
  try {
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/api/v1/query',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ surface: 'web_search', query: `outage ${index}` }),
    });
    const reply = (await body.json()) as { charge_microcredits?: number };
    seen.statuses.set(statusCode, (seen.statuses.get(statusCode) ?? 0) + 1);
    if (statusCode === 200) {
      seen.answered += 1;
      seen.charged += reply.charge_microcredits ?? 0;
    } else seen.failed += 1;
  } catch {
    seen.failed += 1;
  }
  seen.times.push(performance.now() - askedAt);
}

/** What the wallet has less now. */
async function spentOf(gateway: Gateway, session: string): Promise<number> {
  const reply = await fetch(`http://127.0.0.1:${gateway.port}/api/me/billing/summary`, {
    headers: { 'x-svc-session': session },
  });
  const { wallet } = (await reply.json()) as { wallet: { available_microcredits: number } };
  return -wallet.available_microcredits;
}

async function play(gateway: Gateway, seconds: number): Promise<Outcome> {
  const text = await readFile(join(gateway.dataPath, 'dev.json'), 'utf8');
  const dev = JSON.parse(text) as { api_key: string; session_token: string };
  const { simulatorPort: port } = gateway;
  const pool = new Pool(`http://127.0.0.1:${gateway.port}`, { connections: 512 });
  const seen: Seen = { answered: 0, failed: 0, times: [], charged: 0, statuses: new Map() };
  const before = await spentOf(gateway, dev.session_token);
  const totalMs = seconds * 1_000;
  let backAfterMs: number | null = null;
  const story = (async () => {
    await sleep(totalMs * HANGS_AT);
    await outage(port, 'stall', totalMs);
    await sleep(totalMs * (REFUSES_AT - HANGS_AT));
    await outage(port, 503, totalMs);
    await sleep(totalMs * (WELL_AT - REFUSES_AT));
    await outage(port, 200, 0);
    const wellAt = performance.now();
    // The last calls that were refused are on their way still.
    await sleep(100);
    const calls = await callsOf(port);
    while (backAfterMs === null && performance.now() - wellAt < 45_000) {
      await sleep(250);
      if ((await callsOf(port)) > calls + RATE / 10) backAfterMs = performance.now() - wellAt;
    }
  })();
  const startedAt = performance.now();
  const open: Promise<void>[] = [];
  for (let index = 0; index < RATE * seconds; index += 1) {
    const dueMs = (index * 1_000) / RATE;
    const aheadMs = dueMs - (performance.now() - startedAt);
    if (aheadMs > 1) await sleep(aheadMs);
    open.push(ask(pool, dev.api_key, index, seen));
  }
  await Promise.all(open);
  await story;
  await pool.close();
  const ledgerCharged = (await spentOf(gateway, dev.session_token)) - before;
  return { ...seen, ledgerCharged, backAfterMs };
}

async function run(options: BenchOptions): Promise<Report> {
  const seconds = options.seconds ?? SECONDS;
  const gateway = await startGateway({ shards: options.shards });
  try {
    progress(`${RATE} a second for ${seconds} s`);
    return report(await play(gateway, seconds), seconds);
  } finally {
    await gateway.stop();
  }
}

function report(outcome: Outcome, seconds: number): Report {
  const { answered, failed, times, charged, ledgerCharged, backAfterMs } = outcome;
  const statuses = [...outcome.statuses].map(([status, count]) => `${count} × ${status}`);
  const total = answered + failed;
  return {
    name: 'query-outage',
    title: 'A first provider that hangs, refuses and recovers',
    method:
      `${RATE} queries a second for ${seconds} s, each of its own. The first provider hangs from ` +
      'a quarter of the time on, refuses from 25/60, and is well from 40/60 on. The second is ' +
      'well all the time.',
    columns: ['queries', 'failed', 'p50 ms', 'p99 ms', 'back after s', 'told', 'in the ledger'],
    rows: [
      [
        `${total}`,
        `${failed}`,
        rounded(percentile(times, 0.5)),
        rounded(percentile(times, 0.99)),
        backAfterMs === null ? 'never' : rounded(backAfterMs / 1_000),
        `${charged}`,
        `${ledgerCharged}`,
      ],
    ],
    bars: [
      {
        text: 'errors of callers',
        limit: 1,
        measured: (100 * failed) / total,
        unit: '%',
        sense: 'most',
      },
      {
        text: 'the first is back',
        limit: 30,
        measured: (backAfterMs ?? Number.POSITIVE_INFINITY) / 1_000,
        unit: 's',
        sense: 'most',
      },
      {
        text: 'charged and not told',
        limit: 0,
        measured: Math.abs(ledgerCharged - charged),
        unit: 'microcredits',
        sense: 'most',
      },
    ],
    chart: {
      title: 'A first provider that hangs, refuses and recovers',
      unit: 'ms a query, less is better',
      rows: [
        { label: 'median', value: percentile(times, 0.5) },
        { label: '99th percentile', value: percentile(times, 0.99) },
      ],
    },
    notes: [`Statuses: ${statuses.join(', ')}.`],
  };
}

export const queryOutage: Bench = { name: 'query-outage', run };
