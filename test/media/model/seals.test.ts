// Seals of what clients carry for providers. Nobody reads or alters them, and no other account can
// use them. Those of the build before hold what that build put into them.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { NativeValue } from '../../../media/model/events.ts';
import type { WireFormat } from '../../../media/model/request.ts';
import type { SealFault, SealsOptions } from '../../../media/model/seals.ts';
import { createSealer } from '../../../runtime/seal.ts';
import { fc } from '../../harness/properties.ts';
import { accountSeals } from '../../harness/request.ts';

const thought: NativeValue = {
  format: 'responses',
  value: { id: 'rs_1', encrypted_content: 'gAAA' },
};
const faults: SealFault[] = [];
const refused = (fault: SealFault) => faults.push(fault);

/** What becomes of a seal, and why it was left out. */
function opened(text: string, accountId = 'acc_1', change: Partial<SealsOptions> = {}) {
  faults.length = 0;
  const content = accountSeals(accountId, { refused, ...change }).open(text);
  assert.equal(content === null, faults.length === 1);
  return content ?? faults[0];
}

const newSealer = () => createSealer(randomBytes(32).toString('base64url'));

/** As the build before sealed: no key, no account. */
function unbound(content: unknown): string {
  return `svc1.${Buffer.from(JSON.stringify(content)).toString('base64url')}`;
}

test('a seal opens for its account, has the same bytes again, and shows nothing', () => {
  const sealed = accountSeals().seal(thought);
  assert.deepEqual(opened(sealed), thought);
  assert.equal(accountSeals().seal(thought), sealed);
  assert.equal(opened(sealed, 'acc_2'), 'altered');
  assert.doesNotMatch(Buffer.from(sealed.slice(5), 'base64url').toString('latin1'), /gAAA|rs_1/);
  assert.match(sealed, /^svc1\.[0-9a-f]{12}\.[\w-]+$/);
});

test('every altered character is noticed', () => {
  const sealed = accountSeals().seal(thought);
  const at = fc.integer({ min: 'svc1.'.length, max: sealed.length - 1 });
  const other = fc.constantFrom(...'abcXYZ019-_.= ');
  fc.assert(
    fc.property(at, other, (index, character) => {
      const altered = sealed.slice(0, index) + character + sealed.slice(index + 1);
      if (altered !== sealed) assert.equal(typeof opened(altered), 'string', altered);
    }),
  );
  for (const change of ['', '.', '.x', 'A', '=']) {
    if (change !== '') assert.equal(opened(sealed + change), 'altered', change);
  }
  assert.equal(opened(sealed.slice(0, 40)), 'altered');
});

test('the key before opens what it sealed, and a key that is gone opens nothing', () => {
  const [sealer, previousSealer] = [newSealer(), newSealer()];
  const old = accountSeals('acc_1', { sealer: previousSealer }).seal(thought);
  assert.deepEqual(opened(old, 'acc_1', { sealer, previousSealer }), thought);
  assert.equal(opened(old, 'acc_2', { sealer, previousSealer }), 'altered');
  assert.equal(opened(old, 'acc_1', { sealer }), 'unknown_key');
});

const known: NativeValue[] = [
  thought,
  { format: 'responses', value: { encrypted_content: 'gAAA' } },
  { format: 'responses', value: { content: [{ type: 'reasoning_text', text: 'so' }] } },
  { format: 'messages', value: { signature: 'c2ln' } },
  { format: 'messages', value: { type: 'redacted_thinking', data: 'cmVk' } },
];

test('seals of the build before are taken for their time, with known members alone', () => {
  const until = (ms: number) => ({ unboundUntilMs: () => ms, clock: () => 1_000 });
  for (const { format, value } of known) {
    const sealed = unbound([format, value]);
    assert.deepEqual(opened(sealed, 'acc_1', until(1_001)), { format, value });
    assert.equal(opened(sealed, 'acc_1', until(1_000)), 'expired');
    const widened = unbound([format, { ...value, source: { type: 'url', url: 'http://a' } }]);
    assert.equal(opened(widened, 'acc_1', until(1_001)), 'unknown_content');
  }
  for (const content of [
    ['chat', { signature: 's' }],
    ['messages', { type: 'document', source: {} }],
    ['messages', { signature: 5 }],
    ['responses', { content: [{ type: 'input_image', image_url: 'http://a' }] }],
    ['responses', thought.value, 'more'],
    thought.value,
    null,
  ]) {
    assert.equal(opened(unbound(content), 'acc_1', until(1_001)), 'unknown_content');
  }
  for (const text of ['svc1.', 'svc1.AAAA']) {
    assert.equal(opened(text, 'acc_1', until(1_001)), 'altered');
  }
});

test('a process of the build before takes a seal for a broken one of its own', () => {
  const sealed = accountSeals().seal(thought);
  const readBefore = () => JSON.parse(Buffer.from(sealed.slice(5), 'base64url').toString());
  assert.throws(readBefore);
});

test('what a newer process has sealed besides is left out', () => {
  // A format that no build has yet.
  const unknown = { format: 'tomorrow' as WireFormat, value: { reasoning_content: 'so' } };
  assert.equal(opened(accountSeals().seal(unknown)), 'unknown_content');
});

test('one request opens a bounded number', () => {
  const sealed = accountSeals().seal(thought);
  const seals = accountSeals('acc_1', { openedMax: 2, refused });
  faults.length = 0;
  const found = [sealed, sealed, sealed].map((each) => seals.open(each) !== null);
  assert.deepEqual(found, [true, true, false]);
  assert.deepEqual(faults, ['too_many']);
});
