// Schemes that a reader of URLs finds where a pattern may not: behind controls, and with breaks in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertServerUrls } from '../../../media/model/media-url.ts';

const check = (url: string) => assertServerUrls([{ url }], 'servers', 'url');

for (const [what, spell] of [
  ['spaces', (url: string) => `${' '.repeat(70)}${url}`],
  ['a control character', (url: string) => `\u0001${url}`],
  ['a tab', (url: string) => `${url[0]}\t${url.slice(1)}`],
  ['many line breaks', (url: string) => `${url[0]}${'\r\n'.repeat(70)}${url.slice(1)}`],
] as const) {
  test(`a URL is refused for where it leads, whatever ${what} it is written with`, () => {
    assert.throws(() => check(spell('http://169.254.169.254/latest')), /private network/);
    assert.throws(() => check(spell('file:///etc/passwd')), /must be http/);
    assert.doesNotThrow(() => check(spell('https://a.example/picture.png')));
  });
}

test('a URL that begins later than any is refused unread', () => {
  assert.throws(() => check(`${' '.repeat(5_000)}https://a.example/picture.png`), /must be http/);
});

test('base64 has no scheme, however long it is and wherever it is broken', () => {
  assert.doesNotThrow(() => check('QUJD'.repeat(250_000)));
  assert.doesNotThrow(() => check('QUJD\r\n'.repeat(1_000)));
});
