// Memory of a gateway over time: what its process has resident, and what its threads still hold
// after a collection of garbage, which they are asked for through a file (`soak-thread.ts`).
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rssBytesOf } from '../../bench/proc.ts';
import { median } from '../../bench/statistics.ts';
import { openGateway, until } from '../chaos/reach.ts';
import type { Gateway } from '../harness/gateway.ts';

const ANSWER_MS = 15_000;
const MB = 1_048_576;

export interface Sample {
  minutes: number;
  rssMb: number;
  /** Of the main thread and every shard together, after a collection. */
  heapMb: number;
  externalMb: number;
}

export interface Watched {
  gateway: Gateway;
  samples: Sample[];
  sample(): Promise<Sample>;
  close(): Promise<void>;
}

/** A gateway whose threads can be asked for their heaps. */
export async function openWatched(
  shards: number,
  env: Record<string, string> = {},
): Promise<Watched> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-soak-'));
  const module = new URL('./soak-thread.js', import.meta.url);
  module.searchParams.set('folder', folder);
  const gateway = await openGateway({
    shards,
    env: { NODE_OPTIONS: `--import ${module.href}`, ...env },
  });
  const main = await gateway.mainPid();
  const begun = performance.now();
  const samples: Sample[] = [];
  let asked = 0;
  const heapOf = async (node: number): Promise<[number, number] | null> => {
    const text = await readFile(join(folder, `heap-${node}`), 'utf8').catch(() => '');
    const [number, heap, external] = text.split(' ').map(Number);
    if (number !== asked || heap === undefined || external === undefined) return null;
    return [heap, external];
  };
  const sample = async (): Promise<Sample> => {
    asked += 1;
    await writeFile(join(folder, 'ask'), String(asked));
    const heaps: [number, number][] = [];
    for (let node = 0; node <= shards; node += 1) {
      await until(
        `thread ${node} tells its heap`,
        ANSWER_MS,
        async () => {
          const heap = await heapOf(node);
          if (heap !== null) heaps.push(heap);
          return heap !== null;
        },
        50,
      );
    }
    const sum = (at: 0 | 1) => heaps.reduce((total, heap) => total + heap[at], 0) / MB;
    const minutes = (performance.now() - begun) / 60_000;
    const taken = { minutes, rssMb: rssBytesOf([main]) / MB, heapMb: sum(0), externalMb: sum(1) };
    samples.push(taken);
    return taken;
  };
  return {
    gateway,
    samples,
    sample,
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/**
 * The median of the last quarter over that of the second: the first is warming up. 1: flat.
 */
export function growthOf(samples: readonly Sample[], read: (sample: Sample) => number): number {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  const early = samples.slice(quarter, 2 * quarter).map(read);
  const late = samples.slice(-quarter).map(read);
  return early.length === 0 ? 1 : median(late) / median(early);
}
