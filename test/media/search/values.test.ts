// What providers write, and what is made of it: a value that is certain, or none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, isWithin, pageOf } from '../../../media/search/values/address.ts';
import { dateOf, localTimeOf, publishedOf } from '../../../media/search/values/date.ts';
import { distanceOf, durationOf } from '../../../media/search/values/duration.ts';
import {
  countOf,
  placeOf,
  ratingOf,
  resolutionOf,
  wholeOf,
} from '../../../media/search/values/number.ts';
import { priceOf } from '../../../media/search/values/price.ts';
import { cleanText } from '../../../media/search/values/text.ts';
import { nowMs } from './asks.ts';

function told(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}

const texts: readonly [unknown, string][] = [
  ['plain', 'plain'],
  ['  two\n\t words ', 'two words'],
  ['<b>bo</b>ld &amp; <br/>new', 'bold & new'],
  ['Tom &amp;amp; Jerry', 'Tom & Jerry'],
  ['&lt;script&gt;alert(1)&lt;/script&gt;left', 'left'],
  ['<script>alert(1)</script>left<style>b{}</style>', 'left'],
  ['<scr<script>ipt>alert</script>', 'ipt>alert'],
  ['a < b and 5 <6, I <3 you', 'a < b and 5 <6, I <3 you'],
  ['cut <a href="', 'cut'],
  ['<!-- hidden > -->seen', 'seen'],
  ['&#72;&#x69;&hellip; &eacute;&nbsp;x &#0; &#x110000; &#xD800;', 'Hi… é x'],
  ['it&#146;s &LT;b&GT;so&colon; &NotEqualTilde;', 'it’s so: &NotEqualTilde;'],
  ['AT&T R&D &unknown; &copy;', 'AT&T R&D &unknown; ©'],
  ['a\u202eb\u200bc\u0007d\ufeffe\u2066f\u00adg', 'abcdefg'],
  ['<\u200bb>bo&#x200b;ld', 'bold'],
  ['half \ud800 pair', 'half pair'],
  ['&amp;amp;amp;amp;lt;b&amp;amp;amp;amp;gt;', '&amp;lt;b&amp;gt;'],
  [12.5, '12.5'],
  [Number.NaN, ''],
  [{}, ''],
  [null, ''],
  ['\u200b', ''],
];

test('text is decoded, without tags and without characters that nobody sees', () => {
  for (const [given, wanted] of texts) assert.equal(cleanText(given, 300), wanted, told(given));
});

test('no character that nobody sees is taken for a plain one', () => {
  const unseen = /[\p{C}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\u2800]/u;
  for (let code = 0; code < 0x1_0000; code += 1) {
    const character = String.fromCharCode(code);
    // What is not assigned yet is no matter of text.
    if (!unseen.test(character) || /\p{Cn}|\s/u.test(character)) continue;
    assert.equal(cleanText(`a${character}b`, 10), 'ab', code.toString(16));
  }
});

test('text is cut at whole characters', () => {
  assert.equal(cleanText('😀😀😀', 2), '😀😀');
  assert.equal(cleanText('ab cd', 3), 'ab');
  assert.equal([...cleanText('ü'.repeat(5_000), 1_000)].length, 1_000);
});

test('a huge or crafted text costs little', () => {
  const megabyte = 1_024 * 1_024;
  const crafted = [
    '<script></script>',
    '&aa1;',
    '<style>',
    '<script>',
    '<a "',
    '&amp;',
    '<!--',
    '&lt;',
    '\u200b',
    ' ',
    '<',
    '&#1',
    '</',
  ];
  const before = process.cpuUsage();
  for (const part of crafted) cleanText(part.repeat(megabyte / part.length), 4_000);
  const { user } = process.cpuUsage(before);
  assert.ok(user < 2_000_000, `${user} microseconds for ${crafted.length} megabytes`);
});

const addresses: readonly [unknown, string | undefined][] = [
  ['https://example.com/a b?x=1#y', 'https://example.com/a%20b?x=1#y'],
  [' HTTP://Example.COM:80/ ', 'http://example.com/'],
  ['https://user:secret@example.com/', 'https://example.com/'],
  ['//cdn.example.com/x.png', 'https://cdn.example.com/x.png'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ['https://example.com/\u202egpj', 'https://example.com/%E2%80%AEgpj'],
  ['javascript:alert(1)', undefined],
  ['java\nscript:alert(1)', undefined],
  [' \u0001JavaScript:alert(1)', undefined],
  ['data:text/html;base64,PGI+', undefined],
  ['vbscript:x', undefined],
  ['file:///etc/passwd', undefined],
  ['/relative', undefined],
  ['example.com', undefined],
  ['https://', undefined],
  [`https://example.com/${'x'.repeat(2_048)}`, undefined],
  [`https://example.com/${'ü'.repeat(400)}`, undefined],
  [12, undefined],
  [['https://example.com/'], undefined],
];

test('an address is of http or https, parsed and without a user', () => {
  for (const [given, wanted] of addresses) assert.equal(addressOf(given), wanted, told(given));
});

test('addresses of one page are equal, of two they are not', () => {
  const page = pageOf('https://www.example.com/a/?id=1');
  const same = [
    'http://example.com/a?id=1',
    'https://example.com/a/?id=1#part',
    'https://www.example.com/a?utm_source=x&id=1&gclid=2',
    'https://www.example.com./a?id=1',
  ];
  for (const address of same) assert.equal(pageOf(address), page, address);
  const other = [
    'https://example.com/a?id=2',
    'https://a.example.com/a?id=1',
    'https://example.com:8443/a?id=1',
  ];
  for (const address of other) assert.notEqual(pageOf(address), page, address);
});

test('a host is within a domain as its name says, not as it is spelt', () => {
  assert.ok(isWithin('docs.example.com', ['example.com']));
  assert.ok(isWithin('example.com', ['www.example.com']));
  assert.ok(!isWithin('badexample.com', ['example.com']));
  assert.ok(!isWithin('example.com.evil.test', ['example.com']));
});

const dates: readonly [unknown, string | null][] = [
  ['2026-01-03', '2026-01-03'],
  ['2026-01-03T10:00:00Z', '2026-01-03T10:00:00Z'],
  ['2026-01-03T23:30:00.123-05:00', '2026-01-04T04:30:00Z'],
  ['2026-01-03 10:00:00 UTC', '2026-01-03T10:00:00Z'],
  ['2026-01-03T10:00:00', '2026-01-03'],
  ['Sat, 03 Jan 2026 10:00:00 GMT', '2026-01-03T10:00:00Z'],
  ['Sat, 03 Jan 2026 10:00:00 +0100', '2026-01-03T09:00:00Z'],
  ['Jan 3, 2026', '2026-01-03'],
  ['January 3, 2026', '2026-01-03'],
  ['3 Jan 2026', '2026-01-03'],
  ['3. März 2026', '2026-03-03'],
  ['1er février 2026', '2026-02-01'],
  ['3 de marzo de 2026', '2026-03-03'],
  ['3 gennaio 2026', '2026-01-03'],
  ['3 de dez. de 2025', '2025-12-03'],
  ['01/03/2026, 07:05 AM, +0000 UTC', '2026-01-03T07:05:00Z'],
  ['01/03/2026, 12:05 AM, +0100 UTC', '2026-01-02T23:05:00Z'],
  ['01/03/2026, 07:05 PM', '2026-01-03'],
  ['12/25/2025', '2025-12-25'],
  ['25/12/2025', '2025-12-25'],
  ['03/03/2026', '2026-03-03'],
  ['01/02/2026', null],
  ['25.12.2025', '2025-12-25'],
  ['2026/1/3', '2026-01-03'],
  [1_767_434_400, '2026-01-03T10:00:00Z'],
  [1_767_434_400_000, '2026-01-03T10:00:00Z'],
  ['1767434400', '2026-01-03T10:00:00Z'],
  ['3 days ago', '2026-11-25'],
  ['a day ago', '2026-11-27'],
  ['5 hours ago', '2026-11-28'],
  ['17 hours ago', '2026-11-27'],
  ['2 weeks ago', '2026-11-14'],
  ['vor 3 Tagen', '2026-11-25'],
  ['vor einer Woche', '2026-11-21'],
  ['Vor 20 Std.', '2026-11-27'],
  ['il y a 3 jours', '2026-11-25'],
  ['hace 3 días', '2026-11-25'],
  ['3 giorni fa', '2026-11-25'],
  ["un'ora fa", '2026-11-28'],
  ['há 3 dias', '2026-11-25'],
  ['3 dias atrás', '2026-11-25'],
  ['yesterday', '2026-11-27'],
  ['gestern', '2026-11-27'],
  ['3 months ago', null],
  ['vor 2 Jahren', null],
  ['3 fortnights ago', null],
  ['3 constructor ago', null],
  ['99999 weeks ago', null],
  ['2026-02-30', null],
  ['0000-01-01', null],
  ['0026-01-01', null],
  ['1200-01-01', null],
  ['2029-01-01', null],
  ['9999-12-31', null],
  ['2026-01-03T25:00:00Z', null],
  ['2026-01-03T10:00:00+99:00', null],
  ['2026', null],
  ['soon', null],
  ['', null],
  [0, null],
  [-1, null],
  [Number.POSITIVE_INFINITY, null],
  [1e300, null],
  [{}, null],
];

test('a date is an ISO day or moment where it is certain', () => {
  for (const [given, wanted] of dates) assert.equal(dateOf(given, nowMs), wanted, told(given));
});

test('the words of a date stay where they are not certain', () => {
  assert.deepEqual(publishedOf('3 months <b>ago</b>', nowMs), { published_text: '3 months ago' });
  assert.deepEqual(publishedOf('3 days ago', nowMs), {
    published_at: '2026-11-25',
    published_text: '3 days ago',
  });
  assert.deepEqual(publishedOf('1767434400', nowMs), { published_at: '2026-01-03T10:00:00Z' });
  assert.deepEqual(publishedOf(1_767_434_400, nowMs), { published_at: '2026-01-03T10:00:00Z' });
});

test('a local time stays local', () => {
  assert.equal(localTimeOf('2026-12-01 08:05'), '2026-12-01T08:05');
  assert.equal(localTimeOf('2026-12-01T08:05:00+01:00'), '2026-12-01T08:05');
  for (const each of ['2026-12-01', '2026-13-01 08:05', '2026-12-01 24:05', '8:05 AM', 5, null]) {
    assert.equal(localTimeOf(each), undefined, told(each));
  }
});

const prices: readonly [unknown, unknown, string | undefined, string | null][] = [
  ['$19.99', null, undefined, '19.99 USD'],
  ['$19.99', null, 'CAD', '19.99 CAD'],
  ['CA$19.99', null, undefined, '19.99 CAD'],
  ['1.234,56 €', null, undefined, '1234.56 EUR'],
  ['€1,234.50', null, undefined, '1234.50 EUR'],
  ['1\u202f234,56\u00a0€', null, undefined, '1234.56 EUR'],
  ['CHF 12.–', null, undefined, '12 CHF'],
  ["CHF 1'299.90", null, undefined, '1299.90 CHF'],
  ['Fr. 5.50', null, undefined, '5.50 CHF'],
  ['19,- €', null, undefined, '19 EUR'],
  ['£5', null, undefined, '5 GBP'],
  ['¥1,980', null, undefined, '1980 JPY'],
  ['¥1,980', null, 'CNY', '1980 CNY'],
  ['R$ 1.299,00', null, undefined, '1299.00 BRL'],
  ['Rs. 1,23,456', null, undefined, '123456 INR'],
  ['1 299 kr', null, 'NOK', '1299 NOK'],
  ['1 299 kr', null, undefined, null],
  ['USD 10 - USD 20', null, undefined, '10 USD'],
  ['$1,299', null, undefined, '1299 USD'],
  ['$0.999', null, undefined, '0.999 USD'],
  [19.99, 'usd', undefined, '19.99 USD'],
  [0.1 + 0.2, 'EUR', undefined, '0.3 EUR'],
  [19.99, null, 'EUR', '19.99 EUR'],
  [19.99, null, undefined, null],
  [19.99, 'XQQ', undefined, null],
  ['19.99', '€', undefined, '19.99 EUR'],
  ['-$5', null, undefined, null],
  [-5, 'USD', undefined, null],
  [Number.NaN, 'USD', undefined, null],
  [1e300, 'USD', undefined, null],
  ['free', 'USD', undefined, null],
  ['2 for $5', null, undefined, '5 USD'],
  ['3 pieces', 'USD', undefined, null],
  ['Now 5 €, was 10 €', null, undefined, '5 EUR'],
  ['10 US$', null, undefined, '10 USD'],
  ['EUR10', null, undefined, '10 EUR'],
  ['120 kr.', null, 'DKK', '120 DKK'],
  ['$10–$20', null, undefined, '10 USD'],
  ['1e300', 'USD', undefined, null],
  ['twelve dollars', 'USD', undefined, null],
  ['1.2.3,4,5 €', null, undefined, null],
  ['9'.repeat(50), 'USD', undefined, null],
  [{}, 'USD', undefined, null],
];

test('a price is a decimal with its currency, or none', () => {
  for (const [value, said, hint, wanted] of prices) {
    const price = priceOf(value, said, hint);
    const found = price === undefined ? null : `${price.amount} ${price.currency}`;
    assert.equal(found, wanted, told([value, said, hint]));
  }
});

test('numbers are read from texts, and words are none', () => {
  const counts: readonly [unknown, number | undefined][] = [
    [1_234, 1_234],
    ['1,234', 1_234],
    ["(1'234)", 1_234],
    ['1.2K reviews', 1_200],
    ['3M', 3_000_000],
    ['12 reviews', 12],
    ['many', undefined],
    ['four', undefined],
    [-1, undefined],
    [1.5, undefined],
    [Number.NaN, undefined],
    ['1e9', undefined],
    ['12reviews', undefined],
    [true, undefined],
  ];
  for (const [given, wanted] of counts) assert.equal(countOf(given), wanted, told(given));
  const ratings: readonly [unknown, number | undefined][] = [
    [4.5, 4.5],
    ['4,5', 4.5],
    ['4.5/5', 4.5],
    [5.1, undefined],
    ['9', undefined],
    [-1, undefined],
    ['four', undefined],
  ];
  for (const [given, wanted] of ratings) assert.equal(ratingOf(given), wanted, told(given));
  assert.equal(wholeOf('2026', 1_500, 2_027), 2_026);
  assert.equal(wholeOf('MMXXVI', 1_500, 2_027), undefined);
  assert.equal(Object.is(wholeOf(-0, 0, 5), 0), true);
});

test('half of a place is none, and no place is beyond the poles', () => {
  assert.deepEqual(placeOf('47.37', 8.54), { latitude: 47.37, longitude: 8.54 });
  for (const [north, east] of [
    [91, 0],
    [0, 181],
    ['north', 0],
    [47, null],
    [undefined, 8],
  ]) {
    assert.deepEqual(placeOf(north, east), {}, told([north, east]));
  }
});

test('durations, distances and resolutions are read in the forms that providers use', () => {
  const durations: readonly [unknown, number | undefined][] = [
    [90, 90],
    ['90', 90],
    ['12:34', 754],
    ['1:02:03', 3_723],
    ['1:62:03', undefined],
    ['12:99', undefined],
    ['PT12M34S', 754],
    ['P1DT1S', 86_401],
    ['P', undefined],
    ['PT', undefined],
    ['1 hr 20 min', 4_800],
    ['2 hours, 5 mins', 7_500],
    ['5 parsecs', undefined],
    ['5 constructor', undefined],
    ['live', undefined],
    [-5, undefined],
    [Number.POSITIVE_INFINITY, undefined],
  ];
  for (const [given, wanted] of durations) assert.equal(durationOf(given), wanted, told(given));
  const distances: readonly [unknown, number | undefined][] = [
    [1_500, 1_500],
    ['12.3 km', 12_300],
    ['850 m', 850],
    ['1,5 km', 1_500],
    ['3 mi', 4_828],
    ['far', undefined],
  ];
  for (const [given, wanted] of distances) assert.equal(distanceOf(given), wanted, told(given));
  assert.deepEqual(resolutionOf('1920 x 1080'), { width: 1_920, height: 1_080 });
  assert.deepEqual(resolutionOf('1920×1080'), { width: 1_920, height: 1_080 });
  assert.deepEqual(resolutionOf('0 x 1080'), {});
  assert.deepEqual(resolutionOf('wide'), {});
});
