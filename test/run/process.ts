// Runs test files in a process of their own and says what became of each. A file may tell, hang,
// end its process or run nothing. A file that was not reached is left.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Told } from './reporter-task.ts';

export interface Outcome {
  file: string;
  name: string;
  nesting: number;
  ms: number;
  result: 'pass' | 'fail' | 'skip';
  /** Why it failed or was skipped. */
  reason: string;
}

export interface FileEnd {
  file: string;
  ms: number;
}

export interface Watcher {
  onOutcome(outcome: Outcome): void;
  onFileEnd(end: FileEnd): void;
  /** What the files print. */
  onOutput(text: string): void;
  onSpawn?(pid: number): void;
}

export interface ProcessPlan {
  files: string[];
  /** Several files in turn, as suites; else the one file is what the process runs. */
  isBatch: boolean;
  isShared: boolean;
  fileTimeoutMs: number;
}

/** After its last file a process of a batch has only its gateway to end. */
const LINGER_MS = 60_000;
const OUTPUT_MS = 10_000;

const reporter = fileURLToPath(new URL('./reporter-task.js', import.meta.url));
const batchEntry = fileURLToPath(new URL('./batch-child.js', import.meta.url));

/** What the runner knows of a process at each moment. It is fed with what the process tells. */
export class ProcessRecord {
  readonly #plan: ProcessPlan;
  readonly #watcher: Watcher;
  readonly #now: () => number;
  readonly #ended = new Set<string>();
  /** Names of what has begun and not ended, the outermost first. */
  #running: string[] = [];
  #current: string | null;
  #begunMs: number;
  #outcomes = 0;
  #failures = 0;
  #allFailures = 0;
  #isLate = false;

  constructor(plan: ProcessPlan, watcher: Watcher, now: () => number = () => performance.now()) {
    this.#plan = plan;
    this.#watcher = watcher;
    this.#now = now;
    this.#begunMs = now();
    this.#current = plan.isBatch ? null : (plan.files[0] ?? null);
  }

  /** Files that did not come to their turn. */
  get left(): string[] {
    return this.#plan.files.filter((file) => !this.#ended.has(file));
  }

  get #file(): string {
    return this.#current ?? [...this.#ended].at(-1) ?? this.#plan.files[0] ?? '';
  }

  take(told: Told): void {
    const nesting = this.#plan.isBatch ? told.nesting - 1 : told.nesting;
    if (told.type === 'file') this.#begin(told.name);
    else if (told.type === 'note') this.#fail('outside of any test', told.error);
    else if (nesting < 0) this.#takeFileSuite(told);
    else if (told.type === 'start') this.#running[nesting] = told.name;
    else this.#takeTest(told, nesting);
  }

  #begin(file: string): void {
    this.#current = file;
    this.#begunMs = this.#now();
    this.#running = [];
    this.#outcomes = 0;
    this.#failures = 0;
  }

  #takeTest({ type, name, ms, isSuite, skipped, error, failureType }: Told, nesting: number): void {
    this.#running.length = Math.min(this.#running.length, nesting);
    const isOwnFailure = type === 'fail' && failureType !== 'subtestsFailed';
    // A suite is no test; what its hooks throw is nowhere else.
    if (isSuite && !isOwnFailure) return;
    this.#outcomes += 1;
    if (type === 'fail') {
      this.#failures += 1;
      this.#allFailures += 1;
    }
    const result = type === 'fail' ? 'fail' : skipped === null ? 'pass' : 'skip';
    const reason = result === 'skip' ? (skipped ?? '') : error;
    this.#watcher.onOutcome({ file: this.#file, name, nesting, ms, result, reason });
  }

  #takeFileSuite({ type, error, failureType }: Told): void {
    if (type === 'start') return;
    if (type === 'fail' && failureType !== 'subtestsFailed') this.#fail('the file itself', error);
    this.#end();
  }

  #fail(name: string, reason: string): void {
    this.#failures += 1;
    this.#allFailures += 1;
    const ms = this.#now() - this.#begunMs;
    const common = { file: this.#file, nesting: 0, ms, result: 'fail' as const };
    this.#watcher.onOutcome({ ...common, name, reason });
  }

  #end(): void {
    const file = this.#current;
    if (file === null) return;
    if (this.#outcomes === 0 && this.#failures === 0) {
      this.#fail('the file itself', 'the file ran no test');
    }
    this.#ended.add(file);
    this.#watcher.onFileEnd({ file, ms: this.#now() - this.#begunMs });
    this.#current = null;
    this.#begunMs = this.#now();
    this.#running = [];
  }

  /** How long the file of this moment, or the end after the last, may still take. */
  msLeft(): number {
    const isOver = this.#plan.isBatch && this.left.length === 0;
    return this.#begunMs + (isOver ? LINGER_MS : this.#plan.fileTimeoutMs) - this.#now();
  }

  /** It took too long, and the process will be killed. */
  late(): void {
    this.#isLate = true;
    const where = this.#running.length === 0 ? '' : `, in: ${this.#running.join(' › ')}`;
    const seconds = Math.round(this.#plan.fileTimeoutMs / 1_000);
    if (this.left.length > 0) this.#fail('the file itself', `no end after ${seconds} s${where}`);
    else this.#fail('the end of a process', `something still runs after: ${this.#plan.files}`);
  }

  /** The process is gone. */
  exit(code: number | null, signal: NodeJS.Signals | null): void {
    const where = this.#running.length === 0 ? '' : `, in: ${this.#running.join(' › ')}`;
    const end = `the process ended with ${code ?? signal}`;
    const isTold = this.#isLate || this.#allFailures > 0;
    if (this.#plan.isBatch) {
      // Died before its first file: nothing else would make the runner go on.
      if (this.#current === null && this.#ended.size === 0) this.#begin(this.#plan.files[0] ?? '');
      if (this.#current !== null && !this.#isLate) this.#fail('the file itself', `${end}${where}`);
      else if (code !== 0 && !isTold) this.#fail('the end of a process', end);
    } else if (code !== 0 && !isTold) {
      this.#fail('the file itself', `${end}${where}`);
    }
    this.#end();
  }
}

function start({ files, isBatch, isShared }: ProcessPlan): ChildProcess {
  const entry = isBatch ? [batchEntry, ...files] : files;
  const env: NodeJS.ProcessEnv = { ...process.env };
  delete env.NODE_TEST_CONTEXT;
  if (isShared) env.TOLLGATE_TEST_SHARED = '1';
  return spawn(process.execPath, [`--test-reporter=${reporter}`, ...entry], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
}

type Exit = [code: number | null, signal: NodeJS.Signals | null];

/** Once it has told everything. Whoever holds its output after its end is not waited for long. */
function endOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (...exit: Exit) => resolve(exit));
    child.once('exit', (...exit: Exit) => setTimeout(() => resolve(exit), OUTPUT_MS).unref());
  });
}

/** Resolves with the files that are left, which want another process. */
export async function runProcess(plan: ProcessPlan, watcher: Watcher): Promise<string[]> {
  const record = new ProcessRecord(plan, watcher);
  const child = start(plan);
  if (child.pid !== undefined) watcher.onSpawn?.(child.pid);
  const { stdout, stderr, stdio } = child;
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => watcher.onOutput(text));
  }
  const lines = createInterface({ input: stdio[3] as Readable });
  lines.on('line', (line) => record.take(JSON.parse(line) as Told));
  const timer = setInterval(() => {
    if (record.msLeft() > 0) return;
    clearInterval(timer);
    record.late();
    child.kill('SIGKILL');
  }, 250);
  const [code, signal] = await endOf(child);
  clearInterval(timer);
  record.exit(code, signal);
  return record.left;
}
