// The surfaces of development mode are sound, and each has whoever serves it. What the operator's
// file declares goes first.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { documentFaults } from '../../../actors/catalog/faults.ts';
import { addSimulator } from '../../../actors/catalog/simulator.ts';
import { buildSnapshot } from '../../../actors/catalog/snapshot.ts';
import { surfaceOf, webSearchOf } from '../../../actors/catalog/surface.ts';
import { servesSurface } from '../../../media/providers/search/families.ts';
import { simulatedSearchProviders } from '../../../media/providers/search/simulated.ts';
import { surfaceNames } from '../../../media/search/surfaces.ts';

const simulatorUrl = 'http://127.0.0.1:9';

function development(declared: Record<string, unknown> = {}) {
  const document = v.parse(catalogDocumentSchema, declared);
  addSimulator(document, simulatorUrl);
  assert.deepEqual(documentFaults(document), []);
  return { document, snapshot: buildSnapshot(document, () => 0) };
}

test('every surface is there, with two targets where two families serve it', () => {
  const { snapshot } = development();
  for (const name of surfaceNames) {
    const surface = surfaceOf(snapshot, name);
    assert.ok(surface !== null, name);
    const served = surface.searchSurface ?? '';
    const families = simulatedSearchProviders.filter(({ family }) => servesSurface(family, served));
    assert.ok(families.length > 0, name);
    assert.equal(surface.targets.length, Math.min(families.length, 2), name);
    assert.ok(surface.targets.every(({ simulated }) => simulated));
    assert.ok(surface.priceMicros !== null && surface.priceMicros > 0n);
  }
});

test('models look for the web where they always did: at the simulator’s root', () => {
  const [first] = webSearchOf(development().snapshot)?.targets ?? [];
  assert.equal(first?.upstream.routeId, 'simulator-search/web_search');
  assert.equal(first?.upstream.baseUrl, simulatorUrl);
});

test('a simulated model writes the answers', () => {
  const { snapshot } = development();
  const { answerModel } = surfaceOf(snapshot, 'web_answer') ?? {};
  const model = snapshot.models.find(({ alias }) => alias === answerModel);
  assert.ok(model?.simulated && model.kind === 'generation');
});

test('what the file declares by such a name stays as it is', () => {
  const own = { name: 'engine_news', display_name: 'Ours', provider: 'simulator-search' };
  const { document } = development({ surfaces: [own] });
  const found = document.surfaces.filter(({ name }) => name === 'engine_news');
  assert.deepEqual(found, [{ ...own, enabled: true }]);
});
