// Sources that lie: each has a name for what is wrong, costs little, and opens nothing but itself.
// What a file refers to is there and would decode: a program that followed it would find a film.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import ffprobeInstaller from '@ffprobe-installer/ffprobe';
import type { VideoContainer } from '../../../media/video/container.ts';
import { extractFrames } from '../../../media/video/frames.ts';
import { inspectVideo } from '../../../media/video/inspect.ts';
import { probeVideo } from '../../../media/video/probe.ts';
import {
  bars,
  box,
  filmHead,
  h264,
  makeVideo,
  openVideoFolder,
  type VideoFolder,
} from '../../harness/videos.ts';

const run = promisify(execFile);
let folder: VideoFolder;
const requested: string[] = [];
const listener = createServer((request, response) => {
  requested.push(request.url ?? '');
  response.end();
});
before(async () => {
  folder = await openVideoFolder();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  await makeVideo(...bars(4), ...h264, pathOf('film.mp4'));
});
after(async () => {
  listener.close();
  await folder.remove();
});

function pathOf(name: string): string {
  return join(folder.path, name);
}

async function write(name: string, ...parts: (Uint8Array | string)[]): Promise<string> {
  await writeFile(pathOf(name), Buffer.concat(parts.map((part) => Buffer.from(part))));
  return name;
}

/** As a generated video and as a source. */
async function faultsOf(name: string): Promise<(string | null)[]> {
  const path = pathOf(name);
  const expectation = { seconds: 4, resolution: '720p', ratio: '16:9', hasSound: true } as const;
  const generated = { path, silentPath: `${path}.silent`, expectation };
  const source = { path, startSeconds: null, endSeconds: null, framesMax: 4 };
  const [inspected, extracted] = [
    await inspectVideo(generated, folder.tools),
    await extractFrames(source, folder.tools),
  ];
  return [inspected.ok ? null : inspected.fault, extracted.ok ? null : extracted.fault];
}

/** What would open the film, or ask the listener for one. */
function references(): string[] {
  const { port } = listener.address() as AddressInfo;
  const film = pathOf('film.mp4');
  const url = `http://127.0.0.1:${port}/film.mp4`;
  return [film, url].flatMap((target) => [
    `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n${target}\n#EXT-X-ENDLIST\n`,
    `ffconcat version 1.0\nfile '${target}'\n`,
    `concat:${target}|${target}`,
    `subfile,,start,0,end,0,,:${target}`,
    `<?xml version="1.0"?><MPD><BaseURL>${target}</BaseURL></MPD>`,
  ]);
}

test('playlists, lists and pages are no films, whatever they are called', async () => {
  const page = '<!doctype html><title>not found</title>';
  for (const [index, text] of [...references(), page].entries()) {
    assert.deepEqual(await faultsOf(await write(`${index}.mp4`, text)), ['not_video', 'not_video']);
  }
  assert.deepEqual(await faultsOf(await write('empty.mp4')), ['empty', 'empty']);
  assert.deepEqual(requested, []);
});

test('behind the head of a film they are nothing that can be read', async () => {
  const nothings = ['unreadable', 'cut', 'no_index', 'no_video_stream'];
  for (const [index, text] of references().entries()) {
    const content = Buffer.from(text);
    const named = [await write(`box-${index}.mp4`, filmHead, box('moov', content))];
    named.push(await write(`raw-${index}.mp4`, filmHead, content));
    for (const name of named) {
      for (const fault of await faultsOf(name)) {
        assert.ok(nothings.includes(fault ?? ''), `${name}: ${fault}`);
      }
    }
  }
  assert.deepEqual(requested, []);
});

test('the programs themselves follow none of them', async () => {
  // As if the first bytes had not been looked at.
  const film: VideoContainer = { demuxer: 'mov', mime: 'video/mp4' };
  const webm: VideoContainer = { demuxer: 'matroska', mime: null };
  for (const [index, text] of references().entries()) {
    const path = pathOf(await write(`unseen-${index}.mp4`, text));
    for (const container of [film, webm]) {
      const probed = await probeVideo({ path, container }, folder.tools.quick, 60_000);
      assert.equal(probed, 'unreadable');
    }
  }
  const { port } = listener.address() as AddressInfo;
  const remote = { path: `http://127.0.0.1:${port}/film.mp4`, container: film };
  assert.equal(await probeVideo(remote, folder.tools.quick, 60_000), 'unreadable');
  assert.deepEqual(requested, []);
});

/** An alias record of QuickTime, by which a film names the file with its media. */
function alias(path: string): Buffer {
  const record = Buffer.alloc(150);
  const name = Buffer.from(path.length % 2 === 0 ? path : `${path}\0`);
  const kind = Buffer.alloc(4);
  kind.writeUInt16BE(2, 0);
  kind.writeUInt16BE(name.length, 2);
  return Buffer.concat([record, kind, name, Buffer.from('ffff0000', 'hex'), Buffer.alloc(64)]);
}

test('a film whose media lies in another file is not followed there', async () => {
  const film = await readFile(pathOf('film.mp4'));
  // ISO/IEC 14496-12, 8.7.2: the reference says that the media is in this file.
  const own = Buffer.from('0000000c75726c2000000001', 'hex');
  const at = film.indexOf(own);
  assert.ok(film.indexOf('moov') > film.indexOf('mdat') && at !== -1);
  const media = pathOf('media.mp4');
  await copyFile(pathOf('film.mp4'), media);
  const reference = box('alis', Buffer.alloc(4), alias(media));
  const added = reference.length - own.length;
  const lying = Buffer.concat([film.subarray(0, at), reference, film.subarray(at + own.length)]);
  for (const type of ['moov', 'trak', 'mdia', 'minf', 'dinf', 'dref']) {
    const begins = lying.indexOf(type, film.indexOf('moov')) - 4;
    lying.writeUInt32BE(lying.readUInt32BE(begins) + added, begins);
  }
  // Its own media is noise: only the other file has the film.
  lying.fill(0x55, film.indexOf('mdat') + 4, film.indexOf('moov') - 4);
  await write('lying.mp4', lying);
  const follow = ['-enable_drefs', '1', '-use_absolute_path', '1'];
  const shown = ['-v', 'error', '-show_entries', 'stream=width,pix_fmt', '-of', 'csv=p=0'];
  const followed = await run(ffprobeInstaller.path, [...follow, ...shown, pathOf('lying.mp4')]);
  assert.equal(followed.stdout.trim(), '1280,yuv420p', 'a program that may would follow it');
  assert.equal(followed.stderr.trim(), '');
  assert.deepEqual(await faultsOf('lying.mp4'), ['undecodable', 'undecodable']);
});

test('thousands of streams are not looked at', async () => {
  const crowd = Array.from({ length: 10_000 }, () => box('trak'));
  await write('crowd.mp4', filmHead, box('moov', ...crowd));
  assert.deepEqual(await faultsOf('crowd.mp4'), ['too_many_streams', 'too_many_streams']);
  const still = ['-f', 'lavfi', '-i', 'color=gray:s=16x16:r=5:d=1', '-c:v', 'libvpx'];
  const twenty = Array.from({ length: 20 }, () => ['-map', '0']).flat();
  await makeVideo(...still, ...twenty, pathOf('crowd.webm'));
  assert.deepEqual(await faultsOf('crowd.webm'), ['not_video', 'too_many_streams']);
});

test('pictures that nobody could see are not decoded', async () => {
  const huge = ['-f', 'lavfi', '-i', 'color=gray:s=8320x2080:r=1:d=1'];
  await makeVideo(...huge, ...h264, pathOf('huge.mp4'));
  assert.deepEqual(await faultsOf('huge.mp4'), ['picture_too_large', 'picture_too_large']);
  // The file says 1280 × 720, its stream says more: the decoder is told not to believe it.
  const bytes = await readFile(pathOf('huge.mp4'));
  const entry = bytes.indexOf('avc1', bytes.indexOf('stsd'));
  bytes.writeUInt16BE(1_280, entry + 28);
  bytes.writeUInt16BE(720, entry + 30);
  await write('inner.mp4', bytes);
  const [, asSource] = await faultsOf('inner.mp4');
  assert.ok(asSource === 'unreadable' || asSource === 'undecodable', `${asSource}`);
});

test('lengths that are nothing, or more than there is, are not believed', async () => {
  const whole = await readFile(pathOf('film.mp4'));
  const patched = (seconds: number) => {
    const bytes = Buffer.from(whole);
    // Version 0 of each (ISO/IEC 14496-12, 8.2.2, 8.4.2, 8.6.1.2 and 8.6.6).
    const scaleOf = (type: string) => bytes.readUInt32BE(bytes.indexOf(type) + 16);
    const film = Math.round(seconds * scaleOf('mvhd'));
    bytes.writeUInt32BE(film, bytes.indexOf('mvhd') + 20);
    bytes.writeUInt32BE(film, bytes.indexOf('elst') + 12);
    const track = Math.round(seconds * scaleOf('mdhd'));
    bytes.writeUInt32BE(track, bytes.indexOf('mdhd') + 20);
    const table = bytes.indexOf('stts');
    const samples = bytes.readUInt32BE(table + 12);
    bytes.writeUInt32BE(Math.round(track / samples), table + 16);
    return bytes;
  };
  await write('as-is.mp4', patched(4));
  assert.deepEqual(await faultsOf('as-is.mp4'), [null, null]);
  await write('hour.mp4', patched(3_600));
  assert.deepEqual(await faultsOf('hour.mp4'), ['wrong_length', 'too_long']);
  const [generated, source] = await faultsOf(await write('nothing.mp4', patched(0)));
  assert.ok(generated === 'no_length' || generated === 'wrong_length', `${generated}`);
  assert.ok(source !== null, `${source}`);
});
