// What an administrator and a person wait for among many: a search by address, and lists of
// sessions and apps.
import type { Sql } from '../../../db/driver/sql.ts';
import { costOf } from '../../contender.ts';
import type { Report } from '../../report.ts';
import { rounded } from '../../statistics.ts';
import {
  type Bench,
  type BenchOptions,
  type Figures,
  figureOf,
  interleave,
  progress,
} from '../bench.ts';
import { ACCOUNTS, type Crowd, makeCrowd } from './crowd.ts';
import { makePeople, signIn } from './people.ts';
import { assertAnswered, type IdentityStage, requestText, withIdentityStage } from './stage.ts';

const SAMPLES = 400;
const CONNECTIONS = 4;
const TIMEOUT_MS = 60_000;
const LIMIT_MS = 50;

type Key = 'database' | 'p50 ms' | 'p99 ms' | 'most ms';

interface Lane {
  name: string;
  kind: 'search by address' | 'list of sessions or apps';
  requests: string[];
}

async function lanesOf({ gateway, sql }: IdentityStage, crowd: Crowd): Promise<Lane[]> {
  const { addresses, accountIds, crowdedId } = crowd;
  const admin = await makeAdministrator(sql);
  const [crowded = '', ...tokens] = await signIn(sql, [crowdedId, ...accountIds]);
  const asked = (path: string, session: string) =>
    requestText(gateway, `GET ${path}`, { 'x-svc-session': session });
  const search = (text: string) =>
    asked(`/api/admin/users?search=${encodeURIComponent(text)}`, admin);
  const kind = 'search by address';
  const list = 'list of sessions or apps';
  return [
    { name: 'a whole address', kind, requests: addresses.map(search) },
    {
      name: 'an address that nobody has',
      kind,
      requests: addresses.map((address) => search(`no${address}`)),
    },
    {
      name: 'its first 1 to 6 characters',
      kind,
      requests: addresses.map((address, index) => search(address.slice(0, 1 + (index % 6)))),
    },
    {
      name: 'sessions, by their person',
      kind: list,
      requests: tokens.map((token) => asked('/api/me/sessions', token)),
    },
    {
      name: 'sessions, by one who has 10,000',
      kind: list,
      requests: tokens.map(() => asked('/api/me/sessions', crowded)),
    },
    {
      name: 'sessions, by an administrator',
      kind: list,
      requests: accountIds.map((id) => asked(`/api/admin/users/${id}/sessions`, admin)),
    },
    {
      name: 'apps, by their person',
      kind: list,
      requests: tokens.map((token) => asked('/api/me/authorizations', token)),
    },
  ];
}

/** The session of a new one. */
async function makeAdministrator(sql: Sql): Promise<string> {
  const people = await makePeople(sql, 1);
  const ids = people.map(({ accountId }) => accountId);
  await sql`UPDATE accounts SET role = 'admin' WHERE id = ${ids[0] ?? ''}`;
  const [token = ''] = await signIn(sql, ids);
  return token;
}

async function run(options: BenchOptions): Promise<Report> {
  const { figures, lanes, tokens } = await withIdentityStage(options, {}, async (stage) => {
    progress('making accounts and tokens');
    const crowd = await makeCrowd(stage.sql, SAMPLES);
    const lanes = await lanesOf(stage, crowd);
    const callers = stage.openCallers();
    const { gateway } = stage;
    const { port } = gateway;
    const figures = await interleave<Key, Lane>(lanes, options.runs, async ({ name, requests }) => {
      const job = { kind: 'closed', pauseMs: 0, rounds: 1, durationMs: TIMEOUT_MS } as const;
      const { result, cost } = await costOf(gateway, () =>
        callers.run({ ...job, port, requests, connections: CONNECTIONS }),
      );
      assertAnswered(name, result);
      const { p50, p99, most } = result.byStatus.get(200) ?? { p50: 0, p99: 0, most: 0 };
      const database = cost.databaseMicros / 1_000 / result.answers;
      return { database, 'p50 ms': p50, 'p99 ms': p99, 'most ms': most };
    });
    return { figures, lanes, tokens: crowd.tokens };
  });
  return report(figures, lanes, tokens);
}

function report(
  figures: ReadonlyMap<string, Figures<Key>>,
  lanes: readonly Lane[],
  tokens: number,
): Report {
  const count = (value: number) => value.toLocaleString('en-US');
  const title = `Search and lists among ${count(ACCOUNTS)} accounts`;
  const worst = (kind: Lane['kind']) =>
    Math.max(
      ...lanes
        .filter((lane) => lane.kind === kind)
        .map(({ name }) => figureOf(figures, name, 'p99 ms')),
    );
  return {
    name: 'identity-list',
    title,
    method:
      `${count(tokens)} tokens: sessions, access and refresh tokens, and as many keys as ` +
      `accounts. ${SAMPLES} requests of each kind a run, ${CONNECTIONS} at once, each of another ` +
      'address or account.',
    columns: ['what', 'database CPU ms', 'p50 ms', 'p99 ms', 'most ms'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row.database),
      rounded(row['p50 ms']),
      rounded(row['p99 ms']),
      rounded(row['most ms']),
    ]),
    bars: (['search by address', 'list of sessions or apps'] as const).map((kind) => ({
      text: `${kind}, p99`,
      limit: LIMIT_MS,
      measured: worst(kind),
      unit: 'ms',
      sense: 'most',
    })),
    chart: {
      title,
      unit: 'p99 in milliseconds, less is better',
      rows: [...figures].map(([label, row]) => ({
        label,
        value: row['p99 ms'],
        limit: LIMIT_MS,
      })),
    },
    notes: [],
  };
}

export const identityList: Bench = { name: 'identity-list', run };
