// Versions of apps and browsers: numbers with dots, compared number by number. Pure.

export const versionPattern = /^\d{1,9}(?:\.\d{1,9}){0,5}(?:[-+.][A-Za-z0-9.+-]{1,20})?$/;

/** Below, above or equal to zero. A number that is missing is 0; what follows them is left out. */
export function compareVersions(one: string, other: string): number {
  const ones = numbersOf(one);
  const others = numbersOf(other);
  for (let index = 0; index < Math.max(ones.length, others.length); index += 1) {
    const difference = (ones[index] ?? 0) - (others[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersOf(version: string): number[] {
  const numbers = /^v?(\d{1,9}(?:\.\d{1,9}){0,5})/.exec(version)?.[1] ?? '';
  return numbers.split('.').map(Number);
}
