// Preconditions in the order of RFC 9110, 13.2.2, as a table.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { isRangeWanted, verdictOf } from '../../../../runtime/http/file/conditions.ts';

const etag = 'abc';
const then = 'Sun, 06 Nov 1994 08:49:37 GMT';
const before = 'Sun, 06 Nov 1994 08:49:36 GMT';
const after = 'Sun, 06 Nov 1994 08:49:38 GMT';
/** A file's time has a part of a second, which no header tells. */
const validators = { etag, lastModifiedMs: Date.UTC(1994, 10, 6, 8, 49, 37) + 700 };

type Headers = Record<string, string>;
type Row = [headers: Headers, verdict: ReturnType<typeof verdictOf>];

const none = 'if-none-match';
const match = 'if-match';
const since = 'if-modified-since';
const unmodified = 'if-unmodified-since';

const rows: Row[] = [
  [{}, 'send'],
  // If-Match compares strongly.
  [{ [match]: '"abc"' }, 'send'],
  [{ [match]: '*' }, 'send'],
  [{ [match]: ' * ' }, 'send'],
  [{ [match]: '"x", "abc"' }, 'send'],
  [{ [match]: '"x","abc","y"' }, 'send'],
  [{ [match]: 'W/"abc"' }, 'failed'],
  [{ [match]: 'W/"abc", "abc"' }, 'send'],
  [{ [match]: '"x"' }, 'failed'],
  [{ [match]: '"ABC"' }, 'failed'],
  [{ [match]: 'abc' }, 'failed'],
  [{ [match]: '"abc' }, 'failed'],
  [{ [match]: '"x,"abc"' }, 'failed'],
  [{ [match]: '""' }, 'failed'],
  [{ [match]: '"x", *' }, 'failed'],
  // If-Unmodified-Since counts without If-Match only.
  [{ [unmodified]: then }, 'send'],
  [{ [unmodified]: after }, 'send'],
  [{ [unmodified]: before }, 'failed'],
  [{ [unmodified]: 'yesterday' }, 'send'],
  [{ [match]: '"abc"', [unmodified]: before }, 'send'],
  [{ [match]: '"x"', [unmodified]: after }, 'failed'],
  // If-None-Match compares weakly.
  [{ [none]: '"abc"' }, 'unchanged'],
  [{ [none]: 'W/"abc"' }, 'unchanged'],
  [{ [none]: 'w/"abc"' }, 'send'],
  [{ [none]: '*' }, 'unchanged'],
  [{ [none]: '"x", W/"abc"' }, 'unchanged'],
  [{ [none]: '"a,b" , "abc"' }, 'unchanged'],
  [{ [none]: '"x"' }, 'send'],
  [{ [none]: '"abcd"' }, 'send'],
  [{ [none]: 'abc' }, 'send'],
  [{ [none]: '"a, "abc"' }, 'send'],
  // If-Modified-Since counts without If-None-Match only.
  [{ [since]: then }, 'unchanged'],
  [{ [since]: after }, 'unchanged'],
  [{ [since]: before }, 'send'],
  [{ [since]: '1994' }, 'send'],
  [{ [none]: '"x"', [since]: after }, 'send'],
  [{ [none]: '"abc"', [since]: before }, 'unchanged'],
  // What fails comes before what is unchanged.
  [{ [match]: '"x"', [none]: '"abc"' }, 'failed'],
  [{ [match]: '"abc"', [none]: '"abc"' }, 'unchanged'],
  [{ [unmodified]: before, [since]: after }, 'failed'],
  [{ [unmodified]: then, [since]: then }, 'unchanged'],
];

for (const [headers, verdict] of rows) {
  test(`${JSON.stringify(headers)}: ${verdict}`, () => {
    assert.equal(
      verdictOf((name) => headers[name], validators),
      verdict,
    );
  });
}

const rangeRows: [ifRange: string | undefined, isWanted: boolean][] = [
  [undefined, true],
  ['"abc"', true],
  ['W/"abc"', false],
  ['"x"', false],
  ['abc', false],
  ['"abc", "x"', false],
  ['*', false],
  ['', false],
  [then, true],
  [' Sun, 06 Nov 1994 08:49:37 GMT ', true],
  ['Sunday, 06-Nov-94 08:49:37 GMT', true],
  // Not "not later than": exactly then.
  [after, false],
  [before, false],
  ['1994', false],
];

for (const [ifRange, isWanted] of rangeRows) {
  test(`a range under If-Range ${ifRange} is ${isWanted ? '' : 'not '}sent`, () => {
    assert.equal(isRangeWanted(ifRange, validators), isWanted);
  });
}

test('a tag of many commas and quotes takes no time', () => {
  const long = '"a,'.repeat(5_000);
  const begun = performance.now();
  assert.equal(
    verdictOf((name) => (name === none ? long : undefined), validators),
    'send',
  );
  assert.ok(performance.now() - begun < 1_000);
});
