// Signatures of recordings, and the names and media types that go with them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerOf, mislabelled } from '../../../media/audio/container.ts';
import { tone, wav } from '../../harness/recordings.ts';

test('every container is known by its first bytes', async () => {
  const opus = ['-c:a', 'libopus'];
  assert.equal(containerOf(wav(0.1)), 'wav');
  assert.equal(containerOf(await tone('a.mp3', 0.2)), 'mp3');
  assert.equal(containerOf(await tone('a.mp3', 0.2, ['-id3v2_version', '0'])), 'mp3');
  assert.equal(containerOf(await tone('a.ogg', 0.2, opus)), 'ogg');
  assert.equal(containerOf(await tone('a.webm', 0.2, opus)), 'webm');
  assert.equal(containerOf(await tone('a.m4a', 0.2)), 'mp4');
  assert.equal(containerOf(await tone('a.aac', 0.2)), 'aac');
  assert.equal(containerOf(await tone('a.flac', 0.2)), null);
  for (const text of ['', 'R', '#EXTM3U\n', 'RIFF\0\0\0\0AVI ', 'ffconcat version 1.0']) {
    assert.equal(containerOf(Buffer.from(text)), null, text);
  }
});

test('names and media types must say what the file is', () => {
  assert.equal(mislabelled('wav', 'a.WAV', 'audio/x-wav'), null);
  assert.equal(mislabelled('webm', 'blob.webm', 'audio/webm;codecs=opus'), null);
  assert.equal(mislabelled('mp4', 'a.b.m4a', ''), null);
  assert.equal(mislabelled('ogg', 'a.ogg', 'video/ogg'), null, 'as Firefox calls it');
  assert.equal(mislabelled('mp3', 'a.mpeg', 'video/mpeg'), null, 'as Python calls it');
  assert.equal(mislabelled('mp4', 'a.mp4', 'application/mp4'), null, 'as mime-types 3.0.1 does');
  assert.equal(mislabelled('mp4', 'a.m4a', 'audio/mp4a-latm'), null, 'as on Android');
  assert.equal(mislabelled('aac', 'a.aac', 'audio/aac-adts'), null, 'as Android calls it');
  assert.equal(mislabelled('aac', 'a.aac', 'audio/vnd.dlna.adts'), null, 'as Windows calls it');
  assert.equal(mislabelled('aac', 'a.aac', 'audio/x-hx-aac-adts'), null, 'as libmagic calls it');
  assert.equal(mislabelled('mp3', 'a.mp3', 'application/octet-stream'), null);
  assert.equal(mislabelled('mp4', 'a.wav', 'audio/mp4'), 'filename');
  assert.equal(mislabelled('wav', 'wav', 'audio/wav'), 'filename');
  assert.equal(mislabelled('ogg', 'a.ogg', 'audio/wav'), 'media type');
});
