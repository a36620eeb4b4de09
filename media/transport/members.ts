// JSON objects as unknown members: what arrives from a server is never trusted to have a shape.
import type { TokenUsage, UsageReport } from '../model/usage.ts';

export type Members = Record<string, unknown>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Many times the window of any model. What is reported beyond it is a provider's mistake, and its
 * charge would not fit into the ledger: the statement would fail, with all wallets that share it.
 */
const countMax = 100_000_000;

/** Whether it counts something; whole it need not be. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= countMax;
}

/** Usage of which both totals are counts, or marked as one that is not to be charged by. */
export function checkedReport(usage: TokenUsage, input: unknown, output: unknown): UsageReport {
  return isCount(input) && isCount(output) ? usage : { ...usage, unreadable: true };
}

/** What is no count is 0. */
export function count(value: unknown): number {
  return isCount(value) ? Math.floor(value) : 0;
}

/** As a word, whatever it is: an object whose `toString` is no function is none to `String`. */
export function wordOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'unreadable';
  }
}
