// The catalog that the README shows is one that a start takes, and costs what is said beside it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { documentFaults } from '../../../actors/catalog/faults.ts';
import { charge, compileCard, type PriceCard } from '../../../actors/wallet/price.ts';
import { zeroUsage } from '../../../media/model/usage.ts';

const path = fileURLToPath(new URL('../../../../README.md', import.meta.url));
const readme = readFileSync(path, 'utf8');

function shownCatalog() {
  const [, shown] = /```json\n([\s\S]*?)```/.exec(readme) ?? [];
  assert.ok(shown !== undefined);
  // The key is left out as `…`, which no header may hold.
  const document: unknown = JSON.parse(shown.replace('sk-…', 'sk-secret'));
  return v.parse(catalogDocumentSchema, document);
}

test('the catalog of the README has the form of one and no faults', () => {
  assert.deepEqual(documentFaults(shownCatalog()), []);
});

test('a request costs what the README says, by the price that it shows', () => {
  const example = /(\S+) input and (\S+) output tokens costs (\S+) credits/.exec(
    readme.replace(/\s+/g, ' '),
  );
  const [input = 0, output = 0, credits = 0] = (example ?? [])
    .slice(1)
    .map((text) => Number(text.replaceAll(',', '')));
  const { models, credits_per_usd: creditsPerUsd } = shownCatalog();
  const card = compileCard(models[0]?.price as PriceCard, String(creditsPerUsd));
  const usage = { ...zeroUsage, inputTokens: input, outputTokens: output };
  assert.ok(input > 0 && output > 0);
  assert.equal(charge(card, usage).chargeMicros, BigInt(Math.round(credits * 1_000_000)));
});
