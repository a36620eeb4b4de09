// kill -9 while objects are put, wrapped anew and removed. What was told is there, what is there is
// whole, and what is left over is unfinished.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BlobFault } from '../../../media/blobs/contract.ts';
import { createFileBlobStore } from '../../../media/blobs/file-store.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { sampledRuns } from '../../harness/sample.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { readAll, sha256Of } from './store-bed.ts';

const program = fileURLToPath(new URL('./putting-child.js', import.meta.url));
const random = createRandom(testSeed);

interface Told {
  stored: Map<string, string>;
  removing: Set<string>;
  removed: Set<string>;
}

/** Lets the program work for a while, kills it, and gives what it had told. */
async function workAndDie(folder: string, keys: [string, string]): Promise<Told> {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [program, folder, ...keys], { stdio: [...stdio] });
  let output = '';
  child.stdout?.on('data', (piece) => {
    output += piece;
  });
  while (output === '') {
    assert.equal(child.exitCode, null, 'it ended by itself');
    await sleep(5);
  }
  await sleep(random() * 60);
  child.kill('SIGKILL');
  await once(child, 'close');
  const told: Told = { stored: new Map(), removing: new Set(), removed: new Set() };
  // The last line may be cut.
  for (const line of output.split('\n').slice(0, -1)) {
    const [word, id = '', sha256 = ''] = line.split(' ');
    if (word === 'stored') told.stored.set(id, sha256);
    else if (word === 'removing') told.removing.add(id);
    else told.removed.add(id);
  }
  return told;
}

test('after a kill at any moment no object is lost or half there', async () => {
  console.log(`# seed ${testSeed}`);
  for (let round = 0; round < sampledRuns(100, 6); round += 1) {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-killed-'));
    const former = randomBytes(32).toString('base64url');
    const present = randomBytes(32).toString('base64url');
    const told = await workAndDie(folder, [former, present]);
    const sealers = [createSealer(present), createSealer(former)] as const;
    const store = createFileBlobStore({ folder, sealers, node: 1 });
    for await (const { id } of store.list()) {
      try {
        const { bytes, sha256 } = await store.stat(id);
        assert.equal(sha256Of(await readAll(store, id, 0, bytes)), sha256, id);
        assert.equal(told.stored.get(id) ?? sha256, sha256, id);
        assert.equal(told.removed.has(id), false, id);
      } catch (error) {
        // A removal that had begun left a file without a key.
        assert.ok(error instanceof BlobFault && error.reason === 'missing', `${id}: ${error}`);
        assert.ok(told.removing.has(id), `${id} has lost its key`);
      }
    }
    for (const id of told.stored.keys()) {
      if (!told.removing.has(id)) await store.stat(id);
    }
    await store.dropUnfinished(-1);
    const left = (await readdir(folder)).filter((name) => !/^blob_[0-9a-f]{24}$/.test(name));
    assert.deepEqual(left, []);
    await rm(folder, { recursive: true });
  }
});
