// Decisions that are recorded before they are told, 64 callers on one organization. Beside them
// bare inserts of the same bytes, batched alike.
import { createAuditComponent } from '../../../actors/audit/component.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { createActorSystem } from '../../../runtime/actor/system.ts';
import type { Report } from '../../report.ts';
import { rounded } from '../../statistics.ts';
import { type Bench, type BenchOptions, type Figures, figureOf, interleave } from '../bench.ts';
import { withAuditStage } from './stage.ts';

const CALLERS = 64;
const WINDOW_MS = 5_000;

type Key = 'a second' | 'p50 ms' | 'p99 ms';
type Name = 'decideRecorded' | 'bare inserts';

/** Asks one after the other until the time is over; `times` has what each took. */
async function callers(durationMs: number, ask: () => Promise<void>): Promise<Figures<Key>> {
  const times: number[] = [];
  const startedAt = performance.now();
  const call = async () => {
    while (performance.now() - startedAt < durationMs) {
      const askedAt = performance.now();
      await ask();
      times.push(performance.now() - askedAt);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  const elapsedMs = performance.now() - startedAt;
  times.sort((left, right) => left - right);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { 'a second': (times.length * 1_000) / elapsedMs, 'p50 ms': at(0.5), 'p99 ms': at(0.99) };
}

/** Rows of one text, as many in a statement as wait for it. */
function createBare(sql: Sql, row: string): () => Promise<void> {
  let waiting: (() => void)[] = [];
  let isBusy = false;
  const pump = async () => {
    isBusy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await sql`INSERT INTO bare (row) SELECT ${row}::text FROM generate_series(1,
        ${batch.length}::integer)`;
      for (const done of batch) done();
    }
    isBusy = false;
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (!isBusy) void pump();
    });
}

async function run(options: BenchOptions): Promise<Report> {
  const durationMs = options.seconds === null ? WINDOW_MS : options.seconds * 1_000;
  const figures = await withAuditStage(async ({ sql, organization, log }) => {
    const { component, services } = createAuditComponent({ sql, log, system: () => system });
    const system = createActorSystem({ node: 1, kinds: component.kinds, log });
    const { id, ownerId: userId } = organization;
    const decide = async () => {
      const reply = await services.decideRecorded(id, {
        actor: { type: 'user', id: userId },
        userId,
        action: { kind: 'mcp.call', host: 'mcp.example.com' },
        target: { type: 'mcp_server', id: 'mcp.example.com' },
      });
      if (reply.status !== 'allowed') throw new Error(`a decision was ${reply.status}`);
    };
    await decide();
    const [row] = await sql<{ row: string }[]>`
      SELECT record || details || salt || link || actor_id || action || target_id AS row
      FROM organization_audit_records ORDER BY seq DESC LIMIT 1`;
    await sql`CREATE TABLE bare (id bigserial PRIMARY KEY, row text NOT NULL)`;
    const bare = createBare(sql, row?.row ?? '');
    const lanes = [{ name: 'decideRecorded' as const }, { name: 'bare inserts' as const }];
    const asks: Record<Name, () => Promise<void>> = {
      decideRecorded: decide,
      'bare inserts': bare,
    };
    for (const { name } of lanes) await callers(durationMs / 5, asks[name]);
    const measured = await interleave<Key, (typeof lanes)[number]>(
      lanes,
      options.runs,
      ({ name }) => callers(durationMs, asks[name]),
    );
    await system.stop(1_000);
    return measured;
  });
  return report(figures, durationMs);
}

function report(figures: ReadonlyMap<string, Figures<Key>>, durationMs: number): Report {
  const decided = figureOf(figures, 'decideRecorded', 'a second');
  const share = decided / figureOf(figures, 'bare inserts', 'a second');
  return {
    name: 'organizations-audit',
    title: 'Decisions with a durable record, beside bare batched inserts of the same bytes',
    method:
      `${CALLERS} callers on one organization, each asks again when it is answered, for ` +
      `${durationMs / 1_000} s; both are one statement or transaction for all that wait.`,
    columns: ['lane', 'a second', 'p50 ms', 'p99 ms'],
    rows: [...figures].map(([name, row]) => [
      name,
      rounded(row['a second']),
      rounded(row['p50 ms']),
      rounded(row['p99 ms']),
    ]),
    bars: [
      { text: '× bare', limit: 0.5, measured: share, unit: '×', sense: 'least' },
      {
        text: 'p99',
        limit: 10,
        measured: figureOf(figures, 'decideRecorded', 'p99 ms'),
        unit: 'ms',
        sense: 'most',
      },
    ],
    chart: {
      title: 'Decisions with a durable record',
      unit: 'a second',
      rows: [...figures].map(([label, row]) => ({
        label,
        value: row['a second'],
        higherIsBetter: true,
      })),
    },
    notes: [],
  };
}

export const organizationsAudit: Bench = { name: 'organizations-audit', run };
