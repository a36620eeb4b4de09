// Which ffmpeg reads recordings. Reports of real programs are compared, and programs in a folder of
// the PATH are chosen or passed over.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  assertProgramsUsable,
  isNewer,
  type ProgramVersion,
  versionOf,
} from '../../../media/tools/programs.ts';
import { prepareTools } from '../../../media/tools/tools.ts';

let folder: string;
const path = process.env.PATH;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-programs-it's "));
});
after(async () => {
  process.env.PATH = path;
  await rm(folder, { recursive: true, force: true });
});

const packaged = [
  'ffmpeg version N-47683-g0e8eb07980-static https://johnvansickle.com/ffmpeg/  ' +
    'Copyright (c) 2000-2018 the FFmpeg developers',
  'libavutil      56. 24.101 / 56. 24.101',
  'libavcodec     58. 42.100 / 58. 42.100',
].join('\n');
const ofSystem = [
  'ffmpeg version 5.1.9-0+deb12u1 Copyright (c) 2000-2026 the FFmpeg developers',
  'libavutil      57. 28.100 / 57. 28.100',
  'libavcodec     59. 37.100 / 59. 37.100',
].join('\n');

test('reads what real programs say of themselves, and takes no other for them', () => {
  assert.deepEqual(versionOf('ffmpeg', packaged), {
    text: 'N-47683-g0e8eb07980-static',
    year: 2018,
    codec: [58, 42, 100],
  });
  assert.deepEqual(versionOf('ffmpeg', ofSystem), {
    text: '5.1.9-0+deb12u1',
    year: 2026,
    codec: [59, 37, 100],
  });
  const long = ofSystem.replace('5.1.9-0+deb12u1', '9'.repeat(1_000));
  assert.equal(versionOf('ffmpeg', long)?.text.length, 60);
  for (const other of ['', 'GNU bash, version 5.2', ofSystem.split('\n')[0] ?? '']) {
    assert.equal(versionOf('ffmpeg', other), null);
  }
  assert.equal(versionOf('ffprobe', ofSystem), null);
});

test('newer is who has later fixes, then later codecs', () => {
  const made = (year: number, ...codec: [number, number, number]): ProgramVersion => {
    return { text: 'x', year, codec };
  };
  assert.equal(isNewer(made(2026, 59, 37, 100), made(2023, 60, 0, 0)), true);
  assert.equal(isNewer(made(2023, 60, 0, 0), made(2026, 59, 37, 100)), false);
  assert.equal(isNewer(made(2026, 59, 38, 0), made(2026, 59, 37, 100)), true);
  assert.equal(isNewer(made(2026, 59, 37, 100), made(2026, 59, 37, 101)), false);
  assert.equal(isNewer(made(2026, 59, 37, 100), made(2026, 59, 37, 100)), false);
});

/** A folder with an ffmpeg and an ffprobe that run this script. */
async function put(name: string, script: (program: string) => string): Promise<string> {
  const made = join(folder, name);
  await mkdir(made);
  for (const program of ['ffmpeg', 'ffprobe']) {
    await writeFile(join(made, program), `#!/bin/sh\n${script(program)}\n`, { mode: 0o755 });
  }
  return made;
}

const saying = (year: number) => (program: string) =>
  `echo '${program} version 9.9 Copyright (c) 2000-${year} the FFmpeg developers'\n` +
  "echo 'libavcodec     99.  1.100 / 99.  1.100'";

async function chosen(name: string, onPath: string | null, configured: string | null = null) {
  process.env.PATH = onPath === null ? '/nowhere' : onPath;
  const { programs } = await prepareTools({
    folder: join(folder, `${name} tools`),
    ffmpegPath: configured,
    ffprobePath: configured === null ? null : configured.replace(/ffmpeg$/, 'ffprobe'),
    memoryBytesMax: 768 * 2 ** 20,
    cpuSecondsMax: 10,
  });
  return programs.map(({ name: program, origin, version, path: where }) => {
    return { program, origin, version: version?.text, where };
  });
}

const origins = (programs: { origin: string }[]) => programs.map(({ origin }) => origin);

test("the system's programs are used where they are newer than the package's", async () => {
  const newer = await put('newer', saying(2099));
  assert.deepEqual(await chosen('newer', `/nowhere:${newer}`), [
    { program: 'ffmpeg', origin: 'system', version: '9.9', where: join(newer, 'ffmpeg') },
    { program: 'ffprobe', origin: 'system', version: '9.9', where: join(newer, 'ffprobe') },
  ]);
  const older = await put('older', saying(2001));
  const [ffmpeg, ffprobe] = await chosen('older', older);
  assert.deepEqual([ffmpeg?.origin, ffprobe?.origin], ['package', 'package']);
  assert.match(ffmpeg?.version ?? '', /static$/);
});

test('a program that fails, hangs or is another one is passed over', async () => {
  const bad = await put('bad', () => 'exit 1');
  assert.deepEqual(origins(await chosen('bad', bad)), ['package', 'package']);
  const other = await put('other', () => 'echo something');
  assert.deepEqual(origins(await chosen('other', other)), ['package', 'package']);
  assert.deepEqual(origins(await chosen('none', null)), ['package', 'package']);
  // Beside the memory that it gets here it cannot start.
  const greedy = await put('greedy', (program) => {
    return `test "$(ulimit -v)" = unlimited || exit 1\n${saying(2099)(program)}`;
  });
  assert.deepEqual(origins(await chosen('greedy', greedy)), ['package', 'package']);
});

test('a program set by hand is used however old it is, and has to run', async () => {
  const set = await put('set', saying(2001));
  const ffmpegPath = join(set, 'ffmpeg');
  assert.deepEqual(origins(await chosen('set', null, ffmpegPath)), ['configured', 'configured']);
  await assertProgramsUsable({ ffmpegPath, ffprobePath: join(set, 'ffprobe') });
  await assertProgramsUsable({ ffmpegPath: null, ffprobePath: null });
  await assert.rejects(assertProgramsUsable({ ffmpegPath: null, ffprobePath: ffmpegPath }), {
    message:
      `TOLLGATE_FFPROBE names no ffprobe that runs: ${ffmpegPath} -version ` +
      'does not answer as ffprobe does',
  });
  await assert.rejects(
    assertProgramsUsable({ ffmpegPath: join(set, 'nothing-here'), ffprobePath: null }),
    /^Error: TOLLGATE_FFMPEG names no ffmpeg that runs: /,
  );
});
