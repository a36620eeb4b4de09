// What a run fails for besides its tests: a file that takes too long without a reason, and a domain
// over its budget. Both know how slow the machine was, while the file ran and over the run.
import { FACTOR_MAX } from './machine.ts';
import type { Measured } from './plan.ts';

export interface FileTime {
  /** From the root: `test/db/driver/array.test.ts`. */
  path: string;
  ms: number;
  /** How many times slower than the measured machine it was while the file ran. */
  slowness: number;
}

/** A shorter file says more about its start than about the machine. */
const TELLING_MS = 1_000;
/** The middle of fewer files may be any of them. */
const TELLING_FILES = 20;
const SLOW_FILE_S = 20;
/** The budget of a domain that the table does not name. */
const USUAL_BUDGET_S = 20;
/** `// slow: It waits for real deadlines.`, on a line of its own. */
const SLOW_REASON = /^\/\/ slow: (\S.*)$/m;

/**
 * Returns how many times longer the run's files took than when they were measured, from 1 on. It is
 * the middle of them all: a file that has become slower itself does not move it.
 */
export function runSlowness(
  files: readonly FileTime[],
  measured: Readonly<Record<string, Measured>>,
): number {
  const ratios = files
    .flatMap(({ path, ms }) => {
      const before = measured[path]?.ms ?? 0;
      return before < TELLING_MS ? [] : [ms / before];
    })
    .sort((left, right) => left - right);
  if (ratios.length < TELLING_FILES) return 1;
  const middle = ratios[Math.floor(ratios.length / 2)] ?? 1;
  return Math.min(Math.max(middle, 1), FACTOR_MAX);
}

/** Returns the files with the slowness of the run, where it is more than their own. */
export function atLeast(files: readonly FileTime[], slowness: number): FileTime[] {
  return files.map((file) => ({ ...file, slowness: Math.max(file.slowness, slowness) }));
}

/** What the file says in its own text; null when it says nothing. */
export function slowReasonOf(text: string): string | null {
  return SLOW_REASON.exec(text)?.[1] ?? null;
}

/** Its folder: two names at most below `test`. */
export function domainOf(path: string): string {
  const folders = path.split('/').slice(1, -1);
  return folders.length === 0 ? 'test' : folders.slice(0, 2).join('/');
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const times = (slowness: number) => `${slowness.toFixed(1)} times`;

/** @param reasonOf what a file says about itself. */
export function slowFiles(
  files: readonly FileTime[],
  reasonOf: (path: string) => string | null,
): string[] {
  return files
    .filter(({ ms, slowness }) => ms / slowness > SLOW_FILE_S * 1_000)
    .filter(({ path }) => reasonOf(path) === null)
    .map(
      ({ path, ms, slowness }) =>
        `${path} took ${seconds(ms)} on a machine ${times(slowness)} as slow; ${SLOW_FILE_S} s` +
        ' are allowed: make it faster, or write why it is not: // slow: …',
    );
}

export interface DomainTime {
  domain: string;
  /** As on the machine that measured. */
  ms: number;
  budgetMs: number;
}

export function domainTimes(
  files: readonly FileTime[],
  budgets: Readonly<Record<string, number>>,
): DomainTime[] {
  const sums = new Map<string, number>();
  for (const { path, ms, slowness } of files) {
    const domain = domainOf(path);
    sums.set(domain, (sums.get(domain) ?? 0) + ms / slowness);
  }
  return [...sums].map(([domain, ms]) => {
    return { domain, ms, budgetMs: (budgets[domain] ?? USUAL_BUDGET_S) * 1_000 };
  });
}

export function overBudgets(domains: readonly DomainTime[]): string[] {
  return domains
    .filter(({ ms, budgetMs }) => ms > budgetMs)
    .map(
      ({ domain, ms, budgetMs }) =>
        `${domain} took ${seconds(ms)} as on the machine that measured; its budget in` +
        ` test/run/budgets.ts is ${seconds(budgetMs)}`,
    );
}
