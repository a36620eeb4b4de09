// What the environment of development mode makes of the catalog: keys of vendors, local runners.
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import * as v from 'valibot';
import { readDeclared } from '../../../actors/catalog/declared.ts';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import type { Config } from '../../../runtime/config.ts';
import type { Logger } from '../../../runtime/log.ts';

const noPayments = {
  stripeSecretKey: null,
  stripeWebhookSecret: null,
  razorpayKeyId: null,
  razorpayKeySecret: null,
  razorpayWebhookSecret: null,
};
const noKeys = { openaiKey: null, anthropicKey: null, geminiKey: null, ...noPayments };

/** A local runner; it is at its `url` until it is closed. */
async function listen(answer: RequestListener): Promise<{ url: string; close: () => void }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => void server.close() };
}

test('of the vendors’ models those that reason say so: they alone are given a budget', async () => {
  const keys = { ...noPayments, openaiKey: 'a', anthropicKey: 'b', geminiKey: 'c' };
  const config = { mode: 'dev', configPath: null, upstreams: [], ...keys } as unknown as Config;
  const options = { config, simulatorUrl: null, log: {} as Logger };
  const { models } = (await readDeclared(options)).document;
  const reasons = models.filter(({ capabilities }) => capabilities.includes('reasoning'));
  assert.deepEqual(
    reasons.map(({ alias }) => alias),
    ['anthropic-claude-sonnet-4-5', 'gemini-gemini-2.5-flash'],
  );
  assert.ok(models.length > reasons.length);
});

test('models of a local runner can do what is declared of them', async () => {
  const listed = { object: 'list', data: [{ id: 'm' }] };
  const runner = await listen((_request, response) => response.end(JSON.stringify(listed)));
  const capabilitiesOf = async (capabilities: readonly string[] | null) => {
    const upstream = { name: 'local', url: runner.url, key: null, capabilities };
    const config = { mode: 'dev', configPath: null, upstreams: [upstream], ...noKeys };
    const options = { config: config as unknown as Config, simulatorUrl: null, log: {} as Logger };
    return (await readDeclared(options)).document.models[0]?.capabilities;
  };
  try {
    assert.deepEqual(await capabilitiesOf(null), ['chat', 'tools', 'structured_output']);
    const declared = ['chat', 'vision', 'web_search'];
    assert.deepEqual(await capabilitiesOf(declared), declared);
  } finally {
    runner.close();
  }
});

test('every model that a local runner lists has an alias of its own', async () => {
  // Two of one file at different precisions, and two that differ in what an alias cannot have.
  const long = `hf.co/organisation/${'a-long-name-of-merged-models-'.repeat(3)}GGUF:`;
  const names = [`${long}Q4_K_M`, `${long}Q8_0`, 'Llama 3', 'llama-3', '模型'];
  const listed = { object: 'list', data: [...names, 'llama-3'].map((id) => ({ id })) };
  const runner = await listen((_request, response) => response.end(JSON.stringify(listed)));
  const upstream = { name: 'local', url: runner.url, key: null };
  const config = { mode: 'dev', configPath: null, upstreams: [upstream], ...noKeys };
  const options = { config: config as unknown as Config, simulatorUrl: null, log: {} as Logger };
  try {
    const { models } = (await readDeclared(options)).document;
    assert.deepEqual(
      models.map(({ routes }) => routes[0]?.upstream_model),
      names,
    );
    for (const { alias } of models) assert.match(alias, /^local-[a-z0-9._-]{1,74}$/);
    assert.equal(new Set(models.map(({ alias }) => alias)).size, names.length);
    assert.equal(models[2]?.alias, 'local-llama-3');
    const { document } = await readDeclared(options);
    assert.deepEqual(document.models, models, 'as after the next start');
  } finally {
    runner.close();
  }
});

async function poolsOf(more: object): Promise<Map<string, [string, number][]>> {
  const config = { mode: 'dev', configPath: null, upstreams: [], ...noKeys, ...more };
  const { document } = await readDeclared({
    config: config as unknown as Config,
    simulatorUrl: 'http://127.0.0.1:1',
    log: { warn: () => {} } as unknown as Logger,
  });
  return new Map(
    document.routes.map(({ alias, pool }) => [
      alias,
      pool.map(({ model, quality }) => [model, quality]),
    ]),
  );
}

test('real models join the managed pools, where they go before the simulated ones', async () => {
  const alone = await poolsOf({});
  const simulated = alone.get('svc-intelligent') ?? [];
  assert.ok(simulated.some(([model]) => model === 'svc-sim-chat'));
  const names = ['writer', 'nomic-embed-text', ...Array.from({ length: 98 }, (_, i) => `m${i}`)];
  const runner = await listen((_request, response) => {
    response.end(JSON.stringify({ data: names.map((id) => ({ id })) }));
  });
  const upstreams = [{ name: 'local', url: runner.url, key: null }];
  const pools = await poolsOf({ openaiKey: 'a', upstreams }).finally(runner.close);
  assert.deepEqual([...pools.keys()], [...alone.keys()]);
  const chosen = ['svc-intelligent', 'svc-coder', 'svc-intelligent-direct', 'svc-coder-direct'];
  for (const [alias, pool] of [...pools].filter(([name]) => chosen.includes(name))) {
    assert.deepEqual(pool.slice(0, simulated.length), simulated, alias);
    const real = pool.slice(simulated.length);
    assert.deepEqual(real[0], ['openai-gpt-4.1', 60]);
    assert.ok(real.some(([model]) => model === 'local-writer'));
    assert.ok(!pool.some(([model]) => model.includes('embed')));
    assert.equal(pool.length, 64, 'the most of a pool');
  }
  const seeing = pools.get('svc-video-analysis') ?? [];
  assert.deepEqual(seeing.slice(0, simulated.length), simulated, 'all simulated ones see');
  assert.ok(seeing.some(([model]) => model === 'openai-gpt-4.1'));
  assert.ok(!seeing.some(([model]) => model.startsWith('local-')), 'a runner says that it sees');
  assert.deepEqual(pools.get('svc-video'), alone.get('svc-video'));
});

test('videos are made by the models of the specification, and one more', async () => {
  const { document } = await readDeclared({
    config: { mode: 'dev', configPath: null, upstreams: [], ...noKeys } as unknown as Config,
    simulatorUrl: 'http://127.0.0.1:1',
    log: {} as Logger,
  });
  const route = document.routes.find(({ alias }) => alias === 'svc-video');
  assert.equal(route?.kind, 'video');
  const families = document.providers.map(({ name, family }) => [name, family]);
  const familyOf = Object.fromEntries(families) as Record<string, string>;
  const made = route?.pool.map(({ model, quality }) => {
    const record = document.models.find(({ alias }) => alias === model);
    return [model, quality, familyOf[record?.routes[0]?.provider ?? '']];
  });
  assert.deepEqual(made, [
    ['vendorA-imagine-video', 50, 'xai-imagine'],
    ['vendorA-imagine-video-1.5', 50, 'xai-imagine'],
    ['vendorB-3.1-generate-preview', 50, 'google-veo'],
    ['vendorB-3.1-fast-generate-preview', 50, 'google-veo'],
    ['vendorB-3.1-lite-generate-preview', 50, 'google-veo'],
    ['svc-sim-video', 50, 'openai-videos'],
  ]);
  // The schema takes what is declared, and gives it back.
  assert.deepEqual(v.parse(catalogDocumentSchema, document), document);
});

test('a runner that cannot be asked is named with its address and the reason', async () => {
  const teapot = await listen((_request, response) => response.writeHead(418).end());
  const page = await listen((_request, response) => response.end('<html>'));
  const gone = await listen(() => {});
  gone.close();
  const said: unknown[] = [];
  const log = { warn: (...words: unknown[]) => said.push(words) } as unknown as Logger;
  const withPassword = gone.url.replace('http://', 'http://me:hunter2@');
  const upstreams = [teapot.url, page.url, withPassword].map((url, index) => {
    return { name: `runner${index}`, url, key: 'secret-key' };
  });
  const config = { mode: 'dev', configPath: null, upstreams, ...noKeys } as unknown as Config;
  await readDeclared({ config, simulatorUrl: null, log }).finally(() => {
    teapot.close();
    page.close();
  });
  const line = (upstream: string, url: string, reason: string) => {
    return [{ upstream, url, reason }, 'the runner is left out: it lists no models'];
  };
  assert.deepEqual(said, [
    line('runner0', teapot.url, 'GET /models answers 418'),
    line('runner1', page.url, 'GET /models answers with something else than a list'),
    line('runner2', gone.url, 'ECONNREFUSED'),
  ]);
});
