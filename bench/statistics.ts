// Order statistics of small samples. Percentiles are nearest-rank: always a value that was
// measured.

/** The middle value; the mean of the two middle ones for an even count. NaN for no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  if (sorted.length % 2 === 1) return upper;
  return (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Nearest-rank percentile, `fraction` in 0..1. NaN for no values. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.min(sorted.length, Math.max(1, Math.ceil(sorted.length * fraction)));
  return sorted[rank - 1] ?? Number.NaN;
}

/** Rounds for a table: three significant digits, and never an exponent. */
export function rounded(value: number): string {
  if (!Number.isFinite(value)) return 'n/a';
  const magnitude = Math.abs(value);
  if (magnitude >= 100) return Math.round(value).toLocaleString('en-US');
  if (magnitude >= 10) return value.toFixed(1);
  if (magnitude < 1 && magnitude > 0) return value.toFixed(3);
  return value.toFixed(2);
}
