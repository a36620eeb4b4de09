// Sound as text: what becomes of a delta of the usual length on its way to the client.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ring } from '../../../../media/audio/playout/ring.ts';
import { decodeBase64 } from '../../../../media/providers/live/pcm.ts';

test('a delta of 80 ms is kept by the playout as it was decoded, without a copy', () => {
  const pcm = decodeBase64(Buffer.alloc(3_840, 7).toString('base64'));
  assert.ok(pcm !== null);
  const ring = new Ring<string>();
  ring.push('item', pcm);
  assert.equal(ring.take(pcm.length).buffer, pcm.buffer);
  const short = decodeBase64(Buffer.alloc(960, 7).toString('base64'));
  assert.ok(short !== null);
  ring.push('item', short);
  assert.deepEqual(Buffer.from(ring.take(short.length)), short);
});
