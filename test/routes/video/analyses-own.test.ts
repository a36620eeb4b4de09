// Analyses of generated videos, which are read from the store, and models that see nothing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { openBlobStore } from '../../../actors/blobs/store.ts';
import { countClip } from '../../../bench/sim/source/count.ts';
import { newId } from '../../../runtime/ids.ts';
import type { TestAccount } from '../../harness/account.ts';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { Analyses } from './analyses-bed.ts';

const secret = randomBytes(32).toString('base64url');
let bed: Testbed;
let analyses: Analyses;
before(async () => {
  const price = { input_per_million: '1', output_per_million: '2' };
  const seeing = ['chat', 'vision', 'structured_output'];
  const routes = [{ provider: 'p', upstream_model: 'x' }];
  bed = await openTestbed({
    env: { TOLLGATE_SECRET: secret },
    catalog: {
      providers: [{ name: 'p', family: 'openai-chat', base_url: 'http://127.0.0.1:9/v1' }],
      models: [
        { alias: 'blind', routes, price, capabilities: ['chat'], context_window: 100_000 },
        { alias: 'short', routes, price, capabilities: seeing, context_window: 1_500 },
      ],
      routes: ['blind', 'short'].map((model) => ({
        alias: `m-${model}`,
        pool: [{ model, quality: 50 }],
        optimizer: 'never',
      })),
    },
  });
  analyses = new Analyses(await Contract.load(bed.url), () => bed.gateway.dev.simulator_url);
});
after(() => bed?.close());

function store() {
  const config = { dataDir: bed.gateway.dataDir, previousSecret: null };
  return openBlobStore({ config, masterKey: secret, node: 9 });
}

async function videoOf({ accountId }: TestAccount): Promise<{ id: string; blobId: string }> {
  const clip = await countClip(10, { isTall: true });
  assert.ok(clip !== null);
  const bounds = { bytesMax: 10 ** 8, signal: AbortSignal.timeout(10_000) };
  const { id: blobId, bytes, sha256 } = await store().put(Readable.from([clip]), bounds);
  const id = newId('vid', 0);
  await bed.sql`
    INSERT INTO generated_videos (id, job_id, account_id, blob_id, title, mime_type,
      duration_seconds, aspect_ratio, resolution, size_bytes, sha256)
    VALUES (${id}, ${newId('vjob', 0)}, ${accountId}, ${blobId}, 'x', 'video/mp4', 10, '9:16',
      '720p', ${bytes}, ${sha256})`;
  return { id, blobId };
}

test('a generated video is described from the store, for its own account alone', async () => {
  const account = await bed.account();
  const video = await videoOf(account);
  const url = `/api/me/generated-videos/${video.id}`;
  for (const source_url of [url, bed.url + url]) {
    const over = await analyses.run(account, { source_url, max_frames: 10 });
    assert.equal(over.status, 'completed', over.error_message);
    assert.equal(over.source?.kind, 'generated_video');
    assert.equal(over.result?.segments[3]?.description, 'the number 3');
  }
  const stranger = await bed.account();
  const refused = await analyses.ask(stranger, { source_url: url });
  assert.equal(refused.status, 404, refused.text);
  await store().remove(video.blobId);
  const gone = await analyses.run(account, { source_url: url });
  assert.equal(gone.error_code, 'source_unreachable');
  assert.match(gone.error_message ?? '', /not there any more/);
});

test('another address of ours is none that may be fetched', async () => {
  const account = await bed.account();
  const over = await analyses.run(account, { source_url: `${bed.url}/api/health` });
  assert.equal(over.error_code, 'source_refused');
});

test('a model that sees nothing, or not so much, is refused by the field', async () => {
  const account = await bed.account();
  for (const model of ['blind', 'm-blind']) {
    const reply = await analyses.ask(account, { model });
    assert.equal(reply.status, 400, `${model}: ${reply.text}`);
    assert.equal((reply.json.error as { param: string }).param, 'model');
  }
  const much = { prompt: 'What? '.repeat(1_333), max_frames: 64 };
  const reply = await analyses.ask(account, { model: 'm-short', ...much });
  assert.equal(reply.status, 422, reply.text);
  assert.equal((reply.json.error as { param: string }).param, 'max_frames');
});

test('a provider that is away is asked twice, for nothing', async () => {
  const account = await bed.account();
  const over = await analyses.run(account, { model: 'short', max_frames: 2 });
  assert.deepEqual([over.status, over.error_code], ['failed', 'generation_failed']);
  assert.equal(over.svc_usage, undefined);
  assert.equal((await account.quiet()).availableMicros, 1_000_000_000n);
});
