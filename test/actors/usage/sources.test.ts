// What charges is counted: every holder has a way in which its rows are, and every route a kind.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { analysisRoute } from '../../../actors/analysis/answering.ts';
import { holders } from '../../../actors/wallet/holders.ts';
import { holderRows } from '../../../db/ledger/holders.ts';
import { kindsByRoute, sourcesOf, usageKinds, usageSources } from '../../../db/usage/sources.ts';

test('a kind of holder that nobody counts ends the start', () => {
  const [first] = holderRows;
  assert.ok(first !== undefined);
  const unknown = { ...first, kind: 'meeting', table: 'meetings', alias: 'x' };
  assert.throws(() => sourcesOf([...holderRows, unknown]), /usage is counted of every holder/);
  assert.deepEqual(
    usageSources.map(({ holder }) => holder.kind),
    holders.all.map(({ rows }) => rows.kind),
  );
});

test('no kind is counted from two sources, and none from nowhere', () => {
  assert.deepEqual(usageSources.flatMap(({ kinds }) => kinds).sort(), [...usageKinds].sort());
});

test('every route whose requests have a row of generations has a kind', async () => {
  const found = new Set<string>([analysisRoute]);
  for (const folder of ['actors/generation', 'actors/audio', 'actors/query']) {
    const root = new URL(`../../../../${folder}/`, import.meta.url);
    assert.ok((await readdir(root)).includes('component.ts'));
    const text = await readFile(new URL('component.ts', root), 'utf8');
    const [, list = ''] = /^const routes = \[([^\]]*)\]/m.exec(text) ?? [];
    for (const [, path = ''] of list.matchAll(/'([^']+)'/g)) found.add(path);
  }
  assert.ok(found.size > 4);
  assert.deepEqual([...found].sort(), Object.keys(kindsByRoute).sort());
});
