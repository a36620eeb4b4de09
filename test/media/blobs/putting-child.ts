// Puts, wraps anew and removes without end, until it is killed: whatever it has been told is
// durable stands on its output. Its arguments are a folder and two master keys.
import { randomBytes } from 'node:crypto';
import { createFileBlobStore } from '../../../media/blobs/file-store.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { boundsOf, inChunks, sha256Of } from './store-bed.ts';

const [folder = '', former = '', present = ''] = process.argv.slice(2);
const earlier = createFileBlobStore({ folder, sealers: [createSealer(former)], node: 1 });
const sealers = [createSealer(present), createSealer(former)] as const;
const store = createFileBlobStore({ folder, sealers, node: 2 });

/** What stands on a line is true from then on. */
function tell(...words: string[]): void {
  process.stdout.write(`${words.join(' ')}\n`);
}

async function work(size: number): Promise<void> {
  for (;;) {
    const bytes = randomBytes(size);
    const { id } = await earlier.put(inChunks(bytes, 50_000), boundsOf());
    tell('stored', id, sha256Of(bytes));
    await store.rewrap(id);
    if (size % 2 === 0) continue;
    tell('removing', id);
    await store.remove(id);
    tell('removed', id);
  }
}

await Promise.all([1_000, 70_001, 200_000, 300_001].map(work));
