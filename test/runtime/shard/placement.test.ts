// Placement is stable: a node that leaves moves only its own ids, and gets them when it returns.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { placeId } from '../../../runtime/shard/placement.ts';
import { fc } from '../../harness/properties.ts';

const nodeSets = fc.uniqueArray(fc.integer({ min: 1, max: 256 }), { minLength: 1, maxLength: 16 });
const ids = fc.array(fc.string({ maxLength: 40 }), { minLength: 1, maxLength: 50 });

test('removing a node moves only the ids of that node, and adding it back restores them', () => {
  const property = fc.property(nodeSets, ids, fc.nat(), (nodes, names, pick) => {
    const gone = nodes[pick % nodes.length];
    const rest = nodes.filter((node) => node !== gone);
    for (const id of names) {
      const before = placeId(id, nodes);
      const after = placeId(id, rest);
      if (before !== gone) assert.equal(after, before);
      else assert(rest.length === 0 ? after === null : after !== gone);
      assert.equal(placeId(id, [...rest, gone as number]), before, 'the order must not matter');
    }
  });
  // On failure fast-check prints seed and path of the counterexample.
  fc.assert(property, { numRuns: 500 });
});

test('time-ordered ids spread evenly', () => {
  const nodes = [1, 2, 3, 4];
  const counts = new Map<number | null, number>();
  for (let i = 0; i < 40_000; i += 1) {
    const node = placeId(`wal_${(0x19a5b0000000 + i).toString(16).padStart(24, '0')}`, nodes);
    counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  for (const node of nodes) {
    const share = counts.get(node) ?? 0;
    assert(share > 9_000 && share < 11_000, `node ${node} has ${share} of 40000`);
  }
});

test('without a live node there is no place', () => {
  assert.equal(placeId('a', []), null);
});
