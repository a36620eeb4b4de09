// A kept speech that is told again: its file is open while a client takes it, and not else.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { storedSpeech } from '../../../routes/audio/stored.ts';
import type { Services } from '../../../routes/services.ts';
import { piece } from '../../harness/audio-provider.ts';
import { type Serving, serve, testRoute, until } from '../../runtime/http/serving.ts';

const warned: object[] = [];
let folder: string;
let services: Services;
let serving: Serving;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-stored-'));
  await writeFile(join(folder, 'one'), piece);
  const log = { warn: (details: object) => warned.push(details) };
  services = { audio: { keptFolder: folder }, log } as unknown as Services;
  serving = await serve([testRoute({ path: '/v1/stored', handle: () => told('one') })]);
});
after(async () => {
  await serving.stop();
  await rm(folder, { recursive: true, force: true });
});

function told(file: string, bytes = piece.length) {
  const stored = { type: 'speech', file, media_type: 'audio/mpeg', bytes } as const;
  return storedSpeech(services, stored, {});
}

/** Files of the folder that this process has open. */
async function openFiles(): Promise<string[]> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`));
  const paths = await Promise.all(links.map((link) => link.catch(() => '')));
  return paths.filter((path) => path.startsWith(folder));
}

const onlyLinux = { skip: process.platform !== 'linux' };

test('nothing stays open of a reply that its client has not waited for', onlyLinux, async () => {
  await told('one');
  assert.deepEqual(await openFiles(), []);
});

test('nothing stays open of one that was read', onlyLinux, async () => {
  const reply = await fetch(`${serving.origin}/v1/stored`);
  assert.deepEqual(Buffer.from(await reply.arrayBuffer()), piece);
  const deadline = performance.now() + 30_000;
  while ((await openFiles()).length > 0) assert.ok(performance.now() < deadline, 'still open');
});

test('a file that is gone is a conflict, and one that goes meanwhile is cut', async () => {
  await assert.rejects(told('two'), { code: 'conflict' });
  await assert.rejects(told('one', piece.length + 1), { code: 'conflict' }, 'half of it is none');
  await writeFile(join(folder, 'three'), piece);
  const reply = await told('three');
  await rm(join(folder, 'three'));
  assert.ok('pour' in reply);
  const ends: string[] = [];
  reply.pour({
    write: () => true,
    end: () => void ends.push('end'),
    fail: () => void ends.push('fail'),
    onDrain: () => {},
    onClose: () => {},
  } as never);
  await until(() => ends.length > 0);
  assert.deepEqual([ends, warned.length], [['fail'], 1]);
});
