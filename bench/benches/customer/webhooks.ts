// Webhooks of a payment provider beside paced streams: each is checked, stored and answered, and
// its purchase is asked about. And how long it takes from a callback to credits.
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { newToken, tokenHash } from '../../../actors/credentials/token.ts';
import { createAccount } from '../../../db/accounts.ts';
import { createSession } from '../../../db/sessions.ts';
import { createWallet } from '../../../db/wallets.ts';
import { newId } from '../../../runtime/ids.ts';
import { chatTarget } from '../../contender.ts';
import { Generator } from '../../load/generator.ts';
import type { LoadJob, LoadResult } from '../../load/job.ts';
import type { Report } from '../../report.ts';
import { median, percentile, rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, type Figures, progress } from '../bench.ts';
import {
  assertAnswered,
  type IdentityStage,
  requestText,
  withIdentityStage,
} from '../identity/stage.ts';

const STREAMS = 100;
const GAP_MS = 20;
const STREAM_TOKENS = 350;
const PER_SECOND = 200;
const LEAD_MS = 1_000;
const FLOOD_MS = LEAD_MS + STREAM_TOKENS * GAP_MS + 500;
const TIMEOUT_MS = 60_000;
const PURCHASES = 100;
const EACH_BUYS = 10;
/** What development mode signs with. */
const SECRET = 'whsec_simulated';

type Key = 'calmGap' | 'gap' | 'reply' | 'credit';

interface Bought {
  id: string;
  url: string;
}

interface Bed extends IdentityStage {
  generator: Generator;
  bought: readonly Bought[];
}

/** An account that may call for itself. */
async function makeBuyer({ sql }: IdentityStage): Promise<string> {
  const accountId = newId('acc', 0);
  const token = newToken('app');
  await createAccount(sql, { id: accountId, role: 'user' });
  await createWallet(sql, { id: newId('wal', 0), accountId, type: 'personal' });
  const expiresAt = new Date(Date.now() + 3_600_000);
  const session = { tokenHash: tokenHash(token), accountId, expiresAt, kind: 'app' as const };
  await createSession(sql, { ...session, method: 'otp' });
  return token;
}

async function buy({ gateway }: IdentityStage, token: string): Promise<Bought> {
  const reply = await fetch(`http://127.0.0.1:${gateway.port}/api/me/purchases`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-session': token },
    body: JSON.stringify({ package_slug: 'starter', provider: 'stripe' }),
  });
  const body = (await reply.json()) as { purchase: { id: string }; checkout: { url: string } };
  if (reply.status !== 201) throw new Error(`a purchase is answered ${reply.status}`);
  return { id: body.purchase.id, url: body.checkout.url };
}

async function buyAll(stage: IdentityStage, count: number): Promise<Bought[]> {
  const all: Bought[] = [];
  while (all.length < count) {
    const token = await makeBuyer(stage);
    for (let made = 0; made < EACH_BUYS; made += 1) all.push(await buy(stage, token));
  }
  return all;
}

/** Pays them one after the other; from each callback to its credits, in milliseconds. */
async function creditTimes(stage: IdentityStage, bought: readonly Bought[]): Promise<number[]> {
  for (const { url } of bought) {
    const paying = new URL(url);
    paying.searchParams.set('sim', 'pay');
    await (await fetch(paying, { redirect: 'manual' })).arrayBuffer();
    await sleep(20);
  }
  const ids = bought.map(({ id }) => id);
  const untilMs = performance.now() + TIMEOUT_MS;
  for (;;) {
    const rows = await stage.sql<{ ms: number }[]>`
      SELECT (extract(epoch FROM p.completed_at - min(e.received_at)) * 1000)::float8 AS ms
      FROM purchases p JOIN payment_events e ON e.purchase_id = p.id
      WHERE p.id = ANY (${`{${ids.join(',')}}`}::text[]) AND p.status = 'completed'
      GROUP BY p.id`;
    if (rows.length === bought.length) return rows.map(({ ms }) => ms);
    if (performance.now() > untilMs) throw new Error(`${rows.length} of ${bought.length} credited`);
    await sleep(100);
  }
}

let events = 0;
/** An event that nobody sent before, of a purchase that is paid. */
function webhookText({ gateway }: IdentityStage, { id }: Bought): string {
  events += 1;
  const body = JSON.stringify({
    id: `evt_bench_${process.pid}_${events}`,
    type: 'checkout.session.completed',
    created: Math.floor(Date.now() / 1_000),
    data: { object: { object: 'checkout.session', metadata: { purchase_id: id } } },
  });
  const at = Math.floor(Date.now() / 1_000);
  const signature = createHmac('sha256', SECRET).update(`${at}.${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'stripe-signature': `t=${at},v1=${signature}`,
  };
  return requestText(gateway, 'POST /api/payments/webhooks/stripe', headers, body);
}

function streams({ gateway, generator }: Bed): Promise<LoadResult> {
  const target = chatTarget(gateway, `tokens=${STREAM_TOKENS} gap_ms=${GAP_MS}`, true);
  const limits = { connections: STREAMS, requestsMax: STREAMS, durationMs: null, spreadMs: 500 };
  const eventsMin = STREAM_TOKENS;
  const job: LoadJob = { kind: 'load', target, ...limits, eventsMin, seed: 1, gaps: true };
  return generator.load(job, TIMEOUT_MS);
}

async function flood(bed: Bed, durationMs: number) {
  const count = Math.ceil((PER_SECOND * durationMs) / 1_000);
  const requests = Array.from({ length: count }, (_, at) => {
    const bought = bed.bought[at % bed.bought.length];
    if (bought === undefined) throw new Error('nothing was bought');
    return webhookText(bed, bought);
  });
  const { port } = bed.gateway;
  const rate = { kind: 'offered', perSecond: PER_SECOND, connectionsMax: 64 } as const;
  const result = await bed.openCallers().run({ ...rate, port, requests, durationMs });
  assertAnswered('webhooks', result);
  return result;
}

async function measure(bed: Bed, fresh: readonly Bought[]): Promise<Figures<Key>> {
  const quiet = await streams(bed);
  const flooding = flood(bed, FLOOD_MS);
  await sleep(LEAD_MS);
  const [busy, flooded] = await Promise.all([streams(bed), flooding]);
  for (const { failed, failure } of [quiet, busy]) if (failed > 0) throw new Error(failure);
  const credit = percentile(await creditTimes(bed, fresh), 0.99);
  const reply = flooded.byStatus.get(200)?.p99 ?? Number.NaN;
  return { calmGap: quiet.gapMs.p99, gap: busy.gapMs.p99, reply, credit };
}

async function run(options: BenchOptions): Promise<Report> {
  const generator = new Generator();
  const all: Figures<Key>[] = [];
  try {
    await withIdentityStage(options, {}, async (stage) => {
      const bought = await buyAll(stage, PURCHASES);
      await creditTimes(stage, bought);
      const bed: Bed = { ...stage, generator, bought };
      await streams(bed);
      for (let index = 0; index < options.runs; index++) {
        const figures = await measure(bed, await buyAll(stage, PURCHASES));
        const shown = Object.entries(figures).map(([key, value]) => `${key} ${rounded(value)}`);
        progress(`run ${index + 1}/${options.runs}: ${shown.join(', ')}`);
        all.push(figures);
      }
    });
  } finally {
    generator.stop();
  }
  return report((key) => median(all.map((each) => each[key])));
}

function report(of: (key: Key) => number): Report {
  const most = { sense: 'most' } as const;
  const title = `${PER_SECOND} webhooks a second beside streams`;
  return {
    name: 'customer-webhooks',
    title,
    method:
      `${STREAMS} streams, an event each ${GAP_MS} ms, alone and beside signed events of ` +
      `${PURCHASES} purchases, each of which is asked about at the simulated provider. Then ` +
      `${PURCHASES} checkouts are paid: from the webhook's arrival to the credits.`,
    columns: ['what', 'figure'],
    rows: [
      ['gap between two events p99 ms, streams alone', rounded(of('calmGap'))],
      ['gap between two events p99 ms, beside it', rounded(of('gap'))],
      ['webhook answered p99 ms', rounded(of('reply'))],
      ['callback to credits p99 ms', rounded(of('credit'))],
    ],
    bars: [
      { text: 'webhook answered, p99', limit: 50, measured: of('reply'), unit: 'ms', ...most },
      {
        text: 'p99 of paced streams × without it',
        limit: 1.1,
        measured: of('gap') / of('calmGap'),
        unit: '×',
        ...most,
      },
      {
        text: 'callback to credits, p99',
        limit: 1_000,
        measured: of('credit'),
        unit: 'ms',
        ...most,
      },
    ],
    notes: [],
    chart: {
      title,
      unit: 'gap between two events p99 in milliseconds, less is better',
      rows: [
        { label: 'streams alone', value: of('calmGap') },
        { label: 'beside webhooks', value: of('gap') },
      ],
    },
  };
}

export const customerWebhooks: Bench = { name: 'customer-webhooks', run };
