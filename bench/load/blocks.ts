// Loaded into a gateway by `--import`: notes each time that a shard's loop was held up, and how
// much of that its thread stood ready without a core. The folder is in the module's own address:
// the gateway refuses unknown variables.
import { appendFileSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';

/** Short, so that nearly all of a wait within an interval belongs to the delay. */
const INTERVAL_MS = 2;
const NOTED_MS_MIN = 4;

const folder = new URL(import.meta.url).searchParams.get('folder');
const isShard = /runtime\/shard\.js$/.test(process.argv[1] ?? '');
if (folder !== null && isShard) watch(join(folder, `${threadId}.blocks`));

/** A line each: when it was over (ms since 1970), how long it was and its waits were (ms). */
function watch(path: string): void {
  // Opened by the thread it is about, it stays about that thread.
  const file = openSync('/proc/thread-self/schedstat', 'r');
  const bytes = Buffer.alloc(96);
  /** Its second field: nanoseconds ready to run, but not running. */
  const waitedMs = (): number => {
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return Number(bytes.toString('latin1', 0, length).split(' ')[1]) / 1e6;
  };
  let [beforeMs, waitedBeforeMs] = [performance.now(), waitedMs()];
  const timer = setInterval(() => {
    const [nowMs, waitedNowMs] = [performance.now(), waitedMs()];
    const blockMs = nowMs - beforeMs;
    if (blockMs >= NOTED_MS_MIN) {
      const line = [Date.now(), blockMs.toFixed(3), (waitedNowMs - waitedBeforeMs).toFixed(3)];
      appendFileSync(path, `${line.join(' ')}\n`);
    }
    [beforeMs, waitedBeforeMs] = [nowMs, waitedNowMs];
  }, INTERVAL_MS);
  timer.unref();
}
