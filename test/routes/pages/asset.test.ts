// Files as replies: what could not be read once is read when it is asked for again.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { createAsset } from '../../../routes/pages/asset.ts';
import type { Exchange } from '../../../runtime/http/route.ts';

test('a file that could not be read is read again, and one that was is not', async () => {
  let reads = 0;
  const asset = createAsset({
    mediaType: 'text/plain',
    maxAgeSeconds: 0,
    async load() {
      reads += 1;
      if (reads === 1) throw new Error('not there yet');
      return Buffer.from('content');
    },
  });
  const exchange = { header: () => undefined } as unknown as Exchange;
  await assert.rejects(asset(exchange), /not there yet/);
  for (let time = 0; time < 2; time += 1) {
    const reply = await asset(exchange);
    assert('bytes' in reply && Buffer.from(reply.bytes).toString() === 'content');
  }
  assert.equal(reads, 2);
});
