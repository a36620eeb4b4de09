// Entry of `npm start`: reads the environment, runs the parent, turns its end into an exit code.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { assertProgramsUsable } from '../media/tools/programs.ts';
import { assertFilesUsable, ConfigError, describeVariables, readConfig } from './config.ts';
import { compiledFile, entryFile, sourceFile } from './files.ts';
import { createLog } from './log.ts';
import { type ParentEnd, runParent } from './parent.ts';

/** npm and the terminal both deliver one Ctrl-C; a signal this much later is a second one. */
const SAME_SIGNAL_MS = 1_500;

function scriptPath(path: string): string {
  return fileURLToPath(compiledFile(path));
}

/** The first signal asks for a drain, a later one for an end without it. */
function listenToSignals(): { stopSignal: AbortSignal; forceSignal: AbortSignal } {
  const stop = new AbortController();
  const force = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    if (!stop.signal.aborted) {
      firstAt = performance.now();
      stop.abort();
    } else if (performance.now() - firstAt > SAME_SIGNAL_MS) force.abort();
  };
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, onSignal);
  return { stopSignal: stop.signal, forceSignal: force.signal };
}

async function run(): Promise<ParentEnd> {
  const signals = listenToSignals();
  try {
    const config = readConfig();
    await Promise.all([assertFilesUsable(config), assertProgramsUsable(config)]);
    // The parent logs little, and what it logs last must not be lost.
    const log = createLog({ level: config.logLevel, base: { process: 'parent' }, sync: true });
    return await runParent({
      config,
      log,
      mainPath: fileURLToPath(await entryFile('runtime/main.js')),
      simulatorPath: scriptPath('bench/sim/main.js'),
      ...signals,
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { code: 1, message: error.message };
  }
}

/** A program of its own: it may know the catalog, which this one may not. */
async function runPlan(): Promise<number> {
  const child = fork(scriptPath('runtime/commands/catalog-plan.js'), { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

// npm has looked already; a unit of systemd may start this file itself.
await import(sourceFile('runtime/build/node-version.mjs').href);
const given = new Set(process.argv.slice(2));
const unknown = [...given].find((argument) => !['--help', '-h', '--plan'].includes(argument));
if (given.has('--help') || given.has('-h')) {
  // Whoever reads them may have seen enough, as `| head` does.
  process.stdout.on('error', () => {});
  process.stdout.write(`${describeVariables()}\n`);
} else if (unknown !== undefined) {
  process.stderr.write(`tollgate cannot run: there is no option ${unknown}: see --help\n`);
  process.exit(1);
} else if (given.has('--plan')) {
  process.exit(await runPlan());
} else {
  const end = await run();
  if (end.message !== null) process.stderr.write(`tollgate cannot run: ${end.message}\n`);
  process.exit(end.code);
}
