// Wallet operations without an actor system: for the main thread before a shard runs, and tools.
// The same engine and the same guarantees; a wallet stays in memory while operations wait for it.
import type { PayloadOf, ReplyOf } from '../../runtime/actor/contract.ts';
import { createWalletEngine, emptyMemory, type WalletEntry } from './engine.ts';
import { createLedgerAccess, type WalletDependencies } from './ledger-access.ts';
import type { WalletProtocol } from './protocol.ts';

type Message = keyof WalletProtocol & string;

/** Performs one operation. Rejects only on a bug. */
export type DirectWallet = <M extends Message>(
  walletId: string,
  message: M,
  payload: PayloadOf<WalletProtocol, M>,
) => Promise<ReplyOf<WalletProtocol, M>>;

interface Waiting {
  entry: WalletEntry;
  reject: (error: unknown) => void;
}

/** Operations on one wallet go in order and in batches, those of many wallets share statements. */
export function createDirectWallet(dependencies: WalletDependencies): DirectWallet {
  const engine = createWalletEngine(dependencies, createLedgerAccess(dependencies));
  const queues = new Map<string, Waiting[]>();

  async function drain(walletId: string, queue: Waiting[]): Promise<void> {
    const memory = emptyMemory(walletId);
    while (queue.length > 0) {
      const batch = queue.splice(0, dependencies.limits.batchLengthMax);
      try {
        await engine.run(
          memory,
          batch.map((waiting) => waiting.entry),
        );
      } catch (error) {
        for (const waiting of batch) waiting.reject(error);
      }
    }
    queues.delete(walletId);
  }

  return (walletId, message, payload) =>
    new Promise((resolve, reject) => {
      // The entry's type cannot be derived from a message that is not known here.
      const entry = { message, payload, reply: resolve } as unknown as WalletEntry;
      const queue = queues.get(walletId);
      if (queue !== undefined) {
        queue.push({ entry, reject });
        return;
      }
      const started = [{ entry, reject }];
      queues.set(walletId, started);
      drain(walletId, started).catch(reject);
    });
}
