// Hold-and-settle pairs, durable: one hot wallet, and 10,000 cold ones, through the wallet actor
// and through one transaction an operation on the same tables of the same server, in turn.
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GenerationClaim } from '../actors/billed-request/holder.ts';
import { walletLimits } from '../actors/wallet/limits.ts';
import type { WalletProtocol } from '../actors/wallet/protocol.ts';
import { createWalletKind } from '../actors/wallet/wallet.ts';
import { createAccount } from '../db/accounts.ts';
import { auditLedger } from '../db/audit.ts';
import { migrate } from '../db/driver/migrate.ts';
import { closePool, openPool, type Sql } from '../db/driver/sql.ts';
import type { ActorRef } from '../runtime/actor/contract.ts';
import { createActorSystem } from '../runtime/actor/system.ts';
import { startDatabase } from '../runtime/embedded/database.ts';
import { newId } from '../runtime/ids.ts';
import { type Bench, type BenchOptions, type Figures, interleave } from './benches/bench.ts';
import type { Report } from './report.ts';
import { percentile, rounded } from './statistics.ts';

const AMOUNT = 1_000_000n;
const CHARGE = 400_000n;
const PROVIDER_COST = 380_000n;
const COLD_WALLETS = 10_000;
const CALLERS_COLD = 256;
const SECONDS = 4;
const ACTOR_CONNECTIONS = 4;
/** More connections make the same baseline slower here. */
const TRANSACTION_CONNECTIONS = 16;
const EXPIRY_MS = 900_000;

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
export const accountId = 'acc_bench';
const instanceId = 'instance-bench';

export type Figure = 'pairs' | 'p50' | 'p99';

/** One way to hold and to settle; both resolve when that is durable. */
interface Teller {
  hold(walletId: string, holdId: string): Promise<void>;
  settle(walletId: string, holdId: string): Promise<void>;
}

interface Ground {
  sql: Sql;
  url: string;
  stop(): Promise<void>;
}

export async function openGround(): Promise<Ground> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  await chmod(dataDir, 0o711);
  const database = await startDatabase({ dataDir, log: silent });
  await migrate(database.url);
  const sql = openPool({
    url: database.url,
    purpose: 'general',
    connectionsMax: 2,
    statementTimeoutMs: 0,
  });
  await createAccount(sql, { id: accountId, role: 'user' });
  return {
    sql,
    url: database.url,
    async stop() {
      await closePool(sql, 1_000);
      await database.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Funded wallets, each with one purchase, the way the ledger itself writes them. */
export async function makeWallets(sql: Sql, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('wal', 0));
  const funds = 9_000_000_000_000_000n;
  await sql.begin((transaction) => [
    transaction`INSERT INTO wallets (id, account_id, version, wallet_micros, purchase_micros)
      SELECT id, ${accountId}, 1, ${funds}, -${funds}::bigint FROM unnest(${ids}::text[]) id`,
    transaction`INSERT INTO grants (id, wallet_id, operation_id, kind, note, amount_micros,
        remaining_micros, created_at)
      SELECT 'grant_' || id, id, id || '.grant', 'purchase', '', ${funds}, ${funds}, now()
      FROM unnest(${ids}::text[]) id`,
    transaction`INSERT INTO ledger (operation_id, wallet_id, kind, wallet_micros, held_micros,
        revenue_micros, provider_cost_micros, promotion_micros, purchase_micros, shortfall_micros)
      SELECT id || '.grant', id, 'grant', ${funds}, 0, 0, 0, 0, -${funds}::bigint, 0
      FROM unnest(${ids}::text[]) id`,
  ]);
  await sql`ANALYZE wallets, grants, holds`;
  return ids;
}

/** Who spends: an account, by a key of it or without one. */
export interface BenchSpender {
  accountId: string;
  apiKeyId: string | null;
}

function claimOf(id: string, spender: BenchSpender): GenerationClaim {
  return {
    id,
    ...spender,
    route: '/v1/chat/completions',
    idempotencyKey: id,
    fingerprint: 'f'.repeat(64),
    model: 'svc-sim-chat',
  };
}

/**
 * The product: `generations` also makes and ends the generation of each pair, for one of these
 * spenders after the other.
 */
export function actorTeller(
  url: string,
  generations: boolean,
  spenders: readonly BenchSpender[] = [{ accountId, apiKeyId: null }],
): [Teller, () => Promise<void>] {
  const pool = (connectionsMax: number): Sql =>
    openPool({ url, purpose: 'ledger', connectionsMax, statementTimeoutMs: 4_000 });
  const [sql, writer] = [pool(ACTOR_CONNECTIONS - 1), pool(1)];
  const kind = createWalletKind({
    sql,
    writer,
    clock: Date.now,
    limits: walletLimits,
    log: silent,
  });
  const system = createActorSystem({ node: 1, kinds: [kind], log: silent });
  let holds = 0;
  const refs = new Map<string, ActorRef<WalletProtocol>>();
  const refOf = (walletId: string): ActorRef<WalletProtocol> => {
    const known = refs.get(walletId) ?? system.ref(kind, walletId);
    refs.set(walletId, known);
    return known;
  };
  const teller: Teller = {
    async hold(walletId, holdId) {
      const id = `req${holdId.slice(4)}`;
      const spender = spenders[holds++ % spenders.length];
      if (spender === undefined) throw new Error('nobody spends');
      const claim = claimOf(id, spender);
      const answer = await refOf(walletId).ask(
        'hold',
        {
          holdId,
          amountMicros: AMOUNT,
          owner: { kind: 'generation', id, instanceId },
          expiresAtMs: Date.now() + EXPIRY_MS,
          claim: generations ? claim : null,
        },
        10_000,
      );
      if (!answer.ok || answer.value.status !== 'held') throw new Error('a hold failed');
    },
    async settle(walletId, holdId) {
      const finish = {
        kind: 'generation',
        id: `req${holdId.slice(4)}`,
        status: 'completed' as const,
        answerJson: JSON.stringify({ text: ' t0 t1 t2 t3 t4 t5 t6 t7'.repeat(10) }),
        usageJson: JSON.stringify({ input_tokens: 12, output_tokens: 80 }),
        problemJson: null,
      };
      const answer = await refOf(walletId).ask(
        'settle',
        {
          holdId,
          chargeMicros: CHARGE,
          providerCostMicros: PROVIDER_COST,
          finish: generations ? finish : null,
        },
        10_000,
      );
      if (!answer.ok || answer.value.status !== 'settled') throw new Error('a settlement failed');
    },
  };
  const close = async (): Promise<void> => {
    await system.stop(2_000);
    await Promise.all([sql, writer].map((each) => closePool(each, 1_000)));
  };
  return [teller, close];
}

/** One transaction an operation, its statements pipelined: the row lock is all that orders them. */
function transactionTeller(url: string): [Teller, () => Promise<void>] {
  const sql = openPool({
    url,
    purpose: 'general',
    connectionsMax: TRANSACTION_CONNECTIONS,
    statementTimeoutMs: 0,
  });
  const slack = AMOUNT - CHARGE;
  const revenue = CHARGE - PROVIDER_COST;
  const teller: Teller = {
    async hold(walletId, holdId) {
      const legs = JSON.stringify([{ grant: `grant_${walletId}`, micros: AMOUNT.toString() }]);
      await sql.begin((transaction) => [
        transaction`UPDATE wallets SET version = version + 1,
            wallet_micros = wallet_micros - ${AMOUNT}, held_micros = held_micros + ${AMOUNT}
          WHERE id = ${walletId} AND wallet_micros >= ${AMOUNT}`,
        transaction`UPDATE grants SET held_micros = held_micros + ${AMOUNT}
          WHERE id = ${`grant_${walletId}`}`,
        transaction`INSERT INTO holds (wallet_id, id, amount_micros, legs, owner_kind, owner_id,
            instance_id, claimed, expires_at)
          VALUES (${walletId}, ${holdId}, ${AMOUNT}, ${legs}::text::jsonb, 'generation', ${holdId},
            ${instanceId}, false, ${new Date(Date.now() + EXPIRY_MS)})`,
        transaction`INSERT INTO ledger VALUES (${`${holdId}.hold`}, ${walletId}, 'hold', NULL,
          ${-AMOUNT}, ${AMOUNT}, 0, 0, 0, 0, 0)`,
      ]);
    },
    async settle(walletId, holdId) {
      await sql.begin((transaction) => [
        transaction`UPDATE wallets SET version = version + 1,
            wallet_micros = wallet_micros + ${slack}, held_micros = held_micros - ${AMOUNT},
            revenue_micros = revenue_micros + ${revenue},
            provider_cost_micros = provider_cost_micros + ${PROVIDER_COST}
          WHERE id = ${walletId}`,
        transaction`UPDATE grants SET held_micros = held_micros - ${AMOUNT},
            remaining_micros = remaining_micros - ${CHARGE} WHERE id = ${`grant_${walletId}`}`,
        transaction`DELETE FROM holds WHERE wallet_id = ${walletId} AND id = ${holdId}`,
        transaction`INSERT INTO ledger VALUES (${`${holdId}.end`}, ${walletId}, 'settle', NULL,
          ${slack}, ${-AMOUNT}, ${revenue}, ${PROVIDER_COST}, 0, 0, 0)`,
      ]);
    },
  };
  return [teller, () => closePool(sql, 1_000)];
}

/** Callers in a closed loop, each pair on a wallet that `pick` gives. */
export async function measure(
  teller: Teller,
  callers: number,
  seconds: number,
  pick: () => string,
): Promise<Record<Figure, number>> {
  const holdsMs: number[] = [];
  let pairs = 0;
  let measuring = false;
  let running = true;
  const caller = async (): Promise<void> => {
    while (running) {
      const walletId = pick();
      const holdId = newId('hold', 1);
      const startedMs = performance.now();
      await teller.hold(walletId, holdId);
      if (measuring) holdsMs.push(performance.now() - startedMs);
      await teller.settle(walletId, holdId);
      if (measuring) pairs += 1;
    }
  };
  const all = Promise.all(Array.from({ length: callers }, caller));
  await pause((seconds * 1_000) / 4, all);
  measuring = true;
  const startedMs = performance.now();
  await pause(seconds * 1_000, all);
  const elapsed = (performance.now() - startedMs) / 1_000;
  running = false;
  measuring = false;
  await all;
  return { pairs: pairs / elapsed, p50: percentile(holdsMs, 0.5), p99: percentile(holdsMs, 0.99) };
}

/** Waits, unless the callers fail first. */
async function pause(durationMs: number, failing: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, durationMs);
  });
  await Promise.race([timeout, failing.then(() => undefined)]);
  clearTimeout(timer);
}

interface Contender {
  name: string;
  callers: number;
  open: (url: string) => [Teller, () => Promise<void>];
}

const product = 'wallet actor';
const withGenerations = 'wallet actor with generations';
const baseline = 'a transaction an operation';

async function compare(
  contenders: readonly Contender[],
  walletCount: number,
  options: BenchOptions,
): Promise<Map<string, Record<Figure, number>>> {
  const ground = await openGround();
  try {
    const figures = await interleave<Figure, Contender>(
      contenders,
      options.runs,
      async (contender) => {
        const wallets = await makeWallets(ground.sql, walletCount);
        const [teller, close] = contender.open(ground.url);
        try {
          return await measure(teller, contender.callers, options.seconds ?? SECONDS, () => {
            const index = walletCount === 1 ? 0 : randomBytes(4).readUInt32LE() % walletCount;
            return wallets[index] ?? '';
          });
        } finally {
          await close();
        }
      },
    );
    await assertBooks(ground);
    return figures;
  } finally {
    await ground.stop();
  }
}

function contendersAt(callers: number): Contender[] {
  return [
    { name: `${product}, ${callers} callers`, callers, open: (url) => actorTeller(url, false) },
    {
      name: `${withGenerations}, ${callers} callers`,
      callers,
      open: (url) => actorTeller(url, true),
    },
    { name: `${baseline}, ${callers} callers`, callers, open: (url) => transactionTeller(url) },
  ];
}

type Results = Map<string, Record<Figure, number>>;

function figureOf(results: Results, name: string, figure: Figure): number {
  return results.get(name)?.[figure] ?? Number.NaN;
}

async function assertBooks({ sql }: Ground): Promise<void> {
  const broken = (await auditLedger(sql)).filter((finding) => finding.broken > 0n);
  if (broken.length > 0) throw new Error(`the books are wrong: ${broken[0]?.examples[0]}`);
}

/**
 * Pairs with generations on one new wallet, by whoever `spendersOf` makes for it; undefined: by the
 * account of the ground, without a key. One of each contender a run, and right books in the end.
 */
export async function measurePairs<C extends { name: string }>(
  ground: Ground,
  contenders: readonly C[],
  { runs, callers, seconds }: { runs: number; callers: number; seconds: number },
  spendersOf: (contender: C, walletId: string) => Promise<BenchSpender[] | undefined>,
): Promise<Map<string, Figures<Figure>>> {
  const figures = await interleave<Figure, C>(contenders, runs, async (contender) => {
    const [walletId = ''] = await makeWallets(ground.sql, 1);
    const spenders = await spendersOf(contender, walletId);
    const [teller, close] = actorTeller(ground.url, true, spenders);
    try {
      return await measure(teller, callers, seconds, () => walletId);
    } finally {
      await close();
    }
  });
  await assertBooks(ground);
  return figures;
}

export function report(
  results: Results,
  text: Pick<Report, 'name' | 'title' | 'method' | 'bars'>,
): Report {
  const rows = [...results].map(([name, { pairs, p50, p99 }]) => [
    name,
    rounded(pairs),
    rounded(p50),
    rounded(p99),
  ]);
  return {
    ...text,
    columns: ['', 'pairs a second', 'hold p50 ms', 'hold p99 ms'],
    rows,
    chart: {
      title: text.title,
      unit: 'pairs a second',
      rows: [...results].map(([label, { pairs }]) => ({
        label,
        value: pairs,
        higherIsBetter: true,
      })),
    },
    notes: ['Afterwards the ledger check found the books right.'],
  };
}

/** One wallet that everybody uses. */
export const hotWallet: Bench = {
  name: 'wallet-hot',
  async run(options) {
    const results = await compare([...contendersAt(64), ...contendersAt(256)], 1, options);
    const actor = `${product}, 64 callers`;
    const pairs = figureOf(results, actor, 'pairs');
    const single = figureOf(results, `${baseline}, 64 callers`, 'pairs');
    const bar = { unit: '', sense: 'least' as const };
    return report(results, {
      name: 'wallet-hot',
      title: 'Hold-and-settle pairs on one hot wallet',
      method:
        'Durable (fsync on), double entry, callers in a closed loop in the same process; ' +
        'PostgreSQL beside it on the same cores.',
      bars: [
        { ...bar, text: 'pairs a second, 64 callers', limit: 15_000, measured: pairs },
        {
          ...bar,
          text: 'against a transaction an operation',
          limit: 20,
          measured: pairs / single,
          unit: '×',
        },
        {
          text: 'hold p99, 64 callers',
          limit: 10,
          measured: figureOf(results, actor, 'p99'),
          unit: 'ms',
          sense: 'most',
        },
      ],
    });
  },
};

/** 10,000 wallets, uniformly: nothing to batch on any of them. */
export const coldWallets: Bench = {
  name: 'wallet-cold',
  async run(options) {
    const results = await compare(contendersAt(CALLERS_COLD), COLD_WALLETS, options);
    const pairs = figureOf(results, `${product}, ${CALLERS_COLD} callers`, 'pairs');
    const single = figureOf(results, `${baseline}, ${CALLERS_COLD} callers`, 'pairs');
    const measured = pairs / single;
    const bar = { measured, unit: '×', sense: 'least' as const };
    return report(results, {
      name: 'wallet-cold',
      title: 'Hold-and-settle pairs on 10,000 wallets, uniform',
      method: 'As with one hot wallet; each pair is on a wallet of its own choice.',
      bars: [
        { ...bar, text: 'no worse than a transaction an operation', limit: 1 },
        { ...bar, text: 'the aim', limit: 3 },
      ],
    });
  },
};
