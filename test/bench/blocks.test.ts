// The notes of blocked loops: those of the stretch that is asked for, and what is work in them.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { blocksBetween, longestWorkMs } from '../../bench/blocks.ts';

test('blocks of all shards within a stretch are found, and the longest work in them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-blocks-'));
  try {
    await writeFile(join(folder, '1.blocks'), '1000 90.000 1.000\n2000 30.500 25.250\n');
    await writeFile(join(folder, '2.blocks'), '2500 12.000 2.000\n3001 70.000 0.000\n');
    await writeFile(join(folder, 'other'), '2500 99.000 0.000\n');
    const blocks = blocksBetween(folder, 2_000, 3_000);
    assert.deepEqual(blocks, [
      { endedMs: 2_000, blockMs: 30.5, waitedMs: 25.25 },
      { endedMs: 2_500, blockMs: 12, waitedMs: 2 },
    ]);
    // Not that of the longest block: of that one, nearly all was a wait.
    assert.equal(longestWorkMs(blocks), 10);
    assert.equal(longestWorkMs([]), 0);
  } finally {
    await rm(folder, { recursive: true });
  }
});
