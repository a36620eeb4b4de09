// What each session had written of itself at the moment of its death, against what it was charged.
// The process is stopped before it is killed, so that nothing is written after it was read.
import assert from 'node:assert/strict';
import type { Sql } from '../../db/driver/sql.ts';
import type { Gateway } from '../harness/gateway.ts';
import { withBooks } from './books.ts';
import { until } from './reach.ts';

interface Checkpoint {
  id: string;
  due_micros: bigint;
  speech_in: bigint;
  speech_out: bigint;
  text_in: bigint;
  text_out: bigint;
}

interface Settled extends Checkpoint {
  reason: string;
  charge_micros: bigint | null;
  /** How often its hold was ended, and what that charged. */
  ends: bigint;
  posted: bigint;
  /** What is still held for it, of all that ever was. */
  held: bigint;
}

const columns = `id, due_micros, input_speech_tokens AS speech_in, input_text_tokens AS text_in,
  output_speech_tokens AS speech_out, output_text_tokens AS text_out`;

/** Stops the main process, which is to be killed then, and reads what lives in it. */
export async function readCheckpoints(gateway: Gateway): Promise<Map<string, Checkpoint>> {
  process.kill(await gateway.mainPid(), 'SIGSTOP');
  return withBooks(gateway, async (sql) => {
    await until('its statements are over', 10_000, async () => (await countActive(sql)) === 0n);
    const rows = await sql<Checkpoint[]>`
      SELECT ${sql.unsafe(columns)} FROM voice_sessions WHERE state = 'live'`;
    return new Map(rows.map((row) => [row.id, { ...row }]));
  });
}

async function countActive(sql: Sql): Promise<bigint> {
  const [row] = await sql<{ count: bigint }[]>`
    SELECT count(*) AS count FROM pg_stat_activity
    WHERE state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid()`;
  return row?.count ?? 0n;
}

/** Each of these sessions was charged what its last checkpoint says, once, and holds nothing. */
export async function assertCheckpoints(
  gateway: Gateway,
  checkpoints: ReadonlyMap<string, Checkpoint>,
): Promise<void> {
  const rows = await withBooks(
    gateway,
    (sql) => sql<Settled[]>`
      SELECT ${sql.unsafe(columns)}, reason, charge_micros, l.*
      FROM voice_sessions s CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE kind IN ('settle', 'late', 'release')) AS ends,
          coalesce(sum(revenue_micros + provider_cost_micros), 0)::bigint AS posted,
          coalesce(sum(held_micros), 0)::bigint AS held
        FROM ledger WHERE wallet_id = s.wallet_id AND operation_id LIKE s.hold_id || '.%') l`,
  );
  const settled = new Map(rows.map((row) => [row.id, row]));
  let paying = 0;
  for (const [id, checkpoint] of checkpoints) {
    const row = settled.get(id);
    assert.ok(row !== undefined, `session ${id} is lost`);
    const { reason, charge_micros, ends, posted, held, ...said } = row;
    assert.deepEqual(said, checkpoint, `${id}: its usage is that of its checkpoint`);
    const due = checkpoint.due_micros;
    assert.deepEqual(
      { reason, charged: charge_micros ?? 0n, ends, posted, held },
      { reason: 'recovered', charged: due, ends: 1n, posted: due, held: 0n },
      id,
    );
    if (due > 0n) paying += 1;
  }
  assert.ok(paying > 0, 'somebody had used something');
}
