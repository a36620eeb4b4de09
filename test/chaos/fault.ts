// Asks the threads of a gateway for a fault; see `fault-thread.ts`.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Gateway } from '../harness/gateway.ts';
import { openGateway } from './reach.ts';

export interface Faults {
  gateway: Gateway;
  /** An error that nobody catches, in this shard. */
  throwIn(node: number): Promise<void>;
  exhaustHeapOf(node: number): Promise<void>;
  close(): Promise<void>;
}

export interface FaultOptions {
  /** Bounds the heap of each thread. */
  heapMb?: number;
  /** The generation whose upstream answers `poison` crashes. */
  isPoisoned?: boolean;
}

/** A gateway whose shards can be asked for faults. */
export async function startFaulty({ heapMb, isPoisoned }: FaultOptions = {}): Promise<Faults> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-faults-'));
  const module = new URL('./fault-thread.js', import.meta.url);
  module.searchParams.set('folder', folder);
  if (isPoisoned === true) module.searchParams.set('poison', '1');
  const options = [`--import ${module.href}`];
  if (heapMb !== undefined) options.push(`--max-old-space-size=${heapMb}`);
  const gateway = await openGateway({ env: { NODE_OPTIONS: options.join(' ') } });
  return {
    gateway,
    throwIn: (node) => writeFile(join(folder, `throw-${node}`), ''),
    exhaustHeapOf: (node) => writeFile(join(folder, `heap-${node}`), ''),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
