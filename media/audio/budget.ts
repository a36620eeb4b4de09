// Bytes of audio that wait for clients, counted over all shards of the process in shared memory.
// Each shard has a counter of its own, so that one that was restarted begins at nothing.
import { strict as assert } from 'node:assert';

/** What a playout takes and gives back at once: 1.4 s of 24 kHz audio. */
export const blockBytes = 64 * 1_024;

export interface AudioBudget {
  /** Takes blocks whether there is room or not: what every session is guaranteed. */
  take(blocks: number): void;
  /** False: no room, nothing was taken. */
  tryTake(blocks: number): boolean;
  giveBack(blocks: number): void;
  /** Of all shards, in bytes. */
  readonly usedBytes: number;
  readonly bytesMax: number;
}

/** Made once by the main thread, for `openAudioBudget` on every shard. */
export function createBudgetCounters(shards: number): SharedArrayBuffer {
  return new SharedArrayBuffer(shards * Int32Array.BYTES_PER_ELEMENT);
}

/**
 * The view of one shard. Two that take the last block at once may both get it: the bound may be
 * passed by a block for each shard.
 */
export function openAudioBudget(
  counters: SharedArrayBuffer,
  shard: number,
  bytesMax: number,
): AudioBudget {
  const used = new Int32Array(counters);
  assert(shard >= 0 && shard < used.length, 'the shard has a counter');
  Atomics.store(used, shard, 0);
  const total = () => {
    let blocks = 0;
    for (let index = 0; index < used.length; index++) blocks += Atomics.load(used, index);
    return blocks;
  };
  const take = (blocks: number) => {
    Atomics.add(used, shard, blocks);
  };
  return {
    take,
    tryTake(blocks) {
      if ((total() + blocks) * blockBytes > bytesMax) return false;
      take(blocks);
      return true;
    },
    giveBack(blocks) {
      const before = Atomics.sub(used, shard, blocks);
      assert(before >= blocks, 'only what was taken is given back');
    },
    get usedBytes() {
      return total() * blockBytes;
    },
    bytesMax,
  };
}
