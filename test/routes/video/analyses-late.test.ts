// At its deadline the generation of an analysis is cancelled. What it used until then is charged
// and told.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { Analyses } from './analyses-bed.ts';

let bed: Testbed;
let analyses: Analyses;
before(async () => {
  // Fifteen minutes are six seconds.
  bed = await openTestbed({ shards: 1, env: { TOLLGATE_VIDEO_HASTE: '150' } });
  analyses = new Analyses(await Contract.load(bed.url), () => bed.gateway.dev.simulator_url);
});
after(() => bed?.close());

test('a model that is too slow is cancelled, and what it used is charged', async () => {
  const account = await bed.account();
  const slow = { prompt: 'What? [[sim gap_ms=1000]]', max_frames: 4, model: 'svc-sim-chat' };
  const begunMs = performance.now();
  const over = await analyses.run(account, slow);
  assert.deepEqual([over.status, over.error_code], ['failed', 'timeout']);
  assert.ok(performance.now() - begunMs >= 5_000, 'not before its time');
  const charge = over.svc_usage?.charge_microcredits ?? 0;
  assert.ok(charge > 0, 'a part of the answer was there');
  assert.ok(over.progress < 100 && over.progress >= 50, `${over.progress}`);
  const { availableMicros } = await account.quiet();
  assert.equal(1_000_000_000n - availableMicros, BigInt(charge));
  await bed.simulator.expect({ aborted: 1, open: 0 });
});
