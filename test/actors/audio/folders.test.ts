// The folders of audio at a start: what a crash left goes, what another process uses stays.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { audioFolders, prepareAudioFolders } from '../../../actors/audio/folders.ts';

test('a start beside others takes nothing from them, one that is alone clears up', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-folders-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const { scratch, kept } = audioFolders(dataDir);
  await prepareAudioFolders(dataDir, false);
  await mkdir(kept);
  await writeFile(join(scratch, 'req_1'), 'a recording that a program reads');
  await writeFile(join(kept, 'req_2.part'), 'speech that an earlier build was writing');
  await writeFile(join(kept, 'req_3'), 'speech that it kept');
  const lie = async () => [await readdir(scratch), await readdir(kept)];
  await prepareAudioFolders(dataDir, false);
  assert.deepEqual(await lie(), [['req_1'], ['req_2.part', 'req_3']]);
  await prepareAudioFolders(dataDir, true);
  assert.deepEqual(await lie(), [[], ['req_3']]);
});
