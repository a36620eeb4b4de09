// A video that the organization's wallet does not hold for: the person's does, and the job is its.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import type { Catalog } from '../../../actors/catalog/current.ts';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { buildSnapshot } from '../../../actors/catalog/snapshot.ts';
import {
  type CreationDeps,
  createVideoJob,
  type VideoOrder,
} from '../../../actors/video/create.ts';
import { createVideoLimits } from '../../../actors/video/limits.ts';
import { createVideoMetrics } from '../../../actors/video/metrics.ts';
import { MetricsRegistry } from '../../../runtime/metrics-registry.ts';
import { type Bank, openBank, purchase } from '../wallet/bank.ts';
import { newCompany } from '../wallet/company.ts';

let bank: Bank;
let deps: CreationDeps;
before(async () => {
  bank = await openBank();
  const branch = bank.branch();
  deps = {
    instanceId: 'instance-1',
    node: 1,
    sql: bank.sql,
    wallet: (walletId) => branch.wallet(walletId),
    catalog: () => catalog,
    routes: { allows: () => true, successRate: () => 1, medianMs: () => null },
    queued: { isFull: () => false, added: () => {}, close: () => {} },
    limits: createVideoLimits({ videoJobsMax: 10, videoDays: 30, videoHaste: 1 }),
    ledger: { askTimeoutMs: 5_000 },
    enqueue: () => {},
    metrics: createVideoMetrics(new MetricsRegistry()),
  };
});
after(() => bank.close());

const catalog = catalogOf(['0.10', '0.40']);

function catalogOf(prices: readonly string[]): Catalog {
  const models = prices.map((price, index) => ({
    alias: `makes-${index}`,
    kind: 'video',
    routes: [{ provider: 'maker', upstream_model: 'm' }],
    price: { per_second_of_video: price },
    video: {
      durations: { min: 4, max: 12 },
      resolutions: { '720p': {} },
      aspect_ratios: ['16:9'],
      audio: 'optional',
      seed: true,
    },
  }));
  const document = v.parse(catalogDocumentSchema, {
    providers: [{ name: 'maker', family: 'xai-imagine', base_url: 'http://maker.example/v1' }],
    models,
    routes: [
      { alias: 'svc-video', kind: 'video', pool: models.map(({ alias }) => ({ model: alias })) },
    ],
  });
  const snapshot = buildSnapshot(document, () => 0);
  return {
    snapshot,
    models: new Map(snapshot.models.map((each) => [each.alias, each])),
    routes: new Map(snapshot.routes.map((each) => [each.alias, each])),
    clients: new Map(),
  };
}

async function order(cap: number | null): Promise<VideoOrder & { fallbackWalletId: string }> {
  const company = await newCompany(bank, { members: [{ cap }] });
  const fallbackWalletId = await bank.newWallet();
  await bank.branch().ask(fallbackWalletId, 'grant', purchase(1_000_000_000n));
  return {
    accountId: company.members[0] ?? '',
    walletId: company.walletId,
    fallbackWalletId,
    rules: null,
    apiKeyId: null,
    requestId: null,
    fingerprint: 'f'.repeat(64),
    conversationId: null,
    exact: null,
    settings: {
      prompt: 'A boat',
      durationSeconds: 5,
      aspectRatio: '16:9',
      resolution: '720p',
      generateAudio: true,
      seed: null,
    },
  };
}

async function heldOf(walletId: string): Promise<bigint> {
  const [row] = await bank.sql<{ held: bigint }[]>`
    SELECT held_micros AS held FROM wallets WHERE id = ${walletId}`;
  return row?.held ?? -1n;
}

test('what the cap leaves for the cheaper model is held of the organization', async () => {
  const asked = await order(null);
  const all = await createVideoJob(deps, asked);
  const dearest = await heldOf(asked.walletId);
  assert.equal(all.job.walletId, asked.walletId);
  const less = await order(Number(dearest) - 1);
  const { job } = await createVideoJob(deps, less);
  assert.equal(job.walletId, less.walletId);
  assert.ok((await heldOf(less.walletId)) < dearest, 'the dearer one is not named');
  assert.equal(await heldOf(less.fallbackWalletId), 0n);
});

test('what it leaves for none is held of the person, with every candidate', async () => {
  const free = await order(null);
  await createVideoJob(deps, free);
  const asked = await order(1);
  const { job } = await createVideoJob(deps, asked);
  assert.equal(job.walletId, asked.fallbackWalletId);
  assert.equal(await heldOf(asked.fallbackWalletId), await heldOf(free.walletId));
  assert.equal(await heldOf(asked.walletId), 0n);
  const [row] = await bank.sql<{ wallet_id: string }[]>`
    SELECT wallet_id FROM video_jobs WHERE id = ${job.id}`;
  assert.equal(row?.wallet_id, asked.fallbackWalletId);
  const refused = createVideoJob(deps, { ...asked, fallbackWalletId: null });
  await assert.rejects(refused, (error: { code?: string; details?: Record<string, unknown> }) => {
    assert.equal(error.code, 'spend_limit_exceeded');
    assert.equal(error.details?.cap, 'member');
    return true;
  });
  await bank.assertBooks();
});
