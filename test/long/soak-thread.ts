// Loaded into the threads of a gateway under soak by `--import`: collects garbage and writes down
// its heap when a file asks for it, so that the product needs no hook. Its address has the folder.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread, workerData } from 'node:worker_threads';

const POLL_MS = 100;

/** The main thread is 0, a shard its node; the parent, the simulator and pool threads are none. */
function nodeHere(): number | null {
  if (isMainThread) return /runtime\/main\.js$/.test(process.argv[1] ?? '') ? 0 : null;
  const { shard } = (workerData ?? {}) as { shard?: unknown };
  return typeof shard === 'number' ? shard : null;
}

function readAsked(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function watch(folder: string, node: number): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let answered = '';
  setInterval(() => {
    const asked = readAsked(join(folder, 'ask'));
    if (asked === '' || asked === answered) return;
    answered = asked;
    collect();
    const { heapUsed, external } = process.memoryUsage();
    writeFileSync(join(folder, `heap-${node}`), `${asked} ${heapUsed} ${external}`);
  }, POLL_MS).unref();
}

const folder = new URL(import.meta.url).searchParams.get('folder');
const node = nodeHere();
if (folder !== null && node !== null) watch(folder, node);
