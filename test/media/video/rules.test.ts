// The rules of video files without any program: first bytes, boxes, ratios, measures, pictures.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOfBoxes } from '../../../media/video/boxes.ts';
import { videoContainerOf } from '../../../media/video/container.ts';
import type { VideoShape } from '../../../media/video/contract.ts';
import { splitJpegs } from '../../../media/video/jpegs.ts';
import {
  faultOfMeasures,
  judgeStreams,
  readCodecs,
  servedCodecs,
} from '../../../media/video/judge.ts';
import type { ProbedStream } from '../../../media/video/probe.ts';
import { isRatioOff, nearestRatio } from '../../../media/video/ratio.ts';
import { box, filmHead } from '../../harness/videos.ts';

test('the kind of a file is in its first bytes', () => {
  const mimeOf = (...brands: string[]) => {
    const [major = '', ...others] = brands;
    const content = Buffer.from(`${major}\0\0\x02\0${others.join('')}`, 'latin1');
    return videoContainerOf(box('ftyp', content))?.mime;
  };
  assert.equal(mimeOf('isom', 'iso2', 'avc1'), 'video/mp4');
  assert.equal(mimeOf('mp42'), 'video/mp4');
  assert.equal(mimeOf('ABCD', 'isom'), 'video/mp4');
  assert.equal(mimeOf('qt  ', 'mp42'), 'video/quicktime');
  assert.equal(mimeOf('ABCD', 'qt  '), 'video/quicktime');
  assert.equal(mimeOf('heic', 'mif1'), undefined);
  assert.equal(mimeOf('avif', 'mif1', 'miaf'), undefined);
  const webm = Buffer.from('\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm', 'latin1');
  assert.deepEqual(videoContainerOf(webm), { demuxer: 'matroska', mime: null });
  for (const text of [
    '',
    '\x1a\x45\xdf\xa3',
    '#EXTM3U\n',
    'ffconcat version 1.0',
    '<!doctype html>',
  ]) {
    assert.equal(videoContainerOf(Buffer.from(text, 'latin1')), null, text);
  }
});

function faultIn(...parts: Uint8Array[]) {
  const file = Buffer.concat(parts);
  return faultOfBoxes((at, bytes) => file.subarray(at, at + bytes), file.length);
}

test('boxes tell what is cut, without an index, or too much', () => {
  const media = box('mdat', Buffer.alloc(100));
  const index = box('moov', box('mvhd', Buffer.alloc(100)), box('trak'));
  assert.equal(faultIn(filmHead, index, media), null);
  assert.equal(faultIn(filmHead, media, index), null, 'the index may stand at the end');
  assert.equal(faultIn(filmHead, index, media, Buffer.alloc(7)), null, 'a few bytes more');
  assert.equal(faultIn(filmHead, index, media.subarray(0, 60)), 'cut');
  assert.equal(faultIn(filmHead, media), 'no_index');
  assert.equal(faultIn(filmHead, Buffer.from('\0\0\0\x04moov')), 'unreadable');
  const toTheEnd = Buffer.from('\0\0\0\0mdat...', 'latin1');
  assert.equal(faultIn(filmHead, index, toTheEnd), null);
  const long = Buffer.from('\0\0\0\x01mdat\0\0\0\0\0\0\0\x14abcd', 'latin1');
  assert.equal(faultIn(filmHead, index, long), null);
  long.writeBigUInt64BE(2n ** 40n, 8);
  assert.equal(faultIn(filmHead, index, long), 'cut');
  const crowd = Array.from({ length: 10_000 }, () => box('trak'));
  assert.equal(faultIn(filmHead, box('moov', ...crowd)), 'too_many_streams');
  assert.equal(faultIn(filmHead, box('moov', Buffer.alloc(17 * 2 ** 20))), 'index_too_large');
  const fragments = Array.from({ length: 100_001 }, () => box('moof'));
  assert.equal(faultIn(filmHead, index, ...fragments), 'index_too_large');
});

test('the nearest ratio is the nearest as a factor', () => {
  assert.equal(nearestRatio(1_280, 720), '16:9');
  assert.equal(nearestRatio(720, 1_280), '9:16');
  assert.equal(nearestRatio(1_248, 704), '16:9');
  assert.equal(nearestRatio(1_000, 990), '1:1');
  assert.equal(nearestRatio(4_000, 1_000), '21:9');
  assert.equal(nearestRatio(1_024, 768), '4:3');
  assert.equal(nearestRatio(768, 1_024), '3:4');
  // Between 4:3 and 1:1 the border is at the root of 4/3.
  assert.equal(nearestRatio(1_154, 1_000), '1:1');
  assert.equal(nearestRatio(1_155, 1_000), '4:3');
  assert.equal(isRatioOff(1_280, 720, '16:9'), false);
  assert.equal(isRatioOff(1_280, 757, '16:9'), false);
  assert.equal(isRatioOff(1_280, 758, '16:9'), true);
  assert.equal(isRatioOff(720, 720, '16:9'), true);
});

test('length and size are measured with their tolerances', () => {
  const fault = (shape: Partial<VideoShape>, seconds: number, container = seconds) => {
    const usual = { durationMs: seconds * 1_000, width: 1_280, height: 720 };
    const whole = { ...usual, hasAudio: true, videoCodec: 'h264', ...shape } as const;
    return faultOfMeasures(whole, container, { seconds, resolution: '720p' });
  };
  assert.equal(fault({}, 8), null);
  assert.equal(fault({ durationMs: 8_800 }, 8), null);
  assert.equal(fault({ durationMs: 8_801 }, 8), 'wrong_length');
  assert.equal(fault({ durationMs: 7_199 }, 8), 'wrong_length');
  assert.equal(fault({ durationMs: 3_500 }, 4), null, 'half a second is always tolerated');
  assert.equal(fault({ durationMs: 3_499 }, 4), 'wrong_length');
  assert.equal(fault({}, 8, 60), 'wrong_length', 'sound that goes on');
  assert.equal(fault({}, 8, 0), null, 'the container says nothing');
  assert.equal(fault({ width: 648, height: 1_152 }, 8), null);
  assert.equal(fault({ width: 1_280, height: 647 }, 8), 'wrong_size');
});

const picture: ProbedStream = {
  type: 'video',
  codec: 'h264',
  isAttachedPicture: false,
  width: 1_280,
  height: 720,
  pixelAspect: 1,
  isTurned: false,
  framesPerSecond: 24,
  seconds: 8,
};
const sound: ProbedStream = { ...picture, type: 'audio', codec: 'aac', width: 0, height: 0 };

test('streams are those of one film', () => {
  const judge = (...streams: ProbedStream[]) => judgeStreams({ streams, seconds: 9 }, servedCodecs);
  const shape = { durationMs: 8_000, width: 1_280, height: 720, videoCodec: 'h264' };
  assert.deepEqual(judge(picture, sound), { shape: { ...shape, hasAudio: true }, stream: picture });
  const cover = { ...picture, codec: 'mjpeg', isAttachedPicture: true };
  const timecode = { ...sound, type: 'data', codec: '' };
  const besides = judge(cover, timecode, picture);
  assert.deepEqual(besides, { shape: { ...shape, hasAudio: false }, stream: picture });
  assert.equal(judge(sound), 'no_video_stream');
  assert.equal(judge(cover, sound), 'no_video_stream');
  assert.equal(judge(picture, picture), 'several_video_streams');
  assert.equal(judge(picture, sound, sound), 'several_audio_streams');
  assert.equal(judge({ ...picture, codec: 'prores' }), 'codec');
  assert.equal(judge({ ...picture, width: 0 }), 'unreadable');
  assert.equal(judge({ ...picture, width: 8_193, height: 2 }), 'picture_too_large');
  assert.equal(judge({ ...picture, width: 4_097, height: 4_096 }), 'picture_too_large');
});

test('a size is the one that is shown, a length the one that is known', () => {
  const shapeOf = (stream: Partial<ProbedStream>, seconds = 9) => {
    const judged = judgeStreams({ streams: [{ ...picture, ...stream }], seconds }, readCodecs);
    return typeof judged === 'string' ? judged : judged.shape;
  };
  const sizeOf = (stream: Partial<ProbedStream>) => {
    const shape = shapeOf(stream);
    return typeof shape === 'string' ? shape : [shape.width, shape.height];
  };
  assert.deepEqual(sizeOf({ isTurned: true }), [720, 1_280]);
  assert.deepEqual(sizeOf({ width: 960, pixelAspect: 4 / 3 }), [1_280, 720]);
  assert.deepEqual(sizeOf({ width: 960, pixelAspect: 4 / 3, isTurned: true }), [720, 1_280]);
  assert.deepEqual(sizeOf({ pixelAspect: 1_000 }), [1_280, 720], 'no such pixel');
  const unsaid = shapeOf({ seconds: 0 });
  assert.equal(typeof unsaid === 'string' ? unsaid : unsaid.durationMs, 9_000);
  assert.equal(shapeOf({ seconds: 0 }, 0), 'no_length');
});

test('pictures are taken apart, and what is not whole is dropped', () => {
  const one = Buffer.from('ffd8ffe00004ffd9ffda000200ff00ffd0aaffd9', 'hex');
  const other = Buffer.from('ffd8ffda0002bbffd9', 'hex');
  assert.deepEqual(splitJpegs(Buffer.concat([one, other])), [one, other]);
  assert.deepEqual(splitJpegs(Buffer.concat([one, other.subarray(0, 8)])), [one]);
  assert.deepEqual(splitJpegs(Buffer.concat([one, Buffer.from('text')])), [one]);
  for (let cut = 0; cut < one.length; cut++) {
    assert.deepEqual(splitJpegs(one.subarray(0, cut)), [], `${cut} bytes`);
  }
});
