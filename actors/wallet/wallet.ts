// The wallet actor: a batcher in front of a row version and of constraints. Its state is a cache;
// two actors for one wallet are slower, never wrong. Start with `ledger.ts` for the rules.
import type { ActorContext, ActorKind } from '../../runtime/actor/contract.ts';
import { createWalletEngine, emptyMemory, type WalletEntry, type WalletMemory } from './engine.ts';
import { createLedgerAccess, type WalletDependencies } from './ledger-access.ts';
import type { WalletLimits } from './limits.ts';
import type { WalletMetrics } from './metrics.ts';
import type { WalletProtocol } from './protocol.ts';
import { look } from './standing.ts';

/** The kind, for one shard: all its wallets share the access to the ledger, which coalesces. */
export function createWalletKind(
  dependencies: WalletDependencies,
): ActorKind<WalletProtocol, WalletMemory> {
  const { writer, clock, limits, metrics } = dependencies;
  const engine = createWalletEngine(dependencies, createLedgerAccess(dependencies));
  return {
    name: 'wallet',
    parent: 'money',
    placement: 'hashed',
    supervision: { strategy: 'restart', crashesMax: 10, withinMs: 10_000 },
    mailboxLengthMax: limits.mailboxLengthMax,
    idleTimeoutMs: limits.idleTimeoutMs,
    // Loaded by the first batch: a database that is down is an answer then, not a crash.
    start: (context) => emptyMemory(context.id),
    behaviour: {
      batch: {
        lengthMax: limits.batchLengthMax,
        ...(writer === undefined ? {} : { overlapFrom: limits.overlapFrom }),
        async receive(memory, batch, context) {
          const startedAt = performance.now();
          const entries = metrics === undefined ? batch : counted(batch, metrics);
          const rest = answerLooks(memory, entries, clock(), limits.lookFreshMs);
          if (rest.length === 0) return;
          await engine.run(memory, rest);
          metrics?.batch(rest.length, (performance.now() - startedAt) / 1_000);
          lookAgain(memory, context, limits);
          if (dependencies.low !== undefined) tellLow(memory, dependencies.low, limits);
        },
      },
    },
  };
}

/**
 * Answers the looks that memory is enough for, and returns the other entries. One that finds too
 * little is proved like a balance, unless the wallet was read a moment ago.
 */
function answerLooks(
  memory: WalletMemory,
  entries: readonly WalletEntry[],
  nowMs: number,
  freshMs: number,
): readonly WalletEntry[] {
  const { wallet, loadedMs } = memory;
  if (wallet === null || !entries.some(({ message }) => message === 'look')) return entries;
  const isFresh = performance.now() - loadedMs < freshMs;
  return entries.filter((entry) => {
    if (entry.message !== 'look') return true;
    const reply = look(wallet, entry.payload, nowMs);
    const isEnough = reply.status === 'ok' && reply.availableMicros >= entry.payload.amountMicros;
    if (!isEnough && !isFresh) return true;
    entry.reply(reply);
    return false;
  });
}

/** While holds are in doubt any batch clears them up, so a timer is for a wallet that is silent. */
function lookAgain(
  memory: WalletMemory,
  context: Pick<ActorContext<WalletProtocol>, 'after'>,
  { doubtMsMin, doubtMsMax }: WalletLimits,
): void {
  const nowMs = performance.now();
  const sinceMs = memory.doubt?.sinceMs ?? nowMs;
  memory.doubt?.timer.cancel();
  memory.doubt = null;
  if (memory.uncertain.size === 0) return;
  const delayMs = Math.min(Math.max(nowMs - sinceMs, doubtMsMin), doubtMsMax);
  memory.doubt = { sinceMs, timer: context.after(delayMs, 'balance', {}) };
}

/** After a write, so that nobody waits for it. Whoever is told looks at the wallet's row itself. */
function tellLow(
  memory: WalletMemory,
  low: NonNullable<WalletDependencies['low']>,
  { lowApartMs }: WalletLimits,
): void {
  const { wallet, lowToldMs } = memory;
  if (wallet === null || wallet.watched === null) return;
  if (wallet.balances.walletMicros >= wallet.watched.belowMicros) return;
  const nowMs = performance.now();
  if (nowMs - lowToldMs < lowApartMs) return;
  memory.lowToldMs = nowMs;
  low({ accountId: wallet.watched.accountId, walletId: wallet.id });
}

/** The same entries, whose answers are counted as they leave. */
function counted(batch: readonly WalletEntry[], metrics: WalletMetrics): WalletEntry[] {
  return batch.map((entry) => {
    const reply = (value: { status: string }) => {
      metrics.operation(entry.message, value.status);
      // The union of entries has lost which reply belongs to which message.
      (entry.reply as (answer: unknown) => void)(value);
    };
    return { message: entry.message, payload: entry.payload, reply } as WalletEntry;
  });
}
