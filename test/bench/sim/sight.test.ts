// The simulated models see. The number that a frame of a counting video shows is read off its
// pixels, in each format, and no directive is needed.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { describePictures } from '../../../bench/sim/sight/describe.ts';
import { readNumber } from '../../../bench/sim/sight/digits.ts';
import { readLuma } from '../../../bench/sim/sight/jpeg.ts';
import { picturesOf } from '../../../bench/sim/sight/pictures.ts';
import { countClip } from '../../../bench/sim/source/count.ts';
import { extractFrames } from '../../../media/video/frames.ts';
import { openVideoFolder, type VideoFolder } from '../../harness/videos.ts';

let folder: VideoFolder;
before(async () => {
  folder = await openVideoFolder();
});
after(() => folder.remove());

async function framesOf(name: string, clip: Promise<Buffer | null>, framesMax: number) {
  const bytes = await clip;
  assert.ok(bytes !== null);
  const path = join(folder.path, name);
  await writeFile(path, bytes);
  const input = { path, startSeconds: null, endSeconds: null, framesMax };
  const extracted = await extractFrames(input, folder.tools);
  assert.ok(extracted.ok);
  return extracted.frames;
}

function numberOf(jpeg: Uint8Array): string | null {
  const picture = readLuma(Buffer.from(jpeg));
  assert.ok(picture !== null);
  return readNumber(picture);
}

test('every frame shows the second in which it was taken', async () => {
  const clips: [string, Promise<Buffer | null>, number][] = [
    ['wide', countClip(10), 64],
    ['tall', countClip(10, { isTall: true }), 20],
    ['long', countClip(60), 60],
  ];
  for (const [name, clip, framesMax] of clips) {
    const digits = name === 'long' ? 2 : 1;
    for (const { seconds, jpeg } of await framesOf(name, clip, framesMax)) {
      const second = String(Math.floor(seconds)).padStart(digits, '0');
      assert.equal(numberOf(jpeg), second, `${name} at ${seconds}`);
    }
  }
});

const schema = {
  type: 'object',
  required: ['summary', 'answer', 'segments'],
  properties: {
    summary: { type: 'string' },
    answer: { type: ['string', 'null'] },
    segments: { type: 'array' },
  },
};

test('frames of one number are one segment, in the formats of all providers', async () => {
  const frames = await framesOf('few', countClip(10), 8);
  const [first] = frames;
  assert.ok(first !== undefined);
  const shown = frames.map(({ seconds, jpeg }) => ({
    text: `Frame at ${seconds} s:`,
    data: Buffer.from(jpeg).toString('base64'),
  }));
  const formats = [
    (data: string) => ({ image_url: { url: `data:image/jpeg;base64,${data}` } }),
    (data: string) => ({ image_url: `data:image/jpeg;base64,${data}` }),
    (data: string) => ({ source: { type: 'base64', data } }),
    (data: string) => ({ inlineData: { data } }),
  ];
  for (const format of formats) {
    const parts = shown.flatMap(({ text, data }) => [{ text }, format(data)]);
    const told = describePictures(picturesOf([parts]), schema, false);
    assert.equal(told?.answer, 'simulated');
    const segments = told?.segments as { start_seconds: number; description: string }[];
    const numbers = new Set(frames.map(({ seconds }) => Math.floor(seconds)));
    assert.ok(numbers.size < frames.length, 'two frames are of one second');
    const wanted = [...numbers].map((number) => `the number ${number}`);
    assert.deepEqual(
      segments.map(({ description }) => description),
      wanted,
    );
    assert.equal(segments[0]?.start_seconds, first.seconds);
  }
  const twice = [...shown, ...shown].map(({ text, data }) => [{ text }, formats[0]?.(data)]);
  assert.ok(picturesOf(twice).length === 16);
});

test('what is no picture, or no counting one, is said to be so', () => {
  for (const bytes of ['', 'ffd8', 'ffd8ffc20011', '89504e47', 'ffd8ffdaffff00']) {
    assert.equal(readLuma(Buffer.from(bytes, 'hex')), null, bytes);
  }
  assert.equal(readNumber({ width: 40, height: 30, luma: new Uint8Array(1_200).fill(90) }), null);
  const jpeg = Buffer.from('ffd8', 'hex');
  const told = describePictures([{ before: 'Frame at 1 s:', jpeg }], schema, false);
  assert.match(JSON.stringify(told), /cannot be seen/);
  assert.equal(describePictures([{ before: 'no time', jpeg }], schema, false), null);
  assert.equal(describePictures([{ before: 'at 1 s', jpeg }], { type: 'object' }, false), null);
});
