// Two policies together allow exactly what both allow, so that a request can narrow its
// organization's policy and never widen it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allowsModel,
  allowsProvider,
  narrowPolicy,
  openPolicy,
  type RoutingPolicy,
  readRoutingPolicy,
} from '../../../../media/model/choose/policy.ts';
import { fc } from '../../../harness/properties.ts';

const names = ['a', 'b', 'c'];
const list = fc.option(fc.subarray(names));
const anyPolicy = fc
  .record({
    allowed_providers: list,
    denied_providers: list,
    allowed_models: list,
    denied_models: list,
    max_cost_premium_percent: fc.option(fc.nat(500)),
  })
  .map((value): RoutingPolicy => {
    const result = readRoutingPolicy(value);
    assert.ok(result.ok);
    return result.policy;
  });

test('two policies together allow what both allow, in either order', () => {
  fc.assert(
    fc.property(anyPolicy, anyPolicy, (one, other) => {
      const both = narrowPolicy(one, other);
      for (const name of names) {
        const model = allowsModel(one, name) && allowsModel(other, name);
        assert.equal(allowsModel(both, name), model);
        assert.equal(allowsModel(narrowPolicy(other, one), name), model);
        const provider = allowsProvider(one, name) && allowsProvider(other, name);
        assert.equal(allowsProvider(both, name), provider);
      }
      for (const part of [one, other]) {
        if (part.costPremiumMax === null) continue;
        assert.ok(both.costPremiumMax !== null && both.costPremiumMax <= part.costPremiumMax);
      }
    }),
    { numRuns: 500 },
  );
});

test('no policy restricts nothing, and changes none', () => {
  fc.assert(
    fc.property(anyPolicy, (policy) => {
      assert.deepEqual(narrowPolicy(openPolicy, policy), policy);
      assert.deepEqual(narrowPolicy(policy, openPolicy), policy);
    }),
  );
  assert.ok(allowsModel(openPolicy, 'a') && allowsProvider(openPolicy, 'a'));
});

test('a list of a thousand names is read, and one more is refused', () => {
  const read = (length: number) =>
    readRoutingPolicy({ denied_models: Array.from({ length }, (_, index) => `m${index}`) }).ok;
  assert.equal(read(1_000), true);
  assert.equal(read(1_001), false);
});
