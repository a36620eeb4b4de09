// What anybody is told of surfaces: all that development mode has, whether they are there, and what
// a query costs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CatalogSurface } from '../../../actors/catalog/surface.ts';
import { createStandings } from '../../../actors/search/canary/standing.ts';
import { factsOf, type SurfaceName, surfaceNames } from '../../../media/search/surfaces.ts';
import { surfaceBodies } from '../../../routes/discovery/offers.ts';
import type { CatalogServices } from '../../../routes/services.ts';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
before(async () => {
  bed = await openTestbed();
});
after(() => bed?.close());

test('development has all fifteen surfaces: one credit, journeys and answers two', async () => {
  const contract = await Contract.load(bed.url);
  const { status, json } = await contract.call('GET', '/api/catalog');
  assert.equal(status, 200);
  const told = json.surfaces as Members[];
  assert.deepEqual(told.map(({ name }) => name).sort(), [...surfaceNames].sort());
  const dearer = ['engine_flights', 'engine_hotels', 'engine_routes', 'web_answer'];
  for (const { name, display_name: displayName, ...rest } of told) {
    assert.ok(typeof displayName === 'string' && displayName.length > 0);
    assert.deepEqual(rest, {
      kind: factsOf(name as SurfaceName).kind,
      available: true,
      credits_per_query: dearer.includes(String(name)) ? '2' : '1',
    });
  }
});

function bodiesOf(surfaces: readonly Partial<CatalogSurface>[], told: readonly Members[] = []) {
  const whole = surfaces.map((each) => ({
    displayName: 'A surface',
    kind: 'news',
    version: '1',
    targets: [{}],
    priceMicros: 1_250_000n,
    ...each,
  }));
  const standings = createStandings();
  standings.set(told as never);
  const current = () => ({ snapshot: { surfaces: whole } });
  return surfaceBodies({ current, standings } as unknown as CatalogServices);
}

const availableOf = (surface: Partial<CatalogSurface>, told: readonly Members[] = []) =>
  bodiesOf([{ name: 'engine_news', ...surface }], told)[0]?.available;

test('a surface is available with a price and a provider, unless its canary finds nothing', () => {
  assert.equal(availableOf({}), true);
  assert.equal(availableOf({ priceMicros: null }), false);
  assert.equal(availableOf({ targets: [] }), false);
  const told = { surface: 'engine_news', version: '1' };
  assert.equal(availableOf({}, [{ ...told, standing: 'unavailable' }]), false);
  assert.equal(availableOf({}, [{ ...told, standing: 'degraded' }]), true);
  assert.equal(availableOf({}, [{ ...told, version: '2', standing: 'unavailable' }]), true);
  assert.equal(
    availableOf({}, [{ ...told, surface: 'web_search', standing: 'unavailable' }]),
    true,
  );
});

test('a name that is only displayed has no kind and no price', () => {
  const notes = { name: 'notes', kind: null, targets: [], priceMicros: null };
  assert.deepEqual(bodiesOf([{ name: 'engine_news' }, notes]), [
    {
      name: 'engine_news',
      display_name: 'A surface',
      kind: 'news',
      available: true,
      credits_per_query: '1.25',
    },
    {
      name: 'notes',
      display_name: 'A surface',
      kind: null,
      available: false,
      credits_per_query: null,
    },
  ]);
});
