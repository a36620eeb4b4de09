// Models of video as customers see them: in every list, with what they make and cost, and none that
// text can be asked of.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import type { TestAccount } from '../harness/account.ts';
import { Contract } from '../harness/contract.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

type Members = Record<string, unknown>;

const named = [
  'vendorA-imagine-video',
  'vendorA-imagine-video-1.5',
  'vendorB-3.1-generate-preview',
  'vendorB-3.1-fast-generate-preview',
  'vendorB-3.1-lite-generate-preview',
];

let bed: Testbed;
let contract: Contract;
let headers: Record<string, string>;
let account: TestAccount;
let entries: Map<string, Members>;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
  account = await bed.account();
  headers = { authorization: `Bearer ${account.apiKey}` };
  const { json } = await contract.call('GET', '/api/public/models');
  entries = new Map((json.models as Members[]).map((entry) => [String(entry.alias), entry]));
});
after(() => bed?.close());

test('each model of the specification says what it makes and what a second costs', () => {
  for (const alias of [...named, 'svc-video']) {
    const entry = entries.get(alias);
    assert.deepEqual(entry?.capabilities, ['video'], alias);
    assert.equal(entry?.available, true, alias);
    assert.equal(entry?.supports_streaming, false, alias);
    assert.ok(Number(entry?.credits_per_second_of_video) > 0, alias);
    assert.ok(Array.isArray(entry?.video_rates), alias);
    assert.equal((entry?.video as Members | undefined)?.minutes_max, 30, alias);
  }
  // 0.10 and 0.12 dollars, 100 credits a dollar, 5 % more.
  const fast = entries.get('vendorB-3.1-fast-generate-preview');
  assert.equal(fast?.credits_per_second_of_video, 10.5);
  assert.deepEqual(fast?.video_rates, [{ resolution: '1080p', credits_per_second_of_video: 12.6 }]);
  for (const alias of named.slice(2)) {
    assert.deepEqual(entries.get(alias)?.video, {
      durations: [4, 6, 8],
      resolutions: { '720p': {}, '1080p': { durations: [8] } },
      aspect_ratios: ['16:9', '9:16'],
      audio: 'always',
      seed: false,
      minutes_max: 30,
    });
  }
  assert.ok(!('video' in (entries.get('svc-sim-chat') ?? {})));
});

test('the managed route makes all that can be asked for, at the price of its dearest', () => {
  const route = entries.get('svc-video') ?? {};
  const { durations, resolutions, aspect_ratios } = route.video as Members;
  assert.deepEqual(durations, { min: 4, max: 30 });
  assert.deepEqual(resolutions, { '720p': {}, '1080p': {} });
  assert.deepEqual(aspect_ratios, ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9']);
  const dearest = Math.max(
    ...[...named, 'svc-sim-video'].map((alias) =>
      Number(entries.get(alias)?.credits_per_second_of_video),
    ),
  );
  assert.equal(route.credits_per_second_of_video, dearest);
});

test('model lists name them, those of Messages do not', async () => {
  const { json } = await contract.call('GET', '/v1/models', { headers });
  const ids = (json.data as { id: string }[]).map(({ id }) => id);
  for (const alias of [...named, 'svc-video', 'svc-video-analysis']) {
    assert.ok(ids.includes(alias), alias);
    const one = await contract.call('GET', `/v1/models/${alias}`, { headers });
    assert.equal(one.json.id, alias);
  }
  const llm = await contract.call('GET', '/api/v1/llm/models', { headers });
  const desktop = (llm.json.models as Members[]).find(({ alias }) => alias === 'svc-video');
  assert.deepEqual(desktop, entries.get('svc-video'));
  const anthropic = new Anthropic({ baseURL: bed.url, apiKey: account.apiKey, maxRetries: 0 });
  const messages = (await anthropic.models.list()).data.map(({ id }) => id);
  assert.ok(messages.includes('svc-video-analysis'));
  assert.ok(!messages.includes('svc-video') && !messages.includes(named[0] ?? ''));
  const version = { ...headers, 'anthropic-version': '2023-06-01' };
  const route = await contract.call('GET', '/v1/models/svc-video', { headers: version });
  assert.equal(route.json.max_tokens, null);
});

test('no generation takes one, by whatever name, and none of the pool is named', async () => {
  const balance = await account.balance();
  const turns = { messages: [{ role: 'user', content: 'a film' }] };
  for (const model of ['svc-video', named[0] ?? '']) {
    for (const [path, body] of [
      ['/v1/chat/completions', turns],
      ['/v1/messages', { ...turns, max_tokens: 10 }],
      ['/v1/responses', { input: 'a film' }],
      ['/api/v1/llm/responses', { input: 'a film' }],
      ['/v1/messages/count_tokens', turns],
      ['/v1/responses/input_tokens', { input: 'a film' }],
    ] as const) {
      const reply = await contract.call('POST', path, { headers, body: { model, ...body } });
      assert.equal(reply.status, 404, `${path} ${reply.text}`);
      const { message } = reply.json.error as { message: string };
      assert.equal(
        message,
        `"${model}" is a video model: it is used with /v1/video/generations.`,
        path,
      );
    }
  }
  assert.deepEqual(await account.balance(), balance, 'nothing was held');
});

test('what describes videos is a managed route of generation over models that see', async () => {
  const entry = entries.get('svc-video-analysis') ?? {};
  assert.ok((entry.capabilities as string[]).includes('vision'));
  assert.ok(!('video' in entry));
  const reply = await contract.call('POST', '/v1/chat/completions', {
    headers,
    body: { model: 'svc-video-analysis', messages: [{ role: 'user', content: 'what is it?' }] },
  });
  assert.equal(reply.status, 200, reply.text);
});
