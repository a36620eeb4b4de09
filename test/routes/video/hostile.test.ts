// Video jobs on disks that are full or damaged, and with providers whose files lead elsewhere. What
// cannot be kept costs nothing, and what was kept is served as it was or not at all.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { blobFolder } from '../../../actors/blobs/store.ts';
import { videoScratchFolder } from '../../../actors/video/scratch.ts';
import { makeReadOnly, mountOn, unmount } from '../../harness/disk.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { endOf, makeVideo } from '../../harness/video-jobs.ts';

let bed: Testbed;
let listener: Server;
let connections = 0;
const heads: string[] = [];
before(async () => {
  listener = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => void heads.push(bytes.toString('latin1')));
  });
  listener.listen(0, '::');
  await once(listener, 'listening');
  // An operator's exception is for users' addresses, and opens nothing to a provider's reply.
  const env = {
    TOLLGATE_VIDEO_HASTE: '40',
    TOLLGATE_VIDEO_JOBS_MAX: '200',
    TOLLGATE_FETCH_PRIVATE: `localhost:${port()}`,
  };
  bed = await openTestbed({ env });
});
after(async () => {
  listener?.close();
  await bed?.close();
});

function port(): number {
  const address = listener.address();
  return address === null || typeof address === 'string' ? assert.fail() : address.port;
}

const models = [
  'vendorB-3.1-fast-generate-preview',
  'vendorA-imagine-video',
  'svc-sim-video',
] as const;

async function endFor(directive: string, more: object = {}) {
  const account = await bed.account();
  const prompt = `boat [[sim render_ms=50 ${directive}]]`;
  const body = { prompt, video_model: models[2], duration_seconds: 4, ...more };
  const { job } = await endOf(account, (await makeVideo(account, body)).id);
  const { heldMicros, availableMicros } = await account.balance();
  const isFree = heldMicros === 0n && availableMicros === 1_000_000_000n;
  return { account, job, end: job.error_code ?? job.status, isFree };
}

const disks = [
  ['a full store', () => blobFolder(bed.gateway.dataDir), 'size=16k', false],
  ['a read-only store', () => blobFolder(bed.gateway.dataDir), 'size=1m', true],
  ['a full scratch folder', () => videoScratchFolder(bed.gateway.dataDir), 'size=16k', false],
  ['a read-only scratch folder', () => videoScratchFolder(bed.gateway.dataDir), 'size=1m', true],
] as const;

test('a disk that is full or read-only ends a job for nothing', async (t: TestContext) => {
  for (const [name, folder, options, isReadOnly] of disks) {
    if (!(await mountOn(t, folder(), options))) return;
    try {
      if (isReadOnly) await makeReadOnly(folder());
      const { end, isFree } = await endFor('');
      assert.deepEqual([end, isFree], ['storage_failed', true], name);
    } finally {
      await unmount(folder());
    }
  }
  assert.equal((await endFor('')).end, 'succeeded', 'there is room again');
});

/** The answer up to where it breaks off. */
async function read(response: Response): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  try {
    for await (const part of response.body ?? []) parts.push(part as Uint8Array);
  } catch {
    // Cut off: what came before has to be right.
  }
  return Buffer.concat(parts);
}

const piece = 64 * 1_024;

test('an object that was flipped, cut or reordered is never served as something else', async () => {
  const film = { duration_seconds: 16, resolution: '1080p' };
  const { account, job } = await endFor('', film);
  assert.equal(job.status, 'succeeded', job.error_code);
  const url = `${bed.url}/v1/video/generations/${job.id}/content`;
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const get = (range?: string) =>
    fetch(url, { headers: range === undefined ? headers : { ...headers, range } });
  const whole = await read(await get());
  assert.equal(whole.length, job.video?.sizeBytes);
  const head = await fetch(url, { method: 'HEAD', headers });
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, `${whole.length}`]);
  const [row] = await bed.sql<{ blob_id: string }[]>`
    SELECT blob_id FROM generated_videos WHERE job_id = ${job.id}`;
  const path = join(blobFolder(bed.gateway.dataDir), row?.blob_id ?? '');
  const object = await readFile(path);
  assert.ok(whole.length > 2 * piece, `${whole.length} bytes are more than two pieces`);
  const start = object.length - whole.length - Math.ceil(whole.length / piece) * 16;
  const flipped = Buffer.from(object);
  flipped[start + 100] = (flipped[start + 100] ?? 0) ^ 1;
  const sealed = piece + 16;
  const swapped = Buffer.concat([
    object.subarray(0, start),
    object.subarray(start + sealed, start + 2 * sealed),
    object.subarray(start, start + sealed),
    object.subarray(start + 2 * sealed),
  ]);
  const late = Buffer.from(object);
  late[object.length - 20] = (late[object.length - 20] ?? 0) ^ 1;
  const damages: [name: string, bytes: Buffer, range: string | undefined][] = [
    ['flipped', flipped, undefined],
    ['swapped', swapped, undefined],
    ['cut', object.subarray(0, object.length - 1_000), undefined],
    ['cut to its head', object.subarray(0, start), undefined],
    ['flipped at its end', late, `bytes=${whole.length - 100}-`],
  ];
  for (const [name, bytes, range] of damages) {
    await writeFile(path, bytes);
    const response = await get(range);
    assert.equal(response.status, 503, name);
    assert.match(await response.text(), /dependency_unavailable/, name);
    // From its beginning: what is sent before the damage is found is a part of the film.
    const begun = await read(await get());
    if (begun.length < 1_000) continue;
    assert.ok(begun.length < whole.length, name);
    assert.deepEqual(begun, whole.subarray(0, begun.length), name);
  }
  await writeFile(path, object);
  assert.deepEqual(await read(await get()), whole);
});

test('a file that leads to a place of ours or a private one is not fetched', async () => {
  const places = [
    'http://169.254.169.254/latest/meta-data',
    `http://[::ffff:7f00:1]:${port()}/film.mp4`,
    `http://0x7f.1:${port()}/film.mp4`,
    `http://127.0.0.1:${port()}/film.mp4`,
    `http://localhost:${port()}/film.mp4`,
    `${bed.url}/v1/models`,
  ];
  const ends = places.flatMap((place) =>
    models.map(async (video_model) => {
      const { end, isFree, job } = await endFor(`redirect=${place}`, { video_model });
      assert.deepEqual([end, isFree], ['download_failed', true], place);
      assert.doesNotMatch(JSON.stringify(job.error_message), /http|127|169|simulator|vendor/);
    }),
  );
  await Promise.all(ends);
  assert.deepEqual([connections, heads], [0, []], 'no packet arrives');
});
