// What the environment of development mode makes of the catalog: keys of vendors, local runners.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { readDeclared } from '../../../actors/catalog/declared.ts';
import type { Config } from '../../../runtime/config.ts';
import type { Logger } from '../../../runtime/log.ts';

test('of the vendors’ models those that reason say so: they alone are given a budget', async () => {
  const keys = { openaiKey: 'a', anthropicKey: 'b', geminiKey: 'c' };
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

test('every model that a local runner lists has an alias of its own', async () => {
  // Two of one file at different precisions, and two that differ in what an alias cannot have.
  const long = `hf.co/organisation/${'a-long-name-of-merged-models-'.repeat(3)}GGUF:`;
  const names = [`${long}Q4_K_M`, `${long}Q8_0`, 'Llama 3', 'llama-3', '模型'];
  const listed = { object: 'list', data: [...names, 'llama-3'].map((id) => ({ id })) };
  const runner = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(listed));
  });
  await new Promise<void>((resolve) => {
    runner.listen(0, '127.0.0.1', resolve);
  });
  const { port } = runner.address() as AddressInfo;
  const upstream = { name: 'local', url: `http://127.0.0.1:${port}/v1`, key: null };
  const keys = { openaiKey: null, anthropicKey: null, geminiKey: null };
  const config = { mode: 'dev', configPath: null, upstreams: [upstream], ...keys };
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
