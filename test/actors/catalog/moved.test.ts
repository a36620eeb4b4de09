// What a change of the catalog makes a shard forget of its routes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { movedRoutes } from '../../../actors/catalog/moved.ts';
import { buildSnapshot, type CatalogSnapshot } from '../../../actors/catalog/snapshot.ts';

function snapshotOf(ports: Record<string, number>): CatalogSnapshot {
  const names = Object.keys(ports);
  const document = {
    providers: names.map((name) => ({
      name,
      family: 'openai-audio',
      base_url: `http://127.0.0.1:${ports[name]}/v1`,
    })),
    models: [
      {
        alias: 'hear',
        kind: 'transcription',
        routes: names.map((provider) => ({ provider, upstream_model: 'm' })),
        price: { per_audio_minute: '0.006' },
      },
    ],
  };
  return buildSnapshot(v.parse(catalogDocumentSchema, document), () => 0);
}

const idsOf = (snapshot: CatalogSnapshot, name: string) =>
  snapshot.models.flatMap(({ targets }) => targets).find(({ routeId }) => routeId.includes(name))
    ?.routeId;

test('routes that lead elsewhere or nowhere are forgotten, the others are not', () => {
  const before = snapshotOf({ stays: 1, moves: 2, goes: 3 });
  const after = snapshotOf({ stays: 1, moves: 9, comes: 4 });
  const forgotten = [idsOf(before, 'moves'), idsOf(before, 'goes')];
  assert.deepEqual(movedRoutes(before, after), forgotten);
  assert.deepEqual(movedRoutes(before, before), []);
});

test('so is a search with another key: its bill may be paid', () => {
  const upstream = { ...snapshotOf({ a: 1 }).models[0]?.targets[0], routeId: 'finder/web_search' };
  const withKey = (apiKey: string) =>
    ['web_search', 'web_answer'].map((name) => ({
      name,
      targets: [{ upstream: { ...upstream, apiKey } }],
    }));
  const before = {
    ...snapshotOf({ a: 1 }),
    surfaces: withKey('one'),
  } as unknown as CatalogSnapshot;
  const after = { ...before, surfaces: withKey('another') } as unknown as CatalogSnapshot;
  assert.deepEqual(movedRoutes(before, after), ['finder/web_search']);
  assert.deepEqual(movedRoutes(before, { ...before, surfaces: [] }), ['finder/web_search']);
  assert.deepEqual(movedRoutes(before, before), []);
});
