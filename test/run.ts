// Runs every test file on the compiled output, some at a time, against one throw-away PostgreSQL.
// `--long` runs test/long instead, a file at a time, and keeps what it finds in bench/results.md.
// Any other argument keeps the files whose path contains it.
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect, parseArgs } from 'node:util';
import { startDatabase } from '../runtime/embedded/database.ts';

/** More than cores: many tests wait for a time that must pass. One more runs those of WAITING. */
const FILES_AT_ONCE = 3;
/** Of what hangs: on a busy machine a file takes several times as long as alone. */
const FILE_TIMEOUT_MS = 300_000;
const LONG_FILE_TIMEOUT_MS = 3_600_000;
const SLOW_FILE_MS = 20_000;
/**
 * They wait for nearly all of their time: beside the others they cost next to nothing. The longest
 * come first, so that none of them runs on alone.
 */
const WAITING = [
  'runtime/start',
  'routes/pages/voice/ends',
  'runtime/two-processes',
  'runtime/embedded',
  'actors/voice/standstill',
  'conformance/openai',
  'media/providers/generation/standstill',
  'actors/generation/managed-failover',
  'actors/voice/ends',
  'actors/generation/clients',
  'routes/limits',
  'routes/admin/probes',
  'actors/generation/deadlines',
  'runtime/awake',
  'actors/generation/managed-search',
  'actors/voice/session',
  'db/driver/lost',
  'runtime/http/server',
  'db/driver/idle-transaction',
  'routes/audio/simulator',
  'routes/discovery',
  'actors/generation/funds-run-dry',
  'media/providers/generation/call',
];

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Compiled test files that still have a source: dist may hold leftovers. */
async function listFiles(withLong: boolean, patterns: string[]): Promise<string[]> {
  const names = await readdir(join(root, 'test'), { recursive: true });
  return names
    .filter((name) => name.endsWith('.test.ts'))
    .filter((name) => withLong === name.startsWith('long/'))
    .filter((name) => patterns.length === 0 || patterns.some((part) => name.includes(part)))
    .sort()
    .map((name) => join(root, 'dist', 'test', name.replace(/\.ts$/, '.js')));
}

interface Totals {
  tests: number;
  pass: number;
  fail: number;
  skipped: number;
  failures: string[];
  fileMs: Map<string, number>;
}

interface Outcome {
  name: string;
  nesting: number;
  file?: string;
  skip?: string | boolean;
  details: { duration_ms: number; type?: string; error?: Error };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function shortPath(file: string | undefined): string {
  return file === undefined ? '' : relative(join(root, 'dist'), file);
}

/** The error that the test threw, without the runner's wrapping around it. */
function describe(error: Error | undefined): string {
  const cause = error?.cause instanceof Error ? error.cause : error;
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : inspect(error?.cause);
  return text.replaceAll(`file://${root}`, '').replaceAll(root, '');
}

function report(totals: Totals, ended: boolean, outcome: Outcome): void {
  const { name, nesting, file, details, skip } = outcome;
  if (details.type === 'suite') return;
  // A file that passes as a whole declared no test, or left before its tests ran.
  const empty = ended && name === file;
  const passed = ended && !empty;
  const took = Math.round(details.duration_ms);
  const path = shortPath(file);
  totals.tests += 1;
  totals.fileMs.set(path, (totals.fileMs.get(path) ?? 0) + (nesting === 0 ? took : 0));
  const indent = '  '.repeat(nesting);
  if (skip !== undefined && skip !== false) {
    totals.skipped += 1;
    say(`${indent}- ${path}: ${name} (skipped: ${skip})`);
  } else if (passed) {
    totals.pass += 1;
    say(`${indent}✔ ${path}: ${name} (${took} ms)`);
  } else {
    totals.fail += 1;
    say(`${indent}✖ ${path}: ${name} (${took} ms)`);
    const reason = empty ? 'the file ran no test' : describe(details.error);
    totals.failures.push(`✖ ${path}: ${name}\n${reason}`);
  }
}

/** One after the other, each in a process of its own. */
async function runLane(take: () => string | undefined, timeout: number, totals: Totals) {
  for (let file = take(); file !== undefined; file = take()) {
    const stream = run({ files: [file], concurrency: 1, timeout });
    stream.on('test:pass', (event) => report(totals, true, event as Outcome));
    stream.on('test:fail', (event) => report(totals, false, event as Outcome));
    // What test files print themselves, such as their seeds.
    stream.on('test:stdout', (event) => process.stdout.write(event.message));
    stream.on('test:stderr', (event) => process.stderr.write(event.message));
    stream.resume();
    await new Promise((resolve, reject) => stream.once('end', resolve).once('error', reject));
  }
}

/**
 * Those that load the machine never run beside each other, and come first; those that only wait
 * have a lane of their own. Long ones run one after the other.
 */
async function runFiles(files: string[], withLong: boolean): Promise<Totals> {
  const totals: Totals = {
    tests: 0,
    pass: 0,
    fail: 0,
    skipped: 0,
    failures: [],
    fileMs: new Map(),
  };
  const isChaos = (file: string) => shortPath(file).startsWith('test/chaos/');
  const isAt = (file: string, path: string) => shortPath(file) === `test/${path}.test.js`;
  const isWaiting = (file: string) => WAITING.some((path) => isAt(file, path));
  const chaos = files.filter(isChaos);
  const waiting = WAITING.flatMap((path) => files.filter((file) => isAt(file, path)));
  const others = files.filter((file) => !isChaos(file) && !isWaiting(file));
  const usual = () => others.shift() ?? waiting.shift();
  const lanes = withLong
    ? [() => files.shift()]
    : [
        () => chaos.shift() ?? usual(),
        () => waiting.shift(),
        ...Array.from({ length: FILES_AT_ONCE - 1 }, () => usual),
      ];
  const timeout = withLong ? LONG_FILE_TIMEOUT_MS : FILE_TIMEOUT_MS;
  await Promise.all(lanes.map((take) => runLane(take, timeout, totals)));
  return totals;
}

function summarise(totals: Totals, durationMs: number): void {
  for (const failure of totals.failures) say(`\n${failure}`);
  for (const [file, took] of totals.fileMs) {
    if (took > SLOW_FILE_MS) say(`# slow: ${file} took ${Math.round(took / 1_000)} s`);
  }
  say('');
  say(`# tests ${totals.tests}`);
  say(`# pass ${totals.pass}`);
  say(`# fail ${totals.fail}`);
  say(`# skipped ${totals.skipped}`);
  say(`# duration_ms ${Math.round(durationMs)}`);
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
    /** Of each soak. */
    minutes: { type: 'string', default: '10' },
    /** What else the machine did meanwhile, for the results. */
    besides: { type: 'string', default: '' },
    /** A folder whose node_modules has the coding agents; without it they are installed. */
    agents: { type: 'string', default: '' },
  },
});
const withLong = values.long;
if (withLong) setLongEnvironment(values, patterns);
const begun = performance.now();
const files = await listFiles(withLong, patterns);
if (files.length === 0) {
  say('no test file matches');
  process.exit(1);
}
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
let totals: Totals;
try {
  totals = await runFiles(files, withLong);
} finally {
  await database.stop();
  await rm(folder, { recursive: true, force: true });
}
summarise(totals, performance.now() - begun);
process.exit(totals.fail === 0 && totals.tests > 0 ? 0 : 1);
