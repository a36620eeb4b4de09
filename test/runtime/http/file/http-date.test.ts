// Dates of HTTP: the three forms that must be read, and what is none of them.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { httpDate, parseHttpDate } from '../../../../runtime/http/file/http-date.ts';

const moment = Date.UTC(1994, 10, 6, 8, 49, 37);

test('all three forms of a date are read', () => {
  for (const text of [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ]) {
    assert.equal(parseHttpDate(text), moment, text);
  }
  assert.equal(parseHttpDate('Thu, 29 Feb 2024 00:00:00 GMT'), Date.UTC(2024, 1, 29));
  assert.equal(parseHttpDate('Fri Nov 27 07:00:60 2026'), Date.UTC(2026, 10, 27, 7, 1, 0));
});

test('a year of two digits is at most 50 years ahead', () => {
  const now = new Date().getUTCFullYear();
  for (const ahead of [0, 1, 49, 51, 99]) {
    const digits = String((now + ahead) % 100).padStart(2, '0');
    const read = parseHttpDate(`Monday, 15-Jun-${digits} 00:00:00 GMT`);
    assert.ok(read !== null);
    const expected = ahead > 50 ? now + ahead - 100 : now + ahead;
    assert.equal(new Date(read).getUTCFullYear(), expected, digits);
  }
});

test('anything else is no date', () => {
  for (const text of [
    '',
    '0',
    '2024-01-01',
    '2024-01-01T00:00:00Z',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:49:37 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 06 nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
  ]) {
    assert.equal(parseHttpDate(text), null, text);
  }
});

test('what is written is read again, without its milliseconds', () => {
  assert.equal(httpDate(moment + 999), 'Sun, 06 Nov 1994 08:49:37 GMT');
  assert.equal(parseHttpDate(httpDate(moment + 999)), moment);
});
