// The memory of a store. A large object goes in and comes out without being there as a whole, and
// its work leaves turns to others.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { boundsOf, openStoreBed, type StoreBed } from './store-bed.ts';

let bed: StoreBed;
before(async () => {
  bed = await openStoreBed();
});
after(() => bed.close());

const mib = 1_048_576;

/** The most that buffers took while the work was done, beyond what they took before. */
async function peakOf(work: (look: () => void) => Promise<void>): Promise<number> {
  const before = process.memoryUsage().arrayBuffers;
  let peak = 0;
  const look = () => {
    peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
  };
  await work(look);
  return peak;
}

test('96 MiB go in and out within 32 MiB of buffers', async () => {
  const chunk = Buffer.alloc(48_000, 'x');
  const count = Math.ceil((96 * mib) / chunk.length);
  let id = '';
  const written = await peakOf(async (look) => {
    async function* chunks() {
      for (let index = 0; index < count; index += 1) {
        if (index % 16 === 0) look();
        yield chunk;
      }
    }
    ({ id } = await bed.store.put(chunks(), boundsOf({ bytesMax: 128 * mib })));
  });
  let turns = 0;
  const turning = setInterval(() => {
    turns += 1;
  }, 1);
  let bytes = 0;
  const read = await peakOf(async (look) => {
    for await (const part of bed.store.read(id, 0, count * chunk.length)) {
      bytes += part.length;
      look();
    }
  });
  clearInterval(turning);
  assert.equal(bytes, count * chunk.length);
  assert.ok(written < 32 * mib && read < 32 * mib, `${written} and ${read} bytes`);
  assert.ok(turns > 20, `${turns} turns of others`);
});
