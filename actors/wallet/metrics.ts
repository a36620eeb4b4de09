// What a thread counts of its wallets.
import type { MetricsRegistry } from '../../runtime/metrics-registry.ts';

const BATCH_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2];
const BATCH_LENGTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

export interface WalletMetrics {
  /** One batch, from its first decision to its last answer. */
  batch(length: number, seconds: number): void;
  /** One operation, such as `hold` and `held`. */
  operation(name: string, outcome: string): void;
}

/** Declares them in the registry of the thread. */
export function createWalletMetrics(registry: MetricsRegistry): WalletMetrics {
  const batchLength = registry.histogram({
    name: 'tollgate_wallet_batch_length',
    help: 'Operations in one committed batch.',
    bounds: BATCH_LENGTHS,
  });
  const batchSeconds = registry.histogram({
    name: 'tollgate_wallet_batch_seconds',
    help: 'Time to decide and commit one batch.',
    bounds: BATCH_SECONDS,
  });
  const operations = registry.counter(
    'tollgate_wallet_operations_total',
    'Wallet operations by what came of them.',
    ['operation', 'outcome'],
  );
  return {
    batch(length, seconds) {
      batchLength.observe(length);
      batchSeconds.observe(seconds);
    },
    operation: (name, outcome) => operations(name, outcome),
  };
}
