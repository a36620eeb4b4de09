// What the vendors' keys in the environment of development mode make of the catalog.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredDocument } from '../../../actors/catalog/declared.ts';
import type { Config } from '../../../runtime/config.ts';
import type { Logger } from '../../../runtime/log.ts';

test('of the vendors’ models those that reason say so: they alone are given a budget', async () => {
  const keys = { openaiKey: 'a', anthropicKey: 'b', geminiKey: 'c' };
  const config = { mode: 'dev', configPath: null, upstreams: [], ...keys } as unknown as Config;
  const { models } = await declaredDocument({ config, simulatorUrl: null, log: {} as Logger });
  const reasons = models.filter(({ capabilities }) => capabilities.includes('reasoning'));
  assert.deepEqual(
    reasons.map(({ alias }) => alias),
    ['anthropic-claude-sonnet-4-5', 'gemini-gemini-2.5-flash'],
  );
  assert.ok(models.length > reasons.length);
});
