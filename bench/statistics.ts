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

/**
 * Between which two of the values the median of what they were drawn from lies, with at least this
 * probability, whatever its distribution: as many on either side as a fair coin leaves out (the
 * sign test's interval: Conover, Practical Nonparametric Statistics, 3.2). NaN for too few, which
 * is 4 at nine tenths; meant for less than a thousand.
 */
export function medianInterval(
  values: readonly number[],
  probability = 0.9,
): readonly [low: number, high: number] {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length;
  let term = 0.5 ** count;
  let tail = 0;
  let left = 0;
  while (left < count && tail + term <= (1 - probability) / 2) {
    tail += term;
    left += 1;
    term *= (count - left + 1) / left;
  }
  return [sorted[left - 1] ?? Number.NaN, sorted[count - left] ?? Number.NaN];
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
