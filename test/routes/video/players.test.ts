// Other people's players and downloaders at a private video: ranges, resumption, a session by
// cookie.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { noChromium, openChromium } from '../../harness/chromium.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { endOf, makeVideo } from '../../harness/video-jobs.ts';

const run = promisify(execFile);
const { path: ffprobe } = createRequire(import.meta.url)('@ffprobe-installer/ffprobe') as {
  path: string;
};

let bed: Testbed;
let folder: string;
let url: string;
let cookie: string;
let whole: { sha256: string; sizeBytes: number };
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_VIDEO_HASTE: '20' } });
  folder = await mkdtemp(join(tmpdir(), 'tollgate-players-'));
  const account = await bed.account();
  const made = await makeVideo(account, { prompt: 'A paper boat', duration_seconds: 8 });
  const { job } = await endOf(account, made.id);
  assert.ok(job.video !== undefined, job.error_code);
  whole = job.video;
  url = `${bed.url}${job.video.url}`;
  cookie = `svc_session=${account.sessionToken}`;
});
after(async () => {
  await bed?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

test('ffprobe reads the address with a cookie', async () => {
  const options = ['-v', 'error', '-headers', `Cookie: ${cookie}\r\n`];
  const shown = ['-show_entries', 'format=duration:stream=codec_type', '-of', 'json'];
  const { stdout } = await run(ffprobe, [...options, ...shown, url]);
  const read = JSON.parse(stdout) as {
    format: { duration: string };
    streams: { codec_type: string }[];
  };
  assert.ok(Math.abs(Number(read.format.duration) - 8) < 0.5, read.format.duration);
  assert.ok(read.streams.some(({ codec_type: type }) => type === 'video'));
});

test('curl takes a part, and goes on where a download broke off', async (t) => {
  if (
    await run('curl', ['--version']).then(
      () => false,
      () => true,
    )
  ) {
    t.skip('there is no curl here');
    return;
  }
  const sizeOfPart = 1_000;
  const path = join(folder, 'video.mp4');
  const part = ['-sf', '-H', `Cookie: ${cookie}`, '-r', `0-${sizeOfPart - 1}`, '-o', path, url];
  await run('curl', part);
  assert.equal((await readFile(path)).length, sizeOfPart);
  await run('curl', ['-sf', '-H', `Cookie: ${cookie}`, '-C', '-', '-o', path, url]);
  const bytes = await readFile(path);
  assert.equal(bytes.length, whole.sizeBytes);
  assert.equal(createHash('sha256').update(bytes).digest('hex'), whole.sha256);
  // A file that changed since is not gone on with.
  await writeFile(path, bytes.subarray(0, sizeOfPart));
  const other = ['-H', 'If-Range: "another"', '-H', `Cookie: ${cookie}`];
  const status = await run('curl', [
    '-s',
    ...other,
    '-r',
    '10-19',
    '-o',
    path,
    '-w',
    '%{http_code}',
    url,
  ]);
  assert.equal(status.stdout, '200');
});

test('Chromium seeks to five places', { skip: noChromium }, async () => {
  const browser = await openChromium();
  try {
    const context = await browser.newContext();
    const [name = '', value = ''] = cookie.split('=');
    await context.addCookies([{ name, value, url: bed.url }]);
    const page = await context.newPage();
    await page.goto(url);
    const places = [6, 1, 7.5, 3, 0.2];
    const reached = await page.evaluate<number[]>(`(async () => {
      const video = document.querySelector('video');
      video.pause();
      const found = [];
      for (const each of ${JSON.stringify(places)}) {
        const seeked = new Promise((resolve) => {
          video.addEventListener('seeked', resolve, { once: true });
        });
        video.currentTime = each;
        await seeked;
        found.push(video.currentTime);
      }
      return found;
    })()`);
    assert.deepEqual(reached, places);
  } finally {
    await browser.close();
  }
});
