// Small answers by a key of a member, under caps and a policy. Beside them stand those by a
// personal key of the same gateway.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Contender, chatTarget } from '../../contender.ts';
import { type Gateway, startGateway } from '../../contenders/gateway.ts';
import { Generator } from '../../load/generator.ts';
import type { LoadJob } from '../../load/job.ts';
import type { Report } from '../../report.ts';
import { rounded } from '../../statistics.ts';
import { openGround } from '../../wallet.ts';
import { type Bench, type BenchOptions, type Figures, figureOf, interleave } from '../bench.ts';
import { costOfLoad } from '../run-fleet.ts';

const CONNECTIONS = 64;
const WARMUP_REQUESTS = 30_000;
const WARMUP_MS = 20_000;
const GRACE_MS = 30_000;
const CAP = 9_000_000_000_000_000;

type Key = 'cpu' | 'requests a second' | 'p99 ms';

const personal = 'a personal key';
const members = 'a key in an organization';

function job(contender: Contender, durationMs: number, requestsMax: number | null): LoadJob {
  return {
    kind: 'load',
    target: chatTarget(contender, 'tokens=1', false),
    connections: CONNECTIONS,
    requestsMax,
    durationMs,
    spreadMs: 20,
    eventsMin: 0,
    seed: 1,
  };
}

interface Dev {
  session_token: string;
  admin_session_token: string;
}

/** Calls the API as an administrator of the service or as its first person. */
async function call(
  { port }: Gateway,
  session: string,
  method: string,
  path: string,
  body: unknown,
  organizationId?: number,
): Promise<Record<string, unknown>> {
  const headers = {
    'content-type': 'application/json',
    'x-svc-session': session,
    ...(organizationId === undefined ? {} : { 'x-svc-organization': `${organizationId}` }),
  };
  const asked = method === 'GET' ? {} : { body: JSON.stringify(body) };
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...asked });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** An organization with credits, caps and a policy; the token of a key that its owner has there. */
async function makeCompany(gateway: Gateway): Promise<{ token: string; keyId: string }> {
  const text = await readFile(join(gateway.dataPath, 'dev.json'), 'utf8');
  const { session_token: own, admin_session_token: admin } = JSON.parse(text) as Dev;
  const base = '/api/enterprise/organizations';
  const made = await call(gateway, own, 'POST', base, { name: 'Bench' });
  const { id } = made.organization as { id: number };
  const settings = {
    monthly_spend_limit_micros: CAP,
    default_member_spend_limit_micros: CAP,
    routing_policy: { denied_models: ['nothing'], denied_providers: ['nobody'] },
  };
  await call(gateway, own, 'PATCH', `${base}/${id}/settings`, { settings });
  const { wallet } = await call(gateway, own, 'GET', `${base}/${id}/wallet`, null);
  await call(gateway, admin, 'POST', `/api/admin/wallets/${(wallet as { id: string }).id}/grants`, {
    operation_id: 'bench.organization',
    amount_microcredits: 1_000_000_000_000,
    note: 'bench',
  });
  const key = await call(gateway, own, 'POST', '/api/me/api-keys', { label: 'bench' }, id);
  return { token: key.raw_token as string, keyId: (key.api_key as { id: string }).id };
}

async function run(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 5) * 1_000;
  const ground = await openGround();
  const environment = { DATABASE_URL: ground.url };
  const gateway = await startGateway({ shards: options.shards, environment });
  const generator = new Generator();
  try {
    const { token, keyId } = await makeCompany(gateway);
    // The key has not been used yet: nobody has read its limits.
    await ground.sql`UPDATE api_keys SET requests_per_minute = 100000000, concurrency_max = 10000
      WHERE id = ${keyId}`;
    const contenders = [
      { ...gateway, name: personal },
      { ...gateway, name: members, headers: { authorization: `Bearer ${token}` } },
    ];
    for (const contender of contenders) {
      const warmup = job(contender, WARMUP_MS, WARMUP_REQUESTS);
      await costOfLoad(generator, contender, warmup, GRACE_MS);
    }
    const figures = await interleave<Key, Contender>(contenders, options.runs, async (each) => {
      const load = job(each, durationMs, null);
      const { result, cost } = await costOfLoad(generator, each, load, GRACE_MS);
      return {
        cpu: cost.cpuMicros / result.requests,
        'requests a second': (result.requests * 1_000) / result.elapsedMs,
        'p99 ms': result.totalMs.p99,
      };
    });
    return report(figures, durationMs);
  } finally {
    generator.stop();
    await gateway.stop();
    await ground.stop();
  }
}

function report(figures: ReadonlyMap<string, Figures<Key>>, durationMs: number): Report {
  const cpu = (name: string) => figureOf(figures, name, 'cpu');
  return {
    name: 'organizations-small',
    title: 'Small answers by a key in an organization, beside a personal key',
    method:
      `${durationMs / 1_000} s on ${CONNECTIONS} keep-alive connections; caps of organization ` +
      'and member, denied models and providers; one gateway, the keys in turn.',
    columns: ['key', 'CPU µs a request', 'a second', 'p99 ms'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.cpu),
      rounded(row['requests a second']),
      rounded(row['p99 ms']),
    ]),
    bars: [
      {
        text: 'CPU a request × a personal key',
        limit: 1.05,
        measured: cpu(members) / cpu(personal),
        unit: '×',
        sense: 'most',
      },
    ],
    chart: {
      title: 'Small answers in an organization',
      unit: 'CPU a request in µs, less is better',
      rows: [...figures].map(([label, row]) => ({ label, value: row.cpu })),
    },
    notes: [],
  };
}

export const organizationsSmall: Bench = { name: 'organizations-small', run };
