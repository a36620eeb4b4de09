// The catalog that the README shows is one that a start takes, and costs what is said beside it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { type CatalogDocument, catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { documentFaults } from '../../../actors/catalog/faults.ts';
import { charge, compileCard, type PriceCard, videoCharge } from '../../../actors/wallet/price.ts';
import { zeroUsage } from '../../../media/model/usage.ts';

const path = fileURLToPath(new URL('../../../../README.md', import.meta.url));
const readme = readFileSync(path, 'utf8');

/** The catalogs that it shows, in order. */
function shownCatalogs() {
  const shown = [...readme.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = '']) => json);
  assert.equal(shown.length, 3);
  // Keys are cut by `…`, which no header may hold.
  return shown.map((json) => v.parse(catalogDocumentSchema, JSON.parse(json.replace('…', 'x'))));
}

/** The catalogs that show models. */
const modelCatalogs = () => shownCatalogs().filter(({ models }) => models.length > 0);

function cardOf(document: CatalogDocument | undefined) {
  assert.ok(document !== undefined);
  const { models, credits_per_usd: creditsPerUsd } = document;
  return compileCard(models[0]?.price as PriceCard, String(creditsPerUsd));
}

test('the catalogs of the README have the form of one and no faults', () => {
  for (const document of shownCatalogs()) assert.deepEqual(documentFaults(document), []);
});

test('a request costs what the README says, by the price that it shows', () => {
  const example = /(\S+) input and (\S+) output tokens costs (\S+) credits/.exec(
    readme.replace(/\s+/g, ' '),
  );
  const [input = 0, output = 0, credits = 0] = (example ?? [])
    .slice(1)
    .map((text) => Number(text.replaceAll(',', '')));
  const [document] = modelCatalogs();
  const card = cardOf(document);
  const usage = { ...zeroUsage, inputTokens: input, outputTokens: output };
  assert.ok(input > 0 && output > 0);
  assert.equal(charge(card, usage).chargeMicros, BigInt(Math.round(credits * 1_000_000)));
});

test('a video costs what the README says, by the price that it shows', () => {
  const [, seconds, resolution, credits] =
    /A video of (\d+) seconds at (\S+) costs (\S+) credits/.exec(readme) ?? [];
  const [, document] = modelCatalogs();
  const asked = { audio: true, seconds: Number(seconds), resolution: resolution as '1080p' };
  assert.equal(
    videoCharge(cardOf(document), asked).chargeMicros,
    BigInt(Math.round(Number(credits) * 1_000_000)),
  );
  assert.deepEqual(document?.models[0]?.video?.resolutions['1080p']?.durations, [8]);
});
