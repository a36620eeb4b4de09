// Tokens that leave us: what opens them, what does not; controls, and how fast a client may send.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { readControl } from '../../../actors/voice/control.ts';
import { fullBucket, isRested, take } from '../../../actors/voice/frame-rate.ts';
import {
  acceptsContinuation,
  openTicket,
  sealContinuation,
  sealTicket,
} from '../../../actors/voice/sealed.ts';
import { createSealer } from '../../../runtime/seal.ts';

const sealer = createSealer(randomBytes(32).toString('base64url'));
const other = createSealer(randomBytes(32).toString('base64url'));
const owner = { accountId: 'acc_1', voiceId: 'alloy' };

test('a continuation is good for its account and voice, until it expires', () => {
  const token = sealContinuation(sealer, owner, 1_000);
  assert.ok(token.length <= 2_048);
  assert.ok(acceptsContinuation(sealer, token, owner, 999));
  assert.ok(!acceptsContinuation(sealer, token, owner, 1_000));
  assert.ok(!acceptsContinuation(sealer, token, { ...owner, accountId: 'acc_2' }, 0));
  assert.ok(!acceptsContinuation(sealer, token, { ...owner, voiceId: 'echo' }, 0));
  assert.ok(!acceptsContinuation(other, token, owner, 0));
});

test('a damaged token, and one that was sealed for something else, opens nothing', () => {
  const token = sealContinuation(sealer, owner, 1_000);
  for (let index = 0; index < token.length - 1; index += 7) {
    const swapped = token[index] === 'A' ? 'B' : 'A';
    const damaged = token.slice(0, index) + swapped + token.slice(index + 1);
    assert.ok(!acceptsContinuation(sealer, damaged, owner, 0), `at ${index}`);
  }
  for (const nonsense of ['', 'x', '!'.repeat(60), 'A'.repeat(60), 'A'.repeat(5_000)]) {
    assert.ok(!acceptsContinuation(sealer, nonsense, owner, 0));
    assert.equal(openTicket(sealer, nonsense, 0), null);
  }
  assert.equal(openTicket(sealer, token, 0), null);
  const ticket = {
    id: 'vs_1',
    accountId: 'acc_1',
    walletId: 'wal_1',
    keyId: null,
    signedInId: 'ses_1',
    expiresAtMs: 1_000,
  };
  const sealed = sealTicket(sealer, ticket);
  assert.ok(!acceptsContinuation(sealer, sealed, owner, 0));
  assert.deepEqual(openTicket(sealer, sealed, 999), ticket);
  assert.equal(openTicket(sealer, sealed, 1_000), null);
});

test('a token has one spelling: bits that its last character does not use are not free', () => {
  for (const voiceId of ['alloy', 'alloys', 'alloyss']) {
    const wanted = { ...owner, voiceId };
    const token = sealContinuation(sealer, wanted, 1_000);
    for (const end of ['A', 'B', 'Q', 'g', 'w', '_']) {
      const changed = token.slice(0, -1) + end;
      assert.equal(acceptsContinuation(sealer, changed, wanted, 0), changed === token, changed);
      assert.ok(!acceptsContinuation(sealer, token + end, wanted, 0), token + end);
    }
  }
});

test('controls are closed objects of two types', () => {
  assert.equal(readControl('{"type":"end"}'), 'end');
  assert.equal(readControl(' {"type": "barge_in"} '), 'barge_in');
  const bad = ['', '{}', '[]', 'null', '"end"', '{"type":"start"}', '{"type":"end","a":1}', '{'];
  for (const text of bad) assert.equal(readControl(text), null, text);
  assert.equal(readControl(`{"type":"end"${' '.repeat(2_000)}}`), null);
});

test('real time always passes, ten times real time does not for long', () => {
  const steady = fullBucket(5_000, 1.25, 0);
  for (let frame = 0; frame < 10_000; frame += 1) assert.ok(take(steady, 32, frame * 32));
  assert.ok(isRested(steady));
  const abuser = fullBucket(5_000, 1.25, 0);
  let passed = 0;
  for (let frame = 0; frame < 1_000; frame += 1) if (take(abuser, 32, frame * 3.2)) passed += 1;
  assert.ok(passed * 32 <= 5_000 + 3_200 * 1.25 + 32, `${passed}`);
  assert.ok(!isRested(abuser));
  const stalled = fullBucket(5_000, 1.25, 0);
  for (let frame = 0; frame < 150; frame += 1) assert.ok(take(stalled, 32, 10_000), `${frame}`);
});
