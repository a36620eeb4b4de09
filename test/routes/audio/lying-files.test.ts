// Files that lie: about their name, their length, what they are. None of them makes a program read
// anything else, keep a process or leave a file.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openChance } from '../../chaos/seed.ts';
import type { TestAccount } from '../../harness/account.ts';
import { record, tone, wav, withFile } from '../../harness/recordings.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';
import { type AudioBed, hear, openAudioBed, refusalOf } from './bed.ts';
import { trimmedOgg, trimmedWebm } from './trimmed.ts';

// slow: It gives more than a thousand files to real programs.

let audio: AudioBed;
let account: TestAccount;
before(async () => {
  audio = await openAudioBed();
  account = await audio.bed.account();
  audio.one.behaviour = { kind: 'transcript', text: 'heard' };
});
after(() => audio.close());

async function refused(bytes: Uint8Array<ArrayBuffer>, name: string, type = ''): Promise<string> {
  const { status, code, param } = await refusalOf(
    await hear(audio, account, { bytes, name, type }),
  );
  assert.deepEqual([status, param], [422, 'file'], `${name} ${code}`);
  return code;
}

async function secondsOf(bytes: Uint8Array<ArrayBuffer>, name: string): Promise<number> {
  const reply = await hear(audio, account, { bytes, name });
  const body = (await reply.json()) as { usage: { seconds: number } };
  assert.equal(reply.status, 200, `${name}: ${JSON.stringify(body)}`);
  return body.usage.seconds;
}

test('a name or a media type that says something else is refused', async () => {
  const mp4 = await tone('a.mp4', 1);
  assert.equal(await refused(mp4, 'a.wav'), 'unprocessable_media');
  assert.equal(await refused(wav(1), 'a.mp3'), 'unprocessable_media');
  assert.equal(await refused(wav(1), 'wav'), 'unprocessable_media');
  assert.equal(await refused(wav(1), 'a.wav', 'audio/mpeg'), 'unprocessable_media');
  assert.equal(await refused(Buffer.alloc(0), 'a.txt'), 'unprocessable_media');
  assert.equal(await refused(Buffer.alloc(0), 'a.wav', 'audio/mpeg'), 'unprocessable_media');
});

test('who names a file wrongly is told what it is', async () => {
  const told = async (bytes: Uint8Array<ArrayBuffer>, name: string, type: string) =>
    (await refusalOf(await hear(audio, account, { bytes, name, type }))).message;
  const mp4 = await tone('a.mp4', 1);
  assert.match(await told(mp4, 'a.wav', ''), /^The filename .* MP4\.$/);
  assert.match(await told(wav(1), 'a.wav', 'audio/mpeg'), /^The media type .* WAV\.$/);
});

test('codecs and streams that are not the container’s own are refused', async () => {
  const vorbis = await tone('v.ogg', 1, ['-c:a', 'libvorbis']);
  assert.equal(await refused(vorbis, 'v.ogg'), 'unprocessable_media');
  const wrapped = await tone('m.wav', 1, ['-c:a', 'libmp3lame']);
  assert.equal(await refused(wrapped, 'm.wav'), 'unprocessable_media');
  const sources = ['-f', 'lavfi', '-i', 'testsrc=s=32x32:d=1', '-f', 'lavfi', '-i', 'sine=d=1'];
  const video = await record('v.mp4', sources, ['-c:v', 'mpeg4']);
  assert.equal(await refused(video, 'v.mp4', 'video/mp4'), 'unprocessable_media');
});

test('the length is that of the audio, whatever the header says', async () => {
  const long = await tone('long.mp3', 121, ['-b:a', '32k']);
  assert.equal(await refused(long, 'long.mp3'), 'input_too_long');
  const right = await tone('right.mp3', 120, ['-b:a', '32k']);
  const seconds = await secondsOf(right, 'right.mp3');
  assert.ok(seconds <= 120 && seconds > 119.9, `${seconds}`);
  // A header of 2 s before 130 s of 8-bit audio, and one of 2 s before half a second.
  const modest = await tone('m.wav', 130, ['-c:a', 'pcm_u8', '-ar', '8000']);
  modest.writeUInt32LE(0xffffffff, 4);
  modest.writeUInt32LE(0xffffffff, modest.indexOf('data') + 4);
  assert.equal(await refused(modest, 'm.wav'), 'input_too_long');
  const short = wav(2).subarray(0, 44 + 16_000);
  assert.equal(await secondsOf(Buffer.from(short), 's.wav'), 0.5);
});

test('no codec has lengthened a WAV: a sample over the bound is over it', async () => {
  for (const rate of ['8000', '11025']) {
    const right = await tone('m.wav', 120, ['-c:a', 'pcm_u8', '-ar', rate]);
    assert.equal(await secondsOf(right, 'm.wav'), 120);
    const long = await tone('m.wav', 120 + 1 / Number(rate), ['-c:a', 'pcm_u8', '-ar', rate]);
    assert.ok(long.length > right.length);
    assert.equal(await refused(long, 'm.wav'), 'input_too_long');
  }
});

test('a WAV that goes on after its data is as long as what it holds', async () => {
  const long = await tone('m.wav', 121, ['-c:a', 'pcm_u8', '-ar', '8000']);
  const short = wav(3);
  for (const file of [long, short]) file.writeUInt32LE(8_000, file.indexOf('data') + 4);
  assert.equal(await refused(long, 'm.wav'), 'input_too_long');
  assert.equal(await secondsOf(short, 's.wav'), 3);
  // Chunks of other kinds are no sound, nor is a byte too many.
  const notes = Buffer.from('LIST\x0a\0\0\0INFOISFT\x01\x02', 'latin1');
  assert.equal(await secondsOf(Buffer.concat([wav(2), notes]), 'n.wav'), 2);
  assert.equal(await secondsOf(Buffer.concat([wav(2), notes, Buffer.alloc(1, 1)]), 'n.wav'), 2);
  const bytes = Buffer.concat([wav(2, 0), notes]);
  const silent = await hear(audio, account, { bytes, name: 'n.wav' });
  assert.equal(((await silent.json()) as { text: string }).text, '');
});

test('a WAV with a second data chunk is refused: programs hear one or the other', async () => {
  const data = (seconds: number) => wav(seconds).subarray(36);
  const junk = Buffer.from('\0\0\0\0\0\0\0\0', 'latin1');
  for (const between of [Buffer.alloc(0), junk]) {
    const bytes = Buffer.concat([wav(60), between, data(0.1)]);
    assert.equal(await refused(bytes, 'two.wav'), 'unprocessable_media');
  }
});

test('Ogg and WebM are as long as what they hold, whatever they call padding', async () => {
  const opus = ['-c:a', 'libopus'];
  const ogg = await tone('t.ogg', 10, [...opus, '-page_duration', '100000']);
  const webm = await tone('t.webm', 10, opus);
  for (const [name, bytes] of Object.entries({ 'o.ogg': ogg, 'w.webm': webm })) {
    const seconds = await secondsOf(bytes, name);
    assert.ok(Math.abs(seconds - 10) < 0.05, `${name}: ${seconds}`);
  }
  for (const [name, bytes] of Object.entries({
    'o.ogg': trimmedOgg(ogg),
    'w.webm': trimmedWebm(webm),
  })) {
    const seconds = await secondsOf(bytes, name);
    assert.ok(Math.abs(seconds - 10) < 0.05, `${name}, trimmed: ${seconds}`);
  }
});

test('an MP4 is as long as what it holds, whatever is to be shown of it and when', async () => {
  const whole = await tone('long.m4a', 125, ['-b:a', '32k']);
  const lie = (box: string, offset: number, value: number) => {
    const bytes = Buffer.from(whole);
    bytes.writeUInt32BE(value, bytes.indexOf(box) + offset);
    return bytes;
  };
  // ISO/IEC 14496-12: an edit of 1 s, one that begins at 124 s, and samples of 121 s each.
  assert.equal(await refused(lie('elst', 12, 1_000), 'shown.m4a'), 'input_too_long');
  assert.equal(await refused(lie('elst', 16, 124 * 16_000), 'late.m4a'), 'input_too_long');
  assert.equal(await refused(lie('stts', 16, 121 * 16_000), 'slow.m4a'), 'input_too_long');
  const right = await tone('right.m4a', 120, ['-b:a', '16k', '-ar', '8000']);
  assert.equal(await secondsOf(right, 'right.m4a'), 120);
});

test('three mebibytes of packed silence are not unpacked', async () => {
  // 52 minutes: frames of MP3 may follow each other from anywhere.
  const minute = await tone('minute.mp3', 60, ['-b:a', '8k', '-write_xing', '0'], 0);
  const count = Math.floor((3 * 1_024 * 1_024) / minute.length);
  const packed = Buffer.concat(Array.from({ length: count }, () => minute));
  assert.ok(count > 45, `${count} minutes`);
  const watch = startStopwatch();
  assert.equal(await refused(packed, 'bomb.mp3'), 'input_too_long');
  watch.assertWithin(3_000, 'refused');
  const wide = await tone('wide.m4a', 600, ['-b:a', '8k'], 0);
  assert.equal(await refused(wide, 'wide.m4a'), 'input_too_long');
});

test('truncated files are damaged, or as long as what is left of them', async () => {
  const mp4 = await tone('t.mp4', 5);
  assert.equal(
    await refused(Buffer.from(mp4.subarray(0, mp4.length >> 1)), 't.mp4'),
    'unprocessable_media',
  );
  for (const name of ['t.mp3', 't.aac', 't.webm', 't.ogg']) {
    const codec = /webm|ogg/.test(name) ? ['-c:a', 'libopus'] : [];
    const whole = await tone(name, 5, codec);
    const half = Buffer.from(whole.subarray(0, whole.length >> 1));
    const reply = await hear(audio, account, { bytes: half, name });
    const body = (await reply.json()) as { usage?: { seconds: number } };
    assert.ok([200, 422].includes(reply.status), `${name}: ${reply.status}`);
    assert.ok((body.usage?.seconds ?? 0) < 4, `${name}: ${JSON.stringify(body)}`);
  }
});

test('playlists and references make no program read another file or address', async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.end(wav(1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.wav`;
  await withFile('secret.wav', wav(1), async (path) => {
    const texts = [
      `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${url}\n#EXT-X-ENDLIST\n`,
      `ffconcat version 1.0\nfile '${path}'\n`,
      `ffconcat version 1.0\nfile ${url}\n`,
      `concat:${path}|${path}`,
      `[playlist]\nFile1=${url}\nNumberOfEntries=1\n`,
    ];
    const heads = ['', 'RIFF\0\0\0\0WAVE', 'OggS', '\x1a\x45\xdf\xa3', '\0\0\0\x18ftypM4A ', 'ID3'];
    for (const text of texts) {
      for (const head of heads) {
        const bytes = Buffer.from(head + text, 'latin1');
        for (const name of ['a.wav', 'a.m4a']) {
          const reply = await hear(audio, account, { bytes, name });
          assert.equal(reply.status, 422, await reply.text());
        }
      }
    }
    const outside = await record('ref.mp4', ['-i', path]);
    const at = outside.indexOf('url ');
    assert.ok(at > 0);
    outside[at + 7] = 0;
    const reply = await hear(audio, account, { bytes: outside, name: 'ref.mp4' });
    await reply.text();
  });
  server.closeAllConnections();
  server.close();
  assert.deepEqual(seen, []);
});

test('a thousand files of random bytes are refused, and nothing is left of them', async () => {
  const chance = openChance('random files');
  const heads = [
    '',
    'RIFF\0\0\0\0WAVEfmt ',
    'OggS\0',
    '\x1a\x45\xdf\xa3',
    '\0\0\0\x18ftypM4A ',
    'ID3',
  ];
  const names = ['a.wav', 'a.wav', 'a.ogg', 'a.webm', 'a.m4a', 'a.mp3'];
  const statuses = new Map<number, number>();
  let sent = 0;
  const work = async () => {
    while (sent < 1_000) {
      sent += 1;
      const kind = (chance.seed + sent) % (sent % 10 === 0 ? heads.length : 1);
      const head = Buffer.from(heads[kind] ?? '', 'latin1');
      const bytes = Buffer.concat([head, randomBytes(chance.integer(1, 3_000))]);
      const reply = await hear(audio, account, { bytes, name: names[kind] ?? 'a.wav' });
      await reply.arrayBuffer();
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  assert.equal(
    [...statuses.values()].reduce((sum, count) => sum + count, 0),
    1_000,
  );
  for (const status of statuses.keys()) {
    assert.ok([200, 422].includes(status), JSON.stringify([...statuses]));
  }
  assert.ok((statuses.get(422) ?? 0) > 950, JSON.stringify([...statuses]));
  assert.deepEqual(await readdir(join(audio.bed.gateway.dataDir, 'audio', 'scratch')), []);
});

test('too many recordings at once are a 503 of their own, and the others are served', async () => {
  const recording = { bytes: wav(20), name: 'a.wav' };
  const replies = await Promise.all(
    Array.from({ length: 120 }, () => hear(audio, account, recording)),
  );
  const statuses = replies.map(({ status }) => status);
  const refusals = replies.filter(({ status }) => status === 503);
  assert.ok(refusals.length > 0, `${statuses}`);
  assert.ok(
    statuses.every((status) => status === 200 || status === 503),
    `${statuses}`,
  );
  assert.equal(refusals[0]?.headers.get('retry-after'), '2');
  await Promise.all(replies.map((reply) => reply.arrayBuffer()));
});
