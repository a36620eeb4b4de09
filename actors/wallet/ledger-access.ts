// What all wallets of a shard share: the way to the database. Loads and writes of many wallets are
// coalesced into few statements; errors become outcomes. `unavailable` means: nobody knows.
import { type ClaimHolder, type ClaimKey, findClaimHolders, findKeys } from '../../db/claims.ts';
import {
  classifyError,
  errorFields,
  type Sql,
  type SqlFailure,
  withDeadline,
} from '../../db/driver/sql.ts';
import type { WalletWrite } from '../../db/ledger/write.ts';
import { createLedger, type Ledger } from '../../db/ledger.ts';
import { addSpenders } from '../../db/spend/holds.ts';
import {
  type EntryRow,
  findEntries,
  findUsedOperations,
  loadWallets,
  type WalletRow,
} from '../../db/wallets.ts';
import { createCoalescer, type Submit } from './coalescer.ts';
import type { Holders } from './holder.ts';
import { holders as allHolders } from './holders.ts';
import { assertWalletLimits, type WalletLimits, type WalletLog } from './limits.ts';
import type { WalletMetrics } from './metrics.ts';

export interface WalletDependencies {
  /** The ledger pool of this shard. */
  sql: Sql;
  /**
   * For writing, a pool of one connection: a wallet's writes are done in the order in which they
   * were decided, so its batches may overlap. Absent: `sql`, and they do not.
   */
  writer?: Sql;
  /** Milliseconds since 1970. */
  clock: () => number;
  limits: WalletLimits;
  log: WalletLog;
  metrics?: WalletMetrics;
  /** A wallet has less than its account wants; told at most once in a while. */
  low?: (wallet: { accountId: string; walletId: string }) => void;
  /** Whatever may hold funds; absent: what the product has. */
  holders?: Holders;
}

/**
 * `conflict`: another version, nothing written. `duplicate`: a unique index refused, nothing
 * written. `refused`: another constraint did, or a bug: nothing written.
 */
export type WriteOutcome = 'applied' | 'conflict' | 'duplicate' | 'refused' | 'unavailable';
export type Found<T> = { ok: true; value: T } | { ok: false };

export interface LedgerAccess {
  readonly holders: Holders;
  load: Submit<string, Found<WalletRow | null>>;
  write: Submit<WalletWrite, WriteOutcome>;
  findEntries(walletId: string, operationIds: string[]): Promise<Found<Map<string, EntryRow>>>;
  /** Which of the operation ids any wallet or audit event has. */
  findUsed(operationIds: string[]): Promise<Found<string[]>>;
  findHolders(keys: ClaimKey[]): Promise<Found<ClaimHolder[]>>;
  /** Owners that the write would end for who was replaced. */
  findReplaced(write: WalletWrite): Promise<Found<string[]>>;
  findKeys(generationIds: string[]): Promise<Found<(ClaimKey & { generationId: string })[]>>;
}

const RETRIES_MAX = 5;

export function createLedgerAccess(dependencies: WalletDependencies): LedgerAccess {
  const { sql, limits, holders = allHolders } = dependencies;
  assertWalletLimits(limits);
  const ledger = createLedger(holders.all.map(({ rows }) => rows));
  const group = { lengthMax: limits.walletsPerStatementMax, weightMax: limits.rowsPerStatementMax };
  const read = <T>(query: () => Promise<T>): Promise<Found<T>> => attempt(dependencies, query);
  return {
    holders,
    load: createCoalescer(
      async (ids: string[]): Promise<Found<WalletRow | null>[]> => {
        const found = await read(() => load(sql, holders, ids));
        if (!found.ok) return ids.map(() => found);
        return ids.map((id) => ({ ok: true, value: found.value.get(id) ?? null }));
      },
      { ...group, inFlightMax: limits.loadsInFlightMax, weight: () => 1, key: (id) => id },
    ),
    write: createCoalescer((writes: WalletWrite[]) => writeAll(dependencies, ledger, writes), {
      ...group,
      inFlightMax: limits.writesInFlightMax,
      weight: ledger.writeLength,
      key: (write) => write.walletId,
    }),
    findEntries: (walletId, operationIds) => read(() => findEntries(sql, walletId, operationIds)),
    findUsed: (operationIds) => read(() => findUsedOperations(sql, operationIds)),
    findHolders: (keys) => read(() => findClaimHolders(sql, keys, limits.keyKeptMs)),
    findReplaced: (write) => read(() => findReplaced(sql, holders, write)),
    findKeys: (generationIds) => read(() => findKeys(sql, generationIds)),
  };
}

/** Keys of holds are read apart: only wallets that count need them. */
async function load(sql: Sql, holders: Holders, ids: string[]): Promise<Map<string, WalletRow>> {
  const wallets = await loadWallets(sql, ids);
  const rows = holders.all.map((holder) => holder.rows);
  await addSpenders(sql, rows, wallets);
  return wallets;
}

async function findReplaced(sql: Sql, holders: Holders, write: WalletWrite): Promise<string[]> {
  const found: string[] = [];
  for (const { rows } of holders.all) {
    const ends = write.owned[rows.fence?.part ?? ''] ?? [];
    if (rows.fence === undefined || ends.length === 0) continue;
    found.push(...(await rows.fence.findReplaced(sql, ends)));
  }
  return found;
}

/** A read: what is not an answer within the deadline is `unavailable`; bugs are thrown. */
async function attempt<T>(
  dependencies: WalletDependencies,
  query: () => Promise<T>,
): Promise<Found<T>> {
  for (let retries = 0; ; retries += 1) {
    try {
      const value = await withDeadline(query(), dependencies.limits.statementDeadlineMs);
      return { ok: true, value };
    } catch (error) {
      const failure = classifyError(error);
      if (failure === 'retry' && retries < RETRIES_MAX) continue;
      if (failure !== 'unavailable' && failure !== 'retry') throw error;
      dependencies.log.warn(errorFields(error), 'the ledger cannot be read');
      return { ok: false };
    }
  }
}

async function writeAll(
  dependencies: WalletDependencies,
  ledger: Ledger,
  writes: WalletWrite[],
): Promise<WriteOutcome[]> {
  const { sql, writer = sql, limits, log } = dependencies;
  for (let retries = 0; ; retries += 1) {
    try {
      const applied = await withDeadline(
        ledger.applyWrites(writer, writes),
        limits.statementDeadlineMs,
      );
      return writes.map((write) => (applied.has(write.walletId) ? 'applied' : 'conflict'));
    } catch (error) {
      const failure = classifyError(error);
      if (failure === 'retry' && retries < RETRIES_MAX) continue;
      if (failure === 'unavailable' || failure === 'retry') {
        log.warn(errorFields(error), 'the ledger cannot be written');
        return writes.map(() => 'unavailable');
      }
      // One of many is at fault: each alone, so that the others do not feel it.
      if (writes.length > 1) return writeEach(dependencies, ledger, writes);
      if (failure !== 'unique') log.error(errorFields(error), 'the ledger refused a write');
      return [outcomeOf(failure)];
    }
  }
}

async function writeEach(
  dependencies: WalletDependencies,
  ledger: Ledger,
  writes: WalletWrite[],
): Promise<WriteOutcome[]> {
  const outcomes: WriteOutcome[] = [];
  for (const write of writes) outcomes.push(...(await writeAll(dependencies, ledger, [write])));
  return outcomes;
}

function outcomeOf(failure: SqlFailure): WriteOutcome {
  return failure === 'unique' ? 'duplicate' : 'refused';
}
