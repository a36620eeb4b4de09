// Which process a test file runs in: with others, with others on one gateway, or alone. The text of
// the file and of what it reaches decides; a file cannot be forgotten in a list.
import type { Module } from './reach.ts';

/**
 * `batch`: many files in one process. `shared`: the same, on one gateway that all of them use.
 * `own`: the file has a process to itself.
 */
export type Kind = 'batch' | 'shared' | 'own';

export interface Verdict {
  kind: Kind;
  /** Why a file is on its own; empty for the others. */
  because: string;
}

interface Mark {
  pattern: RegExp;
  because: string;
}

/** What tests and their helpers write when they start something that outlives a line of theirs. */
const STARTS: Mark[] = [
  { pattern: /['"]node:child_process['"]/, because: 'it starts processes' },
  { pattern: /['"]node:worker_threads['"]/, because: 'it starts threads' },
];

/** What changes or measures the process as a whole. */
const WHOLE_PROCESS: Mark[] = [
  { pattern: /\bprocess\.(on|once|exit|kill|chdir|exitCode)\b/, because: 'it handles the process' },
  {
    pattern: /\bdelete process\.env\b|\bprocess\.env[\w.[\]]*\s*(\?\?|\|\|)?=(?!=)/,
    because: 'it sets env',
  },
  { pattern: /\bmemoryUsage\b|\bgc\(|['"]node:v8['"]/, because: 'it measures memory' },
  { pattern: /\bmonitorEventLoopDelay\b|\beventLoopUtilization\b/, because: 'it watches the loop' },
  { pattern: /\bAtomics\.wait\(/, because: 'it stops the thread' },
  { pattern: /\bglobalThis(\.\w+|\[[^\]]+\])\s*=(?!=)/, because: 'it changes a global' },
  { pattern: /\bsetGlobalDispatcher\b|\bsetServers\b/, because: 'it changes a global' },
];

const HARNESS = /^test\/harness\/(testbed|gateway|database|port)\.ts$/;
/** The harness starts a PostgreSQL with it, where the runner has given none. */
const SERVER = /^runtime\/(embedded|supervised)/;
const OPENS_BED = /\bopenTestbed\(/g;
/** Without options: the product as it is by default. */
const OPENS_DEFAULT_BED = /\bopenTestbed\(\)/g;

function countOf(pattern: RegExp, modules: Module[]): number {
  return modules.reduce((sum, { code }) => sum + [...code.matchAll(pattern)].length, 0);
}

function firstMark(marks: Mark[], modules: Module[]): string | undefined {
  return marks.find(({ pattern }) => modules.some(({ code }) => pattern.test(code)))?.because;
}

function reachesServer({ specifiers }: Module): boolean {
  return specifiers.some((specifier) => /(^|\/)runtime\/(embedded|supervised)/.test(specifier));
}

const own = (because: string): Verdict => ({ kind: 'own', because });

/** @param reached what a test file reaches, the file first. */
export function kindOf(reached: Module[]): Verdict {
  const reaches = (path: string) => reached.some((module) => module.path === path);
  const tests = reached.filter(({ path }) => path.startsWith('test/') && !HARNESS.test(path));
  const simulated = reached.filter(({ path }) => path.startsWith('bench/'));
  // The server of all files is there already: who only has a database of it starts none.
  const startsServer = tests.some((module) => reachesServer(module));
  const product = reached.filter(({ path }) => {
    return !/^(test|bench)\//.test(path) && (startsServer || !SERVER.test(path));
  });
  const mark =
    firstMark(STARTS, tests) ?? firstMark(WHOLE_PROCESS, [...tests, ...simulated]) ?? null;
  if (mark !== null) return own(mark);
  const opened = countOf(OPENS_BED, tests);
  if (opened > 0) {
    const isDefault = countOf(OPENS_DEFAULT_BED, tests) === opened;
    return isDefault ? { kind: 'shared', because: '' } : own('it says how its gateway is');
  }
  if (reaches('test/harness/gateway.ts')) return own('it starts a gateway');
  if (firstMark(STARTS.slice(0, 1), product) !== undefined) return own('it starts processes');
  return { kind: 'batch', because: '' };
}
