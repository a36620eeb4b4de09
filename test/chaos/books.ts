// What the database says after the chaos, against what clients were told meanwhile.
import assert from 'node:assert/strict';
import { tokenHash } from '../../actors/credentials/token.ts';
import { closePool, openPool, type Sql } from '../../db/driver/sql.ts';
import { findKeyByHash } from '../../db/keys.ts';
import { setSpendLimit } from '../../db/spend/limit.ts';
import { attachDatabase } from '../../runtime/embedded/database.ts';
import type { Gateway } from '../harness/gateway.ts';
import type { Told } from './client.ts';
import { tail, until } from './reach.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Runs a look at the gateway's own database, whether the gateway runs or not. */
export async function withBooks<T>(gateway: Gateway, look: (sql: Sql) => Promise<T>): Promise<T> {
  const database = await attachDatabase({ dataDir: gateway.dataDir, log: silent });
  const sql = openPool({
    url: database.url,
    purpose: 'general',
    connectionsMax: 1,
    statementTimeoutMs: 10_000,
  });
  try {
    return await look(sql);
  } finally {
    await closePool(sql, 1_000);
    await database.stop();
  }
}

/** What a client was told of a charge; null: nothing. */
export interface Receipt {
  usage: Pick<NonNullable<Told['usage']>, 'request_id' | 'charge_microcredits'> | null;
}

export interface WalletFigures {
  walletMicros: bigint;
  heldMicros: bigint;
  holds: bigint;
  running: bigint;
}

/** Sums over every wallet. */
export async function readWallets(sql: Sql): Promise<WalletFigures> {
  const [row] = await sql<
    { wallet_micros: bigint; held_micros: bigint; holds: bigint; running: bigint }[]
  >`SELECT sum(wallet_micros)::bigint AS wallet_micros, sum(held_micros)::bigint AS held_micros,
      (SELECT count(*) FROM holds) AS holds,
      (SELECT count(*) FROM generations WHERE status = 'running') AS running
    FROM wallets`;
  assert(row !== undefined);
  return {
    walletMicros: row.wallet_micros,
    heldMicros: row.held_micros,
    holds: row.holds,
    running: row.running,
  };
}

/** Within the time nothing is held and nothing runs any more. */
export async function assertNothingHeld(gateway: Gateway, timeoutMs: number): Promise<number> {
  return withBooks(gateway, async (sql) => {
    let seen = '';
    return until(
      `nothing is held\n${tail(gateway)}\n${seen}`,
      timeoutMs,
      async () => {
        const figures = await readWallets(sql);
        seen = `${figures.holds} holds of ${figures.heldMicros}, ${figures.running} running`;
        return figures.holds === 0n && figures.heldMicros === 0n && figures.running === 0n;
      },
      50,
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${seen}`);
    });
  });
}

/** Every charge that a client was told is in the ledger, exactly; nothing was charged twice. */
export async function assertChargesTold(
  gateway: Gateway,
  told: readonly Receipt[],
): Promise<number> {
  const receipts = new Map<string, number>();
  for (const { usage } of told) {
    if (usage === null) continue;
    const known = receipts.get(usage.request_id);
    assert.ok(known === undefined || known === usage.charge_microcredits, 'one charge a request');
    receipts.set(usage.request_id, usage.charge_microcredits);
  }
  return withBooks(gateway, async (sql) => {
    const rows = await sql<{ id: string; charge: bigint | null; posted: bigint | null }[]>`
      SELECT g.id, g.charge_micros AS charge,
        (SELECT sum(revenue_micros + provider_cost_micros)::bigint FROM ledger
          WHERE operation_id IN (g.hold_id || '.end', g.hold_id || '.late')) AS posted
      FROM generations g`;
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const [id, charge] of receipts) {
      const row = found.get(id);
      assert.ok(row !== undefined, `generation ${id}, whose charge a client was told, is lost`);
      assert.equal(Number(row.charge ?? 0n), charge, `${id}: told ${charge}`);
      assert.equal(Number(row.posted ?? 0n), charge, `${id}: told ${charge}, in the ledger`);
    }
    // Every key of a test has its own body, so its fingerprint names it for good.
    const twice = await sql<{ fingerprint: string; times: bigint }[]>`
      SELECT fingerprint, count(*) AS times FROM generations
      WHERE fingerprint <> '' AND charge_micros > 0 GROUP BY fingerprint HAVING count(*) > 1`;
    assert.deepEqual([...twice], [], 'a key was charged twice');
    return receipts.size;
  });
}

/** Gives a key a limit for the month; returns its id. */
export function limitKey(gateway: Gateway, token: string, amountMicros: bigint): Promise<string> {
  return withBooks(gateway, async (sql) => {
    const key = await findKeyByHash(sql, tokenHash(token));
    assert.ok(key !== null, 'the key is known');
    await sql.begin((transaction) =>
      setSpendLimit(transaction, key, { amountMicros, period: 'month' }, Date.now()),
    );
    return key.id;
  });
}

/** What was counted for a key. */
export function spentOf(gateway: Gateway, keyId: string): Promise<bigint> {
  return withBooks(gateway, async (sql) => {
    const [row] = await sql<{ spent: bigint }[]>`
      SELECT coalesce(sum(spent_micros), 0)::bigint AS spent FROM spend WHERE spender = ${keyId}`;
    return row?.spent ?? 0n;
  });
}
