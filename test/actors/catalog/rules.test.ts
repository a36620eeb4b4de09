// The catalog under the rules of an organization and of a request: what is left of it, and what is
// told of what is not. Rules on rules only narrow.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Catalog } from '../../../actors/catalog/current.ts';
import type { ManagedRoute } from '../../../actors/catalog/managed.ts';
import type { CatalogModel } from '../../../actors/catalog/model.ts';
import { catalogUnder, type ModelRules } from '../../../actors/catalog/ruled/rules.ts';
import { surfaceOf, webSearchOf } from '../../../actors/catalog/surface.ts';
import { rulesOf } from '../../../actors/organization/rules.ts';
import { type OrganizationSettings, readSettings } from '../../../actors/organization/settings.ts';
import { fc } from '../../harness/properties.ts';

type Place = [publicName: string | undefined, region: string | undefined];

const modelPlaces: Readonly<Record<string, Place[]>> = {
  everywhere: [
    ['acme', 'eu'],
    ['bolt', 'us'],
  ],
  european: [['acme', 'eu']],
  american: [['bolt', 'us']],
  nameless: [[undefined, undefined]],
};
const pools: Readonly<Record<string, string[]>> = {
  managed: ['everywhere', 'american'],
  european_managed: ['european'],
};

function catalogOf(): Catalog {
  const models = Object.entries(modelPlaces).map(([alias, places]) => {
    const targets = places.map(([publicName, region], index) => ({
      routeId: `${alias}/${index}`,
      ...(publicName === undefined ? {} : { publicName }),
      ...(region === undefined ? {} : { region }),
    }));
    return { alias, targets, video: null, public: { available: true } } as unknown as CatalogModel;
  });
  const modelOf = (alias: string) => models.find((model) => model.alias === alias);
  const routes = Object.entries(pools).map(([alias, names]) => {
    const pool = names.map((name) => ({ model: modelOf(name), quality: 50, qualities: {} }));
    return { alias, pool, public: { available: true } } as unknown as ManagedRoute;
  });
  const search = { routeId: 'search/web', publicName: 'bolt', region: 'us' };
  const news = { routeId: 'news/engine_news', publicName: 'acme', region: 'eu' };
  const surfaces = [
    { name: 'web_search', targets: [{ upstream: search }] },
    { name: 'engine_news', targets: [{ upstream: search }, { upstream: news }] },
    { name: 'engine_images', targets: [] },
  ];
  return {
    snapshot: { models, routes, surfaces },
    models: new Map(models.map((model) => [model.alias, model])),
    routes: new Map(routes.map((route) => [route.alias, route])),
    clients: new Map(),
  } as unknown as Catalog;
}

function rules(settings: Partial<OrganizationSettings>): ModelRules {
  const read = rulesOf(readSettings(settings));
  assert.ok(read !== null);
  return read;
}

/** What may be called, with the provider routes of each; a managed route with those of its pool. */
function callable(catalog: Catalog): Record<string, string[]> {
  const of = (models: readonly CatalogModel[]) =>
    models.flatMap(({ targets }) => targets.map(({ routeId }) => routeId));
  const exact = [...catalog.models.values()].map((model) => [model.alias, of([model])] as const);
  const managed = [...catalog.routes.values()].map(
    ({ alias, pool }) => [alias, of(pool.map(({ model }) => model))] as const,
  );
  return Object.fromEntries([...exact, ...managed]);
}

test('settings that forbid nothing leave the catalog as it is', () => {
  assert.equal(rulesOf(readSettings({})), null);
  assert.equal(rulesOf(readSettings({ routing_policy: { denied_models: null } })), null);
});

test('a region leaves the providers that stand in it, and no nameless place', () => {
  const ruled = catalogUnder(catalogOf(), rules({ data_residency_region: 'eu' }));
  assert.deepEqual(callable(ruled), {
    everywhere: ['everywhere/0'],
    european: ['european/0'],
    managed: ['everywhere/0'],
    european_managed: ['european/0'],
  });
  assert.equal(webSearchOf(ruled.snapshot), null, 'the search stands in us');
  assert.equal(ruled.withheld.get('american')?.rule, 'data_residency_region');
  assert.equal(ruled.withheld.get('nameless')?.rule, 'data_residency_region');
  assert.equal(ruled.withheld.get('european'), undefined);
});

test('a list of providers leaves those it names, and no nameless one', () => {
  const allowed = { routing_policy: { allowed_providers: ['bolt'] } };
  const ruled = catalogUnder(catalogOf(), rules(allowed));
  assert.deepEqual(callable(ruled), {
    everywhere: ['everywhere/1'],
    american: ['american/0'],
    managed: ['everywhere/1', 'american/0'],
  });
  assert.notEqual(webSearchOf(ruled.snapshot), null);
  assert.equal(ruled.withheld.get('european_managed')?.rule, 'routing_policy');
  const denied = catalogUnder(
    catalogOf(),
    rules({ routing_policy: { denied_providers: ['bolt'] } }),
  );
  assert.ok(denied.models.has('nameless'), 'a list of denied names does not name it');
  assert.equal(denied.models.has('american'), false);
});

test('a managed route that is named chooses of its pool; else the lists choose of it', () => {
  const only = (names: string[]) =>
    callable(catalogUnder(catalogOf(), rules({ routing_policy: { allowed_models: names } })));
  assert.deepEqual(only(['american']), {
    american: ['american/0'],
    managed: ['american/0'],
  });
  assert.deepEqual(only(['managed']), {
    managed: ['everywhere/0', 'everywhere/1', 'american/0'],
  });
  const denied = catalogUnder(
    catalogOf(),
    rules({ routing_policy: { denied_models: ['managed'] } }),
  );
  assert.equal(denied.routes.has('managed'), false);
  assert.equal(denied.withheld.get('managed')?.rule, 'routing_policy');
  assert.ok(denied.models.has('american'), 'its pool may be called by name');
});

test('the same rules give the same catalog', () => {
  const catalog = catalogOf();
  const denied = (names: string[]) => rules({ routing_policy: { denied_models: names } });
  const first = catalogUnder(catalog, denied(['american', 'european']));
  assert.equal(catalogUnder(catalog, denied(['european', 'american'])), first);
  assert.notEqual(catalogUnder(catalog, denied(['european'])), first);
  assert.notEqual(catalogUnder(catalogOf(), denied(['american', 'european'])), first);
});

test('rules on rules allow nothing that the first ones do not', () => {
  const names = fc.subarray([...Object.keys(modelPlaces), ...Object.keys(pools)]);
  const providers = fc.subarray(['acme', 'bolt']);
  const settings = fc.record({
    data_residency_region: fc.constantFrom('auto', 'eu', 'us'),
    routing_policy: fc.record(
      {
        allowed_models: names,
        denied_models: names,
        allowed_providers: providers,
        denied_providers: providers,
        max_cost_premium_percent: fc.nat(100),
      },
      { requiredKeys: [] },
    ),
  });
  fc.assert(
    fc.property(settings, settings, (one, other) => {
      const [first, second] = [one, other].map((each) => {
        return rulesOf(readSettings(each as Partial<OrganizationSettings>));
      });
      if (first == null || second == null) return;
      const wide = catalogUnder(catalogOf(), first);
      const narrow = catalogUnder(wide, second);
      const [before, after] = [callable(wide), callable(narrow)];
      for (const [alias, routes] of Object.entries(after)) {
        for (const routeId of routes) assert.ok(before[alias]?.includes(routeId), alias);
      }
      for (const alias of Object.keys(callable(catalogOf()))) {
        assert.equal(narrow.withheld.has(alias), !(alias in after), alias);
      }
      const premium = narrow.routing.costPremiumMax ?? Number.POSITIVE_INFINITY;
      assert.ok(premium <= (wide.routing.costPremiumMax ?? Number.POSITIVE_INFINITY));
    }),
  );
});

test('a surface keeps the providers that rules leave; one without any is withheld by name', () => {
  const catalog = catalogOf();
  const routesOf = (ruled: Catalog, name: string) =>
    surfaceOf(ruled.snapshot, name)?.targets.map(({ upstream }) => upstream.routeId);
  const europe = catalogUnder(catalog, rules({ data_residency_region: 'eu' }));
  assert.deepEqual(routesOf(europe, 'engine_news'), ['news/engine_news']);
  assert.deepEqual(routesOf(europe, 'web_search'), []);
  assert.deepEqual([...europe.withheldSurfaces], [['web_search', 'data_residency_region']]);
  const denied = rules({ routing_policy: { denied_providers: ['acme', 'bolt'] } });
  const nothing = catalogUnder(catalog, denied);
  assert.deepEqual(
    [...nothing.withheldSurfaces],
    [
      ['web_search', 'routing_policy'],
      ['engine_news', 'routing_policy'],
    ],
    'the one that has no provider anyway is not',
  );
  const both = catalogUnder(europe, rules({ routing_policy: { denied_providers: ['acme'] } }));
  assert.deepEqual(
    [...both.withheldSurfaces],
    [
      ['web_search', 'data_residency_region'],
      ['engine_news', 'routing_policy'],
    ],
    'the rule that took the last one',
  );
});
