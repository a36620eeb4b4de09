// Proves each check with samples that it refuses and samples that it accepts. They are in
// `test/tidy/samples`, a text file a check, as broken code has no place in a source.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checks } from './checks.ts';
import { parseSamples } from './samples.ts';

const folder = fileURLToPath(new URL('../../../test/tidy/samples/', import.meta.url));

for (const { id, find } of checks) {
  test(`the samples of ${id} are told apart`, () => {
    const samples = parseSamples(readFileSync(`${folder}${id}.txt`, 'utf8'));
    const kinds = new Set(samples.map(({ kind }) => kind));
    assert.deepEqual([...kinds].sort(), ['accepted', 'refused'], 'it needs samples of both kinds');
    for (const { kind, name, tree, found } of samples) {
      if (kind === 'refused') assert.notEqual(found.length, 0, `${name}: no finding is stated`);
      assert.equal(find(tree).join('\n'), found, name);
    }
  });
}

test('every file of samples belongs to a check', () => {
  const ids = checks.map(({ id }) => `${id}.txt`);
  assert.deepEqual(readdirSync(folder).sort(), ids.sort());
});
