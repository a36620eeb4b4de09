// What `load/blocks.ts` has noted in a gateway's shards: the longest delays of a stretch of time,
// with and without the waits of their threads for a core.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Block {
  endedMs: number;
  blockMs: number;
  waitedMs: number;
}

/** One line of the notes. */
export function parseBlock(line: string): Block {
  const [endedMs = 0, blockMs = 0, waitedMs = 0] = line.split(' ').map(Number);
  return { endedMs, blockMs, waitedMs };
}

/** The longest delay that is left of any block when its wait for a core is taken off, in ms. */
export function longestWorkMs(blocks: readonly Block[]): number {
  return blocks.reduce((most, { blockMs, waitedMs }) => Math.max(most, blockMs - waitedMs), 0);
}

/** The blocks of all shards that ended in this stretch of time (ms since 1970). */
export function blocksBetween(folder: string, fromMs: number, toMs: number): Block[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.blocks'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
    .map(parseBlock)
    .filter(({ endedMs }) => endedMs >= fromMs && endedMs <= toMs);
}
