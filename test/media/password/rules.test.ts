// What may be a password, against the real list of common ones.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadCommonPasswords } from '../../../media/password/known-passwords.ts';
import {
  type JudgedPassword,
  judgePassword,
  normalizePassword,
} from '../../../media/password/rules.ts';
import { fc } from '../../harness/properties.ts';

let common: ReadonlySet<string>;
let listed: readonly string[];
before(async () => {
  common = await loadCommonPasswords();
  listed = [...common];
});

const judge = (password: string, address = 'nobody@example.com') =>
  judgePassword(password, address, common);

test('the list is the one that the contract counts', () => {
  assert.equal(common.size, 49_233);
  assert.ok(listed.every((each) => each === each.normalize('NFKC').toLowerCase()));
});

const cases: [password: string, status: JudgedPassword['status'], why: string][] = [
  ['', 'too_short', 'nothing'],
  ['nine char', 'too_short', 'one less'],
  ['ten chars…', 'ok', 'ten, though the ellipsis is three by NFKC'],
  ['😀'.repeat(9), 'too_short', 'nine code points of two units each'],
  ['😀'.repeat(10), 'ok', 'ten of them'],
  ['e\u0301'.repeat(9), 'too_short', 'nine letters, each with a mark of its own'],
  ['e\u0301'.repeat(10), 'ok', 'ten of them'],
  ['ﬃ'.repeat(4), 'ok', 'twelve letters in four ligatures'],
  ['ab'.repeat(64), 'ok', '128'],
  [`${'ab'.repeat(64)}c`, 'too_long', '129'],
  ['ﷺ'.repeat(8), 'too_long', 'each is eighteen by NFKC'],
  ['\u1f82'.normalize('NFD').repeat(128), 'ok', '128, of four code points each as they came'],
  ['a'.repeat(1_025), 'too_long', 'never normalized'],
  ['\ud800 half a pair', 'ok', 'half a pair of surrogates is replaced'],
  ['correct horse battery staple', 'ok', 'words'],
  ['1234567890', 'too_common', 'as it is listed'],
  ['QwertyUiop', 'too_common', 'in lower case'],
  ['Password12', 'too_common', 'trailing digits'],
  ['password!!', 'too_common', 'trailing marks'],
  ['iloveyou2!?', 'too_common', 'both'],
  ['1234567890!!', 'too_common', 'marks alone, where the digits belong to it'],
  ['dragon 1234', 'too_common', 'a space is a mark'],
  ['dragon١٢٣٤٥', 'too_common', 'digits of any script'],
  ['ｐａｓｓｗｏｒｄ１２３', 'too_common', 'fullwidth letters are the same by NFKC'],
  ['12password', 'ok', 'leading digits are not looked at'],
  ['p4ss-w0rd-x', 'ok', 'nor is a letter behind it'],
];

test('length and list decide, whatever the password is written with', () => {
  for (const [password, status, why] of cases) {
    assert.equal(judge(password).status, status, `${JSON.stringify(password)}: ${why}`);
  }
});

test('a password does not hold the local part of the address', () => {
  assert.equal(judge('Ada goes home', 'ada@example.com').status, 'too_common');
  assert.equal(judge('bright ADA.L star', 'ada.l@example.com').status, 'too_common');
  assert.equal(judge('ada.lovelace lives', 'ADA.Lovelace@example.com').status, 'too_common');
  assert.equal(judge('example.com lives', 'ada@example.com').status, 'ok', 'the domain may be');
  assert.equal(judge('total nonsense', 'ta@example.com').status, 'ok', 'too short to forbid');
  assert.equal(judge('total nonsense', 'no address').status, 'ok', 'nothing before an @');
});

test('what is hashed is one text for all spellings', () => {
  const composed = 'Ångström-Zürich';
  for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'] as const) {
    const spelled = composed.normalize(form);
    assert.deepEqual(judge(spelled), { status: 'ok', normalized: composed.normalize('NFKC') });
    assert.equal(normalizePassword(spelled), composed.normalize('NFKC'));
  }
});

const anyText = fc.string({ unit: 'binary', maxLength: 1_100 });

test('any text is judged, and a good one again alike', () => {
  const halves = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 });
  const units = halves.map((each) => String.fromCharCode(...each));
  fc.assert(
    fc.property(fc.oneof(anyText, units), (password) => {
      const judged = judge(password);
      if (judged.status !== 'ok') return;
      const { normalized } = judged;
      const { length } = [...normalized];
      assert.ok(length >= 10 && length <= 128 && normalized.isWellFormed());
      assert.equal(normalized, normalized.normalize('NFKC'));
      assert.deepEqual(judge(normalized), judged);
      assert.equal(normalizePassword(password), normalized);
    }),
  );
});

test('nothing short enough by NFKC is too long before it', () => {
  const marked = fc.constantFrom('\u1f82', '\u0390', '\u01d6', '각', '𝅘𝅥𝅮', 'é', 'x');
  fc.assert(
    fc.property(fc.array(marked, { minLength: 128, maxLength: 128 }), (letters) => {
      const spelled = letters.join('').normalize('NFD');
      const { length } = [...spelled.normalize('NFKC')];
      assert.equal(judge(spelled).status === 'too_long', length > 128);
    }),
  );
});

test('no common password is good in other letters, or with digits and marks behind it', () => {
  const word = fc.nat({ max: 49_232 }).map((index) => listed[index] ?? '');
  const tail = fc.string({ unit: fc.constantFrom(...'0123456789!?.-_#$ *)'), maxLength: 20 });
  const upper = fc.array(fc.boolean(), { minLength: 20, maxLength: 20 });
  fc.assert(
    fc.property(word, upper, tail, (common, isUpper, tail) => {
      const letters = [...common].map((each, at) => (isUpper[at] ? each.toUpperCase() : each));
      const password = `${letters.join('')}${tail}`;
      assert.equal(judge(password).status, password.length < 10 ? 'too_short' : 'too_common');
    }),
  );
});

test('no password holds the local part in any letters', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789.+-';
  const local = fc.string({ unit: fc.constantFrom(...letters), minLength: 3, maxLength: 64 });
  const around = fc.string({ unit: 'grapheme-ascii', minLength: 5, maxLength: 30 });
  fc.assert(
    fc.property(local, around, around, (local, before, behind) => {
      const password = `${before}${local.toUpperCase()}${behind}`;
      assert.equal(judge(password, `${local}@example.com`).status, 'too_common');
    }),
  );
});

test('strong passwords by chance are hardly ever common', () => {
  const signs = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!?-_';
  const random = fc.string({ unit: fc.constantFrom(...signs), minLength: 16, maxLength: 16 });
  const found = fc.sample(random, 2_000).filter((each) => judge(each).status !== 'ok');
  assert.ok(found.length <= 2, found.join(' '));
});
