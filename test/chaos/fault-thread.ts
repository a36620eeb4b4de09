// Loaded into the threads of a gateway under test by `--import`, so that the product needs no hook
// for it: throws in a shard or exhausts its heap when a file says so, and poisons one message of
// the generation whose upstream answers `poison`. Its folder is in the module's own address.
import { existsSync, rmSync } from 'node:fs';
import { register } from 'node:module';
import { join } from 'node:path';
import { isMainThread, workerData } from 'node:worker_threads';

const POLL_MS = 10;
const POISON = 'poison';

/** Every shard's thread, and no other one, is started with its node. */
function shardNode(): number | null {
  const { shard } = (workerData ?? {}) as { shard?: unknown };
  return !isMainThread && typeof shard === 'number' ? shard : null;
}

function exhaustHeap(): void {
  const kept: unknown[] = [];
  for (;;) kept.push(new Array<number>(1_000_000).fill(kept.length + 0.5));
}

function watch(folder: string, node: number): void {
  const throwFile = join(folder, `throw-${node}`);
  const heapFile = join(folder, `heap-${node}`);
  setInterval(() => {
    if (existsSync(heapFile)) {
      rmSync(heapFile);
      exhaustHeap();
    }
    if (!existsSync(throwFile)) return;
    rmSync(throwFile);
    throw new Error('an error that nobody catches');
  }, POLL_MS).unref();
}

async function poison(): Promise<void> {
  const { Cell } = await import('../../runtime/actor/cell.ts');
  const { deliver } = Cell.prototype;
  Cell.prototype.deliver = function poisoned(message, payload, replyTo) {
    const isPoison = message === 'upstreamEvents' && JSON.stringify(payload).includes(POISON);
    return deliver.call(this, message, isPoison ? null : payload, replyTo);
  };
}

/** What is joined in the bundle cannot be reached from here: the process runs what tsc wrote. */
function leaveBundle(): void {
  const hooks = `export async function resolve(name, context, next) {
    const found = await next(name, context);
    return { ...found, url: found.url.replace('/dist/bundle/', '/dist/') };
  }`;
  register(`data:text/javascript,${encodeURIComponent(hooks)}`);
}

const asked = new URL(import.meta.url).searchParams;
const folder = asked.get('folder');
const node = shardNode();
if (folder !== null && node !== null) watch(folder, node);
if (asked.has('poison')) {
  if (isMainThread) leaveBundle();
  if (node !== null) await poison();
}
