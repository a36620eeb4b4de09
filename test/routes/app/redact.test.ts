// What is cut of what apps tell, and what stays: tables of texts, and texts that take long.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSecretLike, redactJson } from '../../../routes/app/redact.ts';
import { redactText } from '../../../routes/app/redact-text.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { startStopwatch } from '../../harness/stopwatch.ts';

const texts: readonly (readonly [string, string])[] = [
  ['nothing to cut here, 12 of 300 files', 'nothing to cut here, 12 of 300 files'],
  ['write to ada@example.com now', 'write to [email] now'],
  ['Ada <ada.lovelace+x@mail.example.co.uk>', 'Ada <[email]>'],
  ['ada%40example.com', '[email]'],
  ['jürgen@bücher.example', '[email]'],
  ['@decorator and a @ b.c stay', '@decorator and a @ b.c stay'],
  ['Bearer abc.def-123', 'Bearer [token]'],
  ['token svc_live_4f9aB2', 'token [token]'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig', '[token]'],
  ['key sk-proj-abcdefgh12', 'key [token]'],
  ['ghp_abcdefgh and AKIAABCDEFGH', '[token] and [token]'],
  ['password=hunter2 ok', 'password=[removed] ok'],
  ['{"api_key":"k1","a":1}', '{"api_key":"[removed]","a":1}'],
  ['password is hunter2', 'password is [removed]'],
  ['token expired', 'token expired'],
  ['Cookie: a=b; c=d\nnext', 'Cookie: [removed]\nnext'],
  ['GET https://h.example/a?x=1&y=2#z failed', 'GET https://h.example/a?[query] failed'],
  ['https://user:pw@h.example/a', 'https://[removed]@h.example/a'],
  ['/callback#access_token=1', '/callback#[query]'],
  ['what? a=b', 'what? a=b'],
  ['4242 4242 4242 4242', '[number]'],
  ['card 4242-4242-4242-4242.', 'card [number].'],
  ['3782 822463 10005', '[number]'],
  ['at 12:30:45 on 2026-11-27', 'at 12:30:45 on 2026-11-27'],
  ['id 7f9c2ba4e88f827d616045507605853e', 'id [token]'],
  ['handleRequestWithTimeoutInternally', 'handleRequestWithTimeoutInternally'],
  ['a\u0000b\u0007c\nd', 'a b c\nd'],
  ['half \ud800 pair', 'half \ufffd pair'],
  ['-----BEGIN KEY-----\nabc\n-----END KEY-----', '[token]'],
];

test('a text keeps its words, and loses people, credentials, cards and queries', () => {
  for (const [given, kept] of texts) assert.equal(redactText(given), kept, given);
});

test('what was redacted once stays as it is', () => {
  for (const [given] of texts) {
    const once = redactText(given);
    assert.equal(redactText(once), once, given);
  }
});

test('JSON loses what texts lose, at any depth, in names, and under names of secrets', () => {
  const given = {
    password: 'short',
    nested: [{ session: 1, fine: 'ok' }, 4242424242424242, 12.5],
    'ada@example.com': true,
    email: null,
  };
  assert.deepEqual(redactJson(given), {
    password: '[removed]',
    nested: [{ session: '[removed]', fine: 'ok' }, '[number]', 12.5],
    '[email]': true,
    email: null,
  });
  let deep: unknown = 'ada@example.com';
  for (let depth = 0; depth < 1_000; depth += 1) deep = [deep];
  assert.ok(JSON.stringify(redactJson(deep)).length < 100);
});

test('no text of 16 KiB takes longer than its length', () => {
  const pieces = ['a', '@', '%40', '?', '=', '#', '1 ', '-', 'a.', 'a@', 'eyJ', 'password ', '/'];
  const random = createRandom(testSeed);
  const mixed = Array.from({ length: 8_192 }, () => pieces[Math.floor(random() * pieces.length)]);
  const all = [...pieces.map((piece) => piece.repeat(16_384 / piece.length)), mixed.join('')];
  for (const text of all) {
    const watch = startStopwatch();
    redactText(text.slice(0, 16_384));
    watch.assertWithin(50, `${text.slice(0, 20)} (seed ${testSeed})`);
  }
});

test('a credential or a card is no name, and a usual id is one', () => {
  for (const name of [
    'svc_live_abcdefgh',
    'sk-abcdefgh',
    '4242424242424242',
    '4242-4242-4242-4242',
  ])
    assert.ok(isSecretLike(name), name);
  const fine = ['desk-7f3a91c2', '550e8400-e29b-41d4-a716-446655440000', '1732734000000-12345'];
  for (const name of fine) assert.ok(!isSecretLike(name), name);
});
