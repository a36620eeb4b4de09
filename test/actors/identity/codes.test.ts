// Codes are six digits by chance, and what is kept of them tells nothing without the key. Places
// that the account knows pay for their own.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  codeDigest,
  isSameDigest,
  newCode,
  payersOf,
  placesOf,
  sendingRules,
  unnamedGuessRates,
} from '../../../actors/identity/codes.ts';
import { createIdentityLimits } from '../../../actors/identity/limits.ts';
import { createSealer } from '../../../runtime/seal.ts';

const sealer = createSealer(randomBytes(32).toString('base64url'));
const production = createIdentityLimits({ mode: 'production' });
const development = createIdentityLimits({ mode: 'dev' });

test('codes have six digits, each as likely at each place as another', () => {
  const rounds = 20_000;
  const counts = Array.from({ length: 6 }, () => new Array<number>(10).fill(0));
  for (let round = 0; round < rounds; round += 1) {
    const code = newCode();
    assert.match(code, /^[0-9]{6}$/);
    for (const [place, digit] of [...code].entries()) {
      const row = counts[place] ?? [];
      row[Number(digit)] = (row[Number(digit)] ?? 0) + 1;
    }
  }
  // 2,000 each; the standard deviation is 42, and seven of them happen once in 10^11.
  for (const row of counts) {
    for (const count of row) assert.ok(Math.abs(count - rounds / 10) < 300, `${row}`);
  }
});

test('a digest belongs to one code of one challenge under one key', () => {
  const kept = codeDigest(sealer, 'otp_a', '123456');
  const other = createSealer(randomBytes(32).toString('base64url'));
  assert.ok(isSameDigest(kept, codeDigest(sealer, 'otp_a', '123456')));
  for (const differing of [
    codeDigest(sealer, 'otp_a', '123457'),
    codeDigest(sealer, 'otp_b', '123456'),
    codeDigest(other, 'otp_a', '123456'),
    '',
  ]) {
    assert.ok(!isSameDigest(kept, differing));
  }
  assert.ok(!kept.includes('123456'));
});

test('a place that the account knows pays by itself, the browser before the network', () => {
  const places = placesOf(sealer, { network: '192.0.2.1', browser: 'token' });
  const { network } = places;
  const browser = places.browser ?? '';
  assert.notEqual(network, placesOf(sealer, { network: '192.0.2.2', browser: null }).network);
  assert.deepEqual(payersOf(places, new Set()), [null]);
  assert.deepEqual(payersOf(places, new Set([network])), [network]);
  assert.deepEqual(payersOf(places, new Set([network, browser])), [browser, network]);
  const own = sendingRules(network, production);
  assert.ok(own.every((rule) => rule.of !== 'new' && rule.of !== 'new-network'));
  assert.ok(own.every((rule) => rule.of !== 'open' || rule.place === network));
});

test('development mode has a hundred times as much of everything but guesses', () => {
  assert.deepEqual(development.guesses, production.guesses);
  assert.deepEqual(unnamedGuessRates(development), unnamedGuessRates(production));
  for (const [index, rule] of sendingRules(null, production).entries()) {
    const wide = sendingRules(null, development)[index];
    assert.deepEqual(wide, { ...rule, max: 100 * rule.max });
  }
  assert.equal(development.codes.lifetimeSeconds, production.codes.lifetimeSeconds);
  assert.equal(development.registrationsMax, 100 * production.registrationsMax);
});
