// Identifiers: form, order, uniqueness, and the node that stands in them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isId, newAuditId, newId, nodeOfId, siblingId } from '../../runtime/ids.ts';

test('an id is its prefix and 24 hex characters, and names its node', () => {
  for (const node of [0, 1, 17, 255]) {
    const id = newId('req', node);
    assert.match(id, /^req_[a-f0-9]{24}$/);
    assert.equal(nodeOfId(id), node);
    assert.equal(isId(id, 'req'), true);
    assert.equal(isId(id, 'key'), false);
  }
});

test('100,000 ids differ, and later milliseconds sort later', async () => {
  const ids = Array.from({ length: 100_000 }, () => newId('hold', 3));
  assert.equal(new Set(ids).size, ids.length);
  const before = newId('hold', 255);
  await new Promise((resolve) => setTimeout(resolve, 3));
  assert.ok(before < newId('hold', 0));
});

test('audit events of one millisecond sort in the order in which they happened', () => {
  const ids = Array.from({ length: 10_000 }, () => newAuditId(7));
  assert.deepEqual([...ids].sort(), ids);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.every((id) => isId(id, 'aud') && nodeOfId(id) === 7));
});

test('a sibling keeps the 24 characters under another prefix', () => {
  const id = newId('req', 9);
  const hold = siblingId(id, 'hold');
  assert.equal(isId(hold, 'hold'), true);
  assert.equal(siblingId(hold, 'req'), id);
});

test('what only looks like an id is none', () => {
  for (const text of ['req_', 'req_01', `req_${'g'.repeat(24)}`, `req_${'a'.repeat(25)}`, '']) {
    assert.equal(isId(text, 'req'), false, text);
  }
});
