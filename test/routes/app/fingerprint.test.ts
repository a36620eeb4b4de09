// Which errors are one group, and which are two.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { framesOf, identityOf, normalizeMessage } from '../../../routes/app/fingerprint.ts';

const v8 = `TypeError: x is undefined
    at load (https://app.example/main.3f2a1b9c.js:10:5)
    at async open (/srv/app/src/open.ts:3:1)
    at Object.<anonymous> (file:///srv/run.mjs:1:2)
    at node:internal/main:9:1`;

const frames: readonly (readonly [string, string, string[]])[] = [
  ['V8', v8, ['load main.js', 'open open.ts', 'Object.<anonymous> run.mjs']],
  ['V8 without names', 'Error\n    at file.js:1:2\n    at b.js:3:4', ['file.js', 'b.js']],
  ['Firefox', 'load@https://app.example/a.js:1:2\n@b.js:3:4', ['load a.js', 'b.js']],
  [
    'Python, the newest call last',
    'Traceback (most recent call last):\n  File "/a/outer.py", line 3, in outer\n    inner()\n' +
      '  File "/a/inner.py", line 9, in inner\nValueError: no',
    ['inner inner.py', 'outer outer.py'],
  ],
  ['Swift', '3   App   0x0000000104 load(_:) + 12', ['load(_:) App']],
  ['Go', '\tmain.go:12 +0x1d', ['main.go']],
  ['no stack', 'it just failed', []],
];

test('the frames of each runtime are told without place and version', () => {
  for (const [name, stack, expected] of frames) assert.deepEqual(framesOf(stack), expected, name);
});

test('a message loses what is another one each time', () => {
  const messages: readonly (readonly [string, string])[] = [
    ['Timeout after 3000 ms', 'Timeout after <n> ms'],
    ['no file "a.txt" in /srv/ada/x', 'no file <text> in <path>'],
    ['GET https://h.example/a/1 failed', 'GET <url> failed'],
    ['row 550e8400-e29b-41d4-a716-446655440000', 'row <id>'],
    ['at 0xdeadbeef of 7f9c2ba4e88f', 'at <id> of <id>'],
    ["can't  read\nit", "can't read it"],
    ['defaced facade', 'defaced facade'],
  ];
  for (const [given, kept] of messages) assert.equal(normalizeMessage(given), kept);
});

test('errors differ by platform, name, code, message and three frames, and by nothing else', () => {
  const one = {
    platform: 'macos',
    errorName: 'TypeError',
    errorCode: 'E1',
    message: 'Timeout after 3000 ms',
    stackTrace: v8,
  };
  const { fingerprint } = identityOf(one);
  assert.match(fingerprint, /^[a-f0-9]{32}$/);
  const same = [
    { message: 'Timeout after 12 ms' },
    { stackTrace: v8.replace('10:5', '99:1').replace('3f2a1b9c', '77aa11bb') },
    { stackTrace: v8.replace('node:internal/main:9:1', 'other.js:1:1') },
  ];
  for (const change of same) {
    assert.equal(
      identityOf({ ...one, ...change }).fingerprint,
      fingerprint,
      JSON.stringify(change),
    );
  }
  const others = [
    { platform: 'linux' },
    { platform: null },
    { errorName: 'RangeError' },
    { errorCode: null },
    { message: 'Timeout before 3000 ms' },
    { stackTrace: v8.replace('at load', 'at save') },
    { stackTrace: null },
  ];
  for (const change of others) {
    const other = identityOf({ ...one, ...change }).fingerprint;
    assert.notEqual(other, fingerprint, JSON.stringify(change));
  }
});
