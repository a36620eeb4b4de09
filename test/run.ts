// Runs every test file on the compiled output, some at a time, against one throw-away PostgreSQL.
// `--long` runs test/long instead, a file at a time, and keeps what it finds in bench/results.md.
// Any other argument keeps the files whose path contains it.
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startDatabase } from '../runtime/embedded/database.ts';
import { budgets } from './run/budgets.ts';
import { type Durations, readDurations, writeDurations } from './run/durations.ts';
import { kindOf } from './run/kinds.ts';
import { type MachineWatch, paceOf, slownessOf, watchMachine } from './run/machine.ts';
import { type Lane, lanesOf, measuredOf, type TestFile, unitsOf } from './run/plan.ts';
import { type Module, moduleReader, reachOf } from './run/reach.ts';
import { Report } from './run/report.ts';
import {
  atLeast,
  domainTimes,
  overBudgets,
  runSlowness,
  slowFiles,
  slowReasonOf,
} from './run/rules.ts';
import { runLanes, type SuiteTimes } from './run/suite.ts';

/** More than cores: many tests wait for a time that must pass. One more runs what only waits. */
const FILES_AT_ONCE = 3;
/** What hangs is ended: on a busy machine a file takes several times as long as alone. */
const FILE_TIMEOUT_MS = 300_000;
const LONG_FILE_TIMEOUT_MS = 3_600_000;

const root = fileURLToPath(new URL('../../', import.meta.url));
const durationsPath = join(root, 'test', 'run', 'durations.json');
/** What has a sample in the suite runs whole in the long run. */
const SAMPLED = 'test/harness/sample.ts';

interface Found {
  path: string;
  reached: Module[];
}

/** Sources of tests: dist may hold leftovers. */
async function listFiles(isLong: boolean, patterns: string[]): Promise<Found[]> {
  const names = await readdir(join(root, 'test'), { recursive: true });
  const read = moduleReader(root);
  return names
    .filter((name) => name.endsWith('.test.ts'))
    .filter((name) => patterns.length === 0 || patterns.some((part) => name.includes(part)))
    .sort()
    .map((name) => ({ path: `test/${name}`, reached: reachOf(`test/${name}`, read) }))
    .filter(({ path, reached }) => {
      if (path.startsWith('test/long/')) return isLong;
      return !isLong || reached.some((module) => module.path === SAMPLED);
    });
}

/** What the long tests are told: how long, and where to keep what they find. */
function setLongEnvironment(
  { minutes, besides, agents }: Record<'minutes' | 'besides' | 'agents', string>,
  patterns: string[],
): void {
  const asked = ['npm run test:long --', '--minutes', minutes, ...patterns].join(' ');
  process.env.TOLLGATE_TEST_SEED ??= 'new';
  process.env.TOLLGATE_LONG_MINUTES = minutes;
  process.env.TOLLGATE_LONG_BESIDES = besides;
  process.env.TOLLGATE_LONG_RESULTS = join(root, 'bench');
  process.env.TOLLGATE_LONG_COMMAND = asked;
  process.env.TOLLGATE_LONG_AGENTS = agents;
}

const { values, positionals: patterns } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    /** Each file in a process and on a gateway of its own. */
    isolate: { type: 'boolean', default: false },
    /** Writes what files take to `test/run/durations.json`. */
    measure: { type: 'boolean', default: false },
    /** Says which process each file runs in, and runs nothing. */
    plan: { type: 'boolean', default: false },
    /** The length of each soak. */
    minutes: { type: 'string', default: '10' },
    /** What else the machine did meanwhile, for the results. */
    besides: { type: 'string', default: '' },
    /** A folder whose node_modules has the coding agents; without it they are installed. */
    agents: { type: 'string', default: '' },
  },
});

/** Files of the long run come one after the other, as each measures the machine. */
function lanesFor(files: TestFile[]): Lane[] {
  const units = unitsOf(files, values.isolate || values.long);
  if (!values.long) return lanesOf(units, FILES_AT_ONCE);
  const inTurn = units.sort((left, right) => {
    return (left.files[0]?.path ?? '') < (right.files[0]?.path ?? '') ? -1 : 1;
  });
  return [() => inTurn.shift()];
}

/** Runs the work with the server whose address test files are given. */
async function withDatabase<T>(work: () => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-tests-'));
  // As root the database user has to pass through it.
  await chmod(folder, 0o711);
  const quiet = () => undefined;
  const database = await startDatabase({
    dataDir: join(folder, 'data'),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    // Its databases live for seconds: each round of it costs a process for every one of them.
    settings: { max_connections: '300', autovacuum: 'off' },
  });
  process.env.TOLLGATE_TEST_DATABASE_URL = database.url;
  try {
    return await work();
  } finally {
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function keepDurations(known: Durations, times: SuiteTimes, machine: MachineWatch) {
  // A part of the suite alone says nothing about the machine under all of it.
  const isWhole = patterns.length === 0;
  const pace = isWhole || known.pace === null ? paceOf(machine.samples) : known.pace;
  const files = isWhole ? times.measured : { ...known.files, ...times.measured };
  await writeDurations(durationsPath, { pace, files });
}

/** Times that break a rule are failures of the run. */
async function judgeTimes(report: Report, times: SuiteTimes, known: Durations): Promise<void> {
  const slowness = runSlowness(times.files, known.files);
  const files = atLeast(times.files, slowness);
  report.say(`# files took ${slowness.toFixed(2)} times as long as when they were measured`);
  const reasons = new Map<string, string | null>();
  for (const { path } of files) {
    reasons.set(path, slowReasonOf(await readFile(join(root, path), 'utf8')));
  }
  const domains = domainTimes(files, budgets);
  for (const { domain, ms, budgetMs } of domains) {
    report.say(`# budget ${domain}: ${Math.round(ms / 1_000)} of ${budgetMs / 1_000} s`);
  }
  const broken = [
    ...slowFiles(files, (path) => reasons.get(path) ?? null),
    ...overBudgets(domains),
  ];
  for (const rule of broken) report.broke(rule);
}

const print = (text: string) => void process.stdout.write(text);
const report = new Report(root, print);
if (values.long) setLongEnvironment(values, patterns);
const begun = performance.now();
const found = await listFiles(values.long, patterns);
if (found.length === 0) {
  report.say('no test file matches');
  process.exit(1);
}
const known = await readDurations(durationsPath);
const files: TestFile[] = found.map(({ path, reached }) => {
  return { path, kind: kindOf(reached).kind, ...measuredOf(path, known.files) };
});
if (values.plan) {
  for (const { path, reached } of found) {
    const { kind, because } = kindOf(reached);
    report.say(`${kind} ${path}${because === '' ? '' : `: ${because}`}`);
  }
  process.exit(0);
}
const machine = watchMachine();
const times = await withDatabase(() =>
  runLanes(lanesFor(files), {
    fileTimeoutMs: values.long ? LONG_FILE_TIMEOUT_MS : FILE_TIMEOUT_MS,
    compiled: (path) => join(root, 'dist', path.replace(/\.ts$/, '.js')),
    machine,
    measuredPace: known.pace,
    isMeasuring: values.measure,
    onOutcome: (outcome) => report.take(outcome),
    onOutput: print,
  }),
);
machine.stop();
if (values.measure) await keepDurations(known, times, machine);
// Alone each file starts its own gateway: no time of the others says what that may take.
else if (!values.long && !values.isolate) await judgeTimes(report, times, known);
report.say(`# the machine was ${slownessOf(machine.samples, known.pace).toFixed(2)} times as slow`);
report.summarise(performance.now() - begun);
process.exit(report.fail === 0 && report.tests > 0 ? 0 : 1);
