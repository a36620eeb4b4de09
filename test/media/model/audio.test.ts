// Characters as prices and bounds count them, and the beginnings of audio.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginsAs } from '../../../media/model/audio.ts';
import { countCharacters } from '../../../runtime/http/text.ts';
import { fc } from '../../harness/properties.ts';

test('characters are code points, lone halves of pairs included', () => {
  assert.equal(countCharacters('héllo'), 5);
  assert.equal(countCharacters('👋🏽'), 2);
  assert.equal(countCharacters('\ud83d'), 1);
  const units = fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes));
  const pairs = fc.array(fc.integer({ min: 0xd700, max: 0xe100 }));
  const halves = pairs.map((codes) => String.fromCharCode(...codes));
  fc.assert(
    fc.property(fc.oneof(units, halves), (text) => {
      assert.equal(countCharacters(text), [...text].length);
    }),
  );
});

test('a reply that begins as audio is known from one that does not', () => {
  assert.ok(beginsAs('mp3', Buffer.from('ID3\x04')));
  assert.ok(beginsAs('mp3', Buffer.from([0xff, 0xfb, 0x90, 0])));
  assert.ok(beginsAs('wav', Buffer.from('RIFF\xff\xff\xff\xffWAVE', 'latin1')));
  assert.ok(!beginsAs('mp3', Buffer.from('{"error":{}}')));
  assert.ok(!beginsAs('wav', Buffer.from('ID3\x04')));
});
