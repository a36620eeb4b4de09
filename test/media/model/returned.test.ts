// What the id of a call carries for its server. It is sealed, opens for the account alone, and is
// never a part of the id that a provider sees.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { carryingId, isCarrying, plainCallId, readCarried } from '../../../media/model/returned.ts';
import { readCallId } from '../../../media/providers/generation/call-ids.ts';
import { fc } from '../../harness/properties.ts';
import { accountSeals } from '../../harness/request.ts';

const seals = accountSeals();
const returned = { server: 'name', members: { extra_content: { google: { a: 'b+/=' } } } };

test('an id carries it, in characters that all formats take, and the same each time', () => {
  const ids = fc.string({ unit: fc.constantFrom('a', 'Z', '_', '-', '9'), maxLength: 40 });
  fc.assert(
    fc.property(ids, fc.json(), (id, json) => {
      const given = { server: 'name', members: { own: JSON.parse(json) as unknown } };
      const carrying = carryingId({ id, returned: given }, seals);
      assert.equal(carryingId({ id, returned: given }, accountSeals()), carrying);
      assert.match(carrying, /^[A-Za-z0-9_-]+$/);
      assert.ok(isCarrying(carrying));
      assert.equal(plainCallId(carrying), id);
      assert.deepEqual(readCallId(carrying), { id, signature: null });
      assert.deepEqual(readCarried(carrying, seals), { returned: given });
      assert.deepEqual(readCarried(carrying, accountSeals('another')), {});
    }),
  );
});

test('an id without anything to carry, or with too much, stays as it is', () => {
  assert.equal(carryingId({ id: 'call_1' }, seals), 'call_1');
  const long = { server: 's', members: { text: 'x'.repeat(20_000) } };
  assert.equal(carryingId({ id: 'call_1', returned: long }, seals), 'call_1');
  for (const id of ['', 'call_1', 'a__own', 'a__own12', 'a__own_b', 'a__sig3s_abc']) {
    assert.equal(isCarrying(id), false, id);
    assert.equal(plainCallId(id), id);
    assert.deepEqual(readCarried(id, seals), {});
  }
});

test('one that was altered or cut carries nothing, and its end is still none of the id', () => {
  const carrying = carryingId({ id: 'call_1', returned }, seals);
  for (let at = 'call_1__own12_'.length; at < carrying.length; at += 7) {
    const changed = carrying.slice(0, at) + (carrying[at] === 'A' ? 'B' : 'A');
    const altered = changed + carrying.slice(at + 1);
    for (const id of [altered, changed]) {
      assert.deepEqual(readCarried(id, seals), {});
      assert.equal(plainCallId(id), 'call_1');
    }
  }
  const reasoning = seals.seal({ format: 'messages', value: { signature: 's' } });
  const [, name = '', text = ''] = reasoning.split('.');
  assert.deepEqual(readCarried(`c__own${name.length}_${name}${text}`, seals), {}, 'another seal');
});
