// A small answer by session and by access token, beside the same by key: what a person's credential
// costs when it is in the cache.
import { costOf } from '../../contender.ts';
import type { Report } from '../../report.ts';
import { median, rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, type Figures, figureOf, interleave } from '../bench.ts';
import { type BenchPerson, makePeople } from './people.ts';
import {
  assertAnswered,
  type Callers,
  type IdentityStage,
  requestText,
  SMALL_PATH,
  withIdentityStage,
} from './stage.ts';

const CONNECTIONS = 32;
/** An authorization has 600 requests a minute: together they have more than a run takes. */
const PEOPLE = 400;
/** Compilers see this much before anything counts: by number, for time says little under load. */
const WARM_UP_ROUNDS = 40;
const WARM_UP_MS = 30_000;
/** A run has many short ones, so that all credentials meet the same moments of the machine. */
const ROUNDS = 6;

type Key = 'cpu' | 'a second' | 'p50 ms' | 'p99 ms';
type Name = 'key' | 'session, header' | 'session, cookie' | 'access token';

const headersOf: Readonly<Record<Name, (person: BenchPerson) => Record<string, string>>> = {
  key: ({ key }) => ({ authorization: `Bearer ${key}` }),
  'session, header': ({ app }) => ({ 'x-svc-session': app }),
  'session, cookie': ({ browser }) => ({ cookie: `svc_session=${browser}` }),
  'access token': ({ access }) => ({ authorization: `Bearer ${access}` }),
};
const NAMES = Object.keys(headersOf) as Name[];

interface Lane {
  name: Name;
  requests: string[];
}

async function measure(
  { gateway }: IdentityStage,
  callers: Callers,
  { name, requests }: Lane,
  { rounds, durationMs }: { rounds: number | null; durationMs: number },
): Promise<Figures<Key>> {
  const job = { kind: 'closed', pauseMs: 0, rounds, durationMs } as const;
  const { port } = gateway;
  const { result, cost } = await costOf(gateway, () =>
    callers.run({ ...job, port, requests, connections: CONNECTIONS }),
  );
  assertAnswered(name, result);
  const times = result.byStatus.get(200);
  return {
    cpu: cost.cpuMicros / result.answers,
    'a second': (result.answers * 1_000) / result.elapsedMs,
    'p50 ms': times?.p50 ?? Number.NaN,
    'p99 ms': times?.p99 ?? Number.NaN,
  };
}

async function run(options: BenchOptions): Promise<Report> {
  const durationMs = (options.seconds ?? 0.5) * 1_000;
  const rounds: Partial<Record<Name, number>>[] = [];
  const figures = await withIdentityStage(options, {}, async (stage) => {
    const people = await makePeople(stage.sql, PEOPLE);
    const lanes = NAMES.map((name) => ({
      name,
      requests: people.map((person) =>
        requestText(stage.gateway, `GET ${SMALL_PATH}`, headersOf[name](person)),
      ),
    }));
    const callers = stage.openCallers();
    const warmUp = { rounds: WARM_UP_ROUNDS, durationMs: WARM_UP_MS };
    for (const lane of lanes) await measure(stage, callers, lane, warmUp);
    const count = options.runs * ROUNDS;
    return await interleave<Key, Lane>(lanes, count, async (lane, round) => {
      const measured = await measure(stage, callers, lane, { rounds: null, durationMs });
      rounds[round] = { ...rounds[round], [lane.name]: measured.cpu };
      return measured;
    });
  });
  const ratioOf = (name: Name) =>
    median(rounds.map((round) => (round[name] ?? Number.NaN) / (round.key ?? Number.NaN)));
  const ratios = new Map(NAMES.map((name) => [name, ratioOf(name)]));
  return report(figures, ratios, durationMs);
}

function report(
  figures: ReadonlyMap<string, Figures<Key>>,
  ratios: ReadonlyMap<string, number>,
  durationMs: number,
): Report {
  const key = figureOf(figures, 'key', 'cpu');
  const others = NAMES.filter((name) => name !== 'key');
  return {
    name: 'identity-answer',
    title: 'A small answer by each credential',
    method:
      `GET ${SMALL_PATH} with ${PEOPLE} credentials of each kind on ${CONNECTIONS} connections, ` +
      `in rounds of ${durationMs / 1_000} s each; × key is the median of what the rounds say.`,
    columns: ['credential', 'CPU µs', '× key', 'a second', 'p50 ms', 'p99 ms'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.cpu),
      rounded(ratios.get(name) ?? Number.NaN),
      rounded(row['a second']),
      rounded(row['p50 ms']),
      rounded(row['p99 ms']),
    ]),
    bars: others.map((name) => ({
      text: `CPU by ${name} × by key`,
      limit: 1.1,
      measured: ratios.get(name) ?? Number.NaN,
      unit: '×',
      sense: 'most',
    })),
    chart: {
      title: 'A small answer by each credential',
      unit: 'CPU in µs, less is better',
      rows: [...figures].map(([label, { cpu }]) => ({
        label,
        value: cpu,
        ...(label === 'key' ? {} : { limit: 1.1 * key }),
      })),
    },
    notes: [],
  };
}

export const identityAnswer: Bench = { name: 'identity-answer', run };
