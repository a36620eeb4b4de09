// URLs of the web as strangers write them. What two readers could read in two ways is refused, and
// the parsed form goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWebUrl } from '../../../media/model/web-url.ts';

const good: [text: string, href: string][] = [
  ['https://example.com/a.png', 'https://example.com/a.png'],
  ['https://example.com', 'https://example.com/'],
  ['HTTPS://EXAMPLE.com:443/A?b=C#d', 'https://example.com/A?b=C#d'],
  ['http://example.com:8080/a/../b', 'http://example.com:8080/b'],
  ['http:example.com/a', 'http://example.com/a'],
  ['https:/example.com', 'https://example.com/'],
  ['https:///example.com/a', 'https://example.com/a'],
  ['https://example.com./a', 'https://example.com./a'],
  ['https://example.com/ü ber'.replace(' ', '%20'), 'https://example.com/%C3%BC%20ber'],
  ['https://bücher.example.com/', 'https://xn--bcher-kva.example.com/'],
  ['https://ｅｘａｍｐｌｅ。com/', 'https://example.com/'],
  ['https://exam%70le.com/', 'https://example.com/'],
  ['http://134744072/a', 'http://8.8.8.8/a'],
  ['http://0x08.8.8.010/', 'http://8.8.8.8/'],
  ['https://@example.com/a', 'https://example.com/a'],
  ['https://example.com/@169.254.169.254/', 'https://example.com/@169.254.169.254/'],
  ['https://example.com/?u=http://localhost', 'https://example.com/?u=http://localhost'],
];

const bad: [text: string, fault: RegExp][] = [
  ['http://example.com\\@169.254.169.254/', /backslash/],
  ['http://example.com/a\\b', /backslash/],
  ['http:\\\\169.254.169.254\\', /backslash/],
  [' https://example.com/', /blank/],
  ['https://example.com/a b', /blank/],
  ['https://example.com/\n', /blank/],
  ['ht\ttps://example.com/', /blank/],
  ['https://exam\u00adple.com\u3000/', /blank/],
  ['https://example.com\u0000.internal/', /blank/],
  ['https://example.com/\u007f', /control/],
  ['https://example.com\u2028/', /blank/],
  ['https://a:b@example.com/', /without a user/],
  ['https://a@example.com/', /without a user/],
  ['https://example.com@169.254.169.254/', /without a user/],
  ['https://example.com:80@localhost/', /without a user/],
  ['https://:b@example.com/', /without a user/],
  ['https://example.com:port/', /not a URL/],
  ['https://', /not a URL/],
  ['http://256.1.1.1/', /not a URL/],
  ['http://[::1/', /not a URL/],
  ['http://exa%00mple.com/', /not a URL/],
  ['http://exa%2fmple.com/', /not a URL/],
  ['http://intranet/', /private network/],
  ['http://db.internal/', /private network/],
  ['http://printer.local:631/', /private network/],
  ['http://127.1/', /private network/],
  ['http://0/', /private network/],
  ['http://[::ffff:a9fe:a9fe]/', /private network/],
  ['http://①⑥⑨。254。169。254/', /private network/],
  [`https://example.com/${'a'.repeat(16_384)}`, /longer than/],
];

test('what is of the web goes on as it was parsed', () => {
  for (const [text, href] of good) assert.deepEqual(readWebUrl(text), { href }, text);
});

test('a parsed form is read as itself', () => {
  for (const [, href] of good) assert.deepEqual(readWebUrl(href), { href });
});

test('what has two readings, or is none of the web, is refused', () => {
  for (const [text, fault] of bad) {
    const read = readWebUrl(text);
    assert.ok('fault' in read, text);
    assert.match(read.fault, fault, text);
    assert.match(read.fault, /^(is|must be) /, 'the end of a sentence');
  }
});
