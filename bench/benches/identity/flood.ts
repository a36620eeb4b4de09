// More logins than can be hashed, and as many wrong codes, beside paced streams. Who streams must
// not feel it, who is refused must hear so in time, and nothing may pile up.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { blocksBetween, longestWorkMs } from '../../blocks.ts';
import { chatTarget } from '../../contender.ts';
import type { CallersResult } from '../../load/callers.ts';
import { Generator } from '../../load/generator.ts';
import type { LoadJob, LoadResult } from '../../load/job.ts';
import { rssBytesOf } from '../../proc.ts';
import type { Report } from '../../report.ts';
import { median, rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, type Figures, progress } from '../bench.ts';
import { givePassword, makePeople, PASSWORD } from './people.ts';
import {
  assertAnswered,
  type Callers,
  codeText,
  type IdentityStage,
  loginText,
  withIdentityStage,
} from './stage.ts';

const STREAMS = 100;
const GAP_MS = 20;
const STREAM_TOKENS = 350;
const PER_SECOND = 500;
/** The streams begin within the first part of it. */
const LEAD_MS = 1_000;
const FLOOD_MS = LEAD_MS + STREAM_TOKENS * GAP_MS + 500;
const WARM_FLOOD_MS = 4_000;
/** Logins that wait when the last one was offered. */
const SETTLE_MS = 2_000;
const PEOPLE = 2_000;
const CONNECTIONS_MAX = 2_048;
const TIMEOUT_MS = 60_000;
const REFUSAL_MS = 3_500;
const MIB = 1_048_576;
/** Who asks stands behind a proxy: each caller has a network of its own. */
const environment = { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1' };

type Key = 'calmGap' | 'gap' | 'block' | 'refusal' | 'logins' | 'refused' | 'unsent';

interface Bed extends IdentityStage {
  blocksFolder: string;
  generator: Generator;
  logins: Offered;
  codes: Offered;
}

interface Offered {
  callers: Callers;
  requests: string[];
}

function networkOf(index: number): string {
  return `10.${1 + (index >> 8)}.${index & 255}.7`;
}

async function openBed(
  stage: IdentityStage,
  generator: Generator,
  blocksFolder: string,
): Promise<Bed> {
  const { gateway, sql } = stage;
  const people = await makePeople(sql, PEOPLE);
  await givePassword(sql, people);
  const logins = {
    callers: stage.openCallers(),
    requests: people.map(({ email }, index) =>
      loginText(gateway, email, PASSWORD, networkOf(index)),
    ),
  };
  const codes = {
    callers: stage.openCallers(),
    requests: people.map((_, index) =>
      codeText(gateway, `nobody${index}@bench.test`, networkOf(PEOPLE + index)),
    ),
  };
  return { ...stage, generator, blocksFolder, logins, codes };
}

function streams({ gateway, generator }: Bed): Promise<LoadResult> {
  const target = chatTarget(gateway, `tokens=${STREAM_TOKENS} gap_ms=${GAP_MS}`, true);
  const limits = { connections: STREAMS, requestsMax: STREAMS, durationMs: null, spreadMs: 500 };
  const eventsMin = STREAM_TOKENS;
  const job: LoadJob = { kind: 'load', target, ...limits, eventsMin, seed: 1, gaps: true };
  return generator.load(job, TIMEOUT_MS);
}

async function flood({ gateway, logins, codes }: Bed, durationMs: number) {
  const { port } = gateway;
  const rate = { kind: 'offered', perSecond: PER_SECOND, connectionsMax: CONNECTIONS_MAX } as const;
  const offer = ({ callers, requests }: Offered): Promise<CallersResult> =>
    callers.run({ ...rate, port, requests, durationMs });
  const [login, code] = await Promise.all([offer(logins), offer(codes)]);
  return { login, code };
}

type Flooded = Awaited<ReturnType<typeof flood>>;

/** What neither let somebody in nor said in a documented way that it did not. */
function assertDocumented({ login, code }: Flooded): void {
  assertAnswered('logins', login, [200, 429, 503]);
  assertAnswered('codes', code, [401, 429, 503]);
}

function refusalsOf({ login, code }: Flooded) {
  const refused = [...login.byStatus].filter(([status]) => status !== 200).map(([, each]) => each);
  return [...refused, ...code.byStatus.values()];
}

async function measure(bed: Bed): Promise<Figures<Key>> {
  const quiet = await streams(bed);
  const fromMs = Date.now();
  const flooding = flood(bed, FLOOD_MS);
  await sleep(LEAD_MS);
  const [busy, flooded] = await Promise.all([streams(bed), flooding]);
  for (const { failed, failure } of [quiet, busy]) if (failed > 0) throw new Error(failure);
  assertDocumented(flooded);
  const { login, code } = flooded;
  const seconds = FLOOD_MS / 1_000;
  const refused = refusalsOf(flooded);
  return {
    calmGap: quiet.gapMs.p99,
    gap: busy.gapMs.p99,
    block: longestWorkMs(blocksBetween(bed.blocksFolder, fromMs, Date.now())),
    refusal: Math.max(...refused.map(({ most }) => most)),
    logins: (login.byStatus.get(200)?.count ?? 0) / seconds,
    refused: refused.reduce((sum, { count }) => sum + count, 0) / seconds,
    unsent: login.unsent + code.unsent,
  };
}

interface Memory {
  beforeMiB: number;
  afterMiB: number;
}

async function run(options: BenchOptions): Promise<Report> {
  const blocksFolder = await mkdtemp(join(tmpdir(), 'tollgate-bench-blocks-'));
  const generator = new Generator();
  const all: Figures<Key>[] = [];
  const memory: Memory = { beforeMiB: 0, afterMiB: 0 };
  try {
    await withIdentityStage(options, { blocksFolder, environment }, async (stage) => {
      const bed = await openBed(stage, generator, blocksFolder);
      const settledMiB = async (): Promise<number> => {
        await sleep(SETTLE_MS);
        return rssBytesOf(stage.gateway.pids()) / MIB;
      };
      assertDocumented(await flood(bed, WARM_FLOOD_MS));
      await streams(bed);
      memory.beforeMiB = await settledMiB();
      for (let index = 0; index < options.runs; index++) {
        const figures = await measure(bed);
        const shown = Object.entries(figures).map(([key, value]) => `${key} ${rounded(value)}`);
        progress(`run ${index + 1}/${options.runs}: ${shown.join(', ')}`);
        all.push(figures);
      }
      memory.afterMiB = await settledMiB();
    });
  } finally {
    generator.stop();
    await rm(blocksFolder, { recursive: true, force: true });
  }
  return report((key) => median(all.map((each) => each[key])), memory);
}

function report(of: (key: Key) => number, { beforeMiB, afterMiB }: Memory): Report {
  const most = { sense: 'most' } as const;
  const title = `${PER_SECOND} logins and ${PER_SECOND} wrong codes a second beside streams`;
  const row = (label: string, value: number) => [label, rounded(value)];
  return {
    name: 'identity-flood',
    title,
    method:
      `${STREAMS} streams, an event each ${GAP_MS} ms, alone and beside ${FLOOD_MS / 1_000} s of ` +
      'right passwords and wrong codes, offered whatever is answered, each from a network of its ' +
      "own. Blocks are delays of a shard's loop, less the time that its thread stood ready " +
      'without a core. Memory is that of the process, before the first and after the last.',
    columns: ['what', 'figure'],
    rows: [
      row('gap between two events p99 ms, streams alone', of('calmGap')),
      row('gap between two events p99 ms, beside it', of('gap')),
      row('longest block of a shard ms', of('block')),
      row('logins a second that got in', of('logins')),
      row('logins and codes a second that were refused', of('refused')),
      row('slowest refusal ms', of('refusal')),
      row('memory MiB, before', beforeMiB),
      row('memory MiB, after', afterMiB),
    ],
    bars: [
      {
        text: 'p99 of paced streams × without it',
        limit: 1.5,
        measured: of('gap') / of('calmGap'),
        unit: '×',
        ...most,
      },
      { text: 'longest turn of a shard', limit: 20, measured: of('block'), unit: 'ms', ...most },
      {
        text: 'slowest refusal',
        limit: REFUSAL_MS,
        measured: of('refusal'),
        unit: 'ms',
        ...most,
      },
      {
        text: 'requests that found no connection',
        limit: 0,
        measured: of('unsent'),
        unit: '',
        ...most,
      },
      {
        text: 'memory × before',
        limit: 1.1,
        measured: afterMiB / beforeMiB,
        unit: '×',
        ...most,
      },
    ],
    chart: {
      title,
      unit: 'gap between two events p99 in milliseconds, less is better',
      rows: [
        { label: 'streams alone', value: of('calmGap') },
        { label: 'beside the flood', value: of('gap'), limit: 1.5 * of('calmGap') },
      ],
    },
    notes: [],
  };
}

export const identityFlood: Bench = { name: 'identity-flood', run };
