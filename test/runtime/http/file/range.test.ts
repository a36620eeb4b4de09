// The Range header as RFC 9110 has it, over files of every awkward length.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { rangeOf } from '../../../../runtime/http/file/range.ts';

type Row = [header: string, bytes: number, expected: string];

const shown = (found: ReturnType<typeof rangeOf>) =>
  typeof found === 'string' ? found : `${found.from}-${found.to}`;

const rows: Row[] = [
  // Both ends are in the range; what is read ends before `to`.
  ['bytes=0-0', 1000, '0-1'],
  ['bytes=0-499', 1000, '0-500'],
  ['bytes=500-999', 1000, '500-1000'],
  ['bytes=0-999', 1000, '0-1000'],
  ['bytes=0-1000', 1000, '0-1000'],
  ['bytes=999-999999999999999999999', 1000, '999-1000'],
  ['bytes=0-', 1000, '0-1000'],
  ['bytes=999-', 1000, '999-1000'],
  ['bytes=-1', 1000, '999-1000'],
  ['bytes=-1000', 1000, '0-1000'],
  ['bytes=-1001', 1000, '0-1000'],
  ['bytes=-999999999999999999999', 1000, '0-1000'],
  ['bytes=00000-00001', 1000, '0-2'],
  ['BYTES=0-0', 1000, '0-1'],
  ['bytes= 0-0 ', 1000, '0-1'],
  ['bytes=\t0-0', 1000, '0-1'],
  ['bytes=,0-0,', 1000, '0-1'],
  // Nothing of it is in the file.
  ['bytes=1000-', 1000, 'unsatisfiable'],
  ['bytes=1000-2000', 1000, 'unsatisfiable'],
  ['bytes=999999999999999999999-', 1000, 'unsatisfiable'],
  ['bytes=-0', 1000, 'unsatisfiable'],
  ['bytes=1000-,2000-3000,-0', 1000, 'unsatisfiable'],
  // Several: as many readers as there are would get what they do not expect.
  ['bytes=0-0,-1', 1000, 'whole'],
  ['bytes=0-0, 2000-', 1000, 'whole'],
  ['bytes=0-499,500-999', 1000, 'whole'],
  // No range of bytes.
  ['', 1000, 'whole'],
  ['bytes', 1000, 'whole'],
  ['bytes=', 1000, 'whole'],
  ['bytes=,', 1000, 'whole'],
  ['bytes=-', 1000, 'whole'],
  ['bytes=5-2', 1000, 'whole'],
  ['bytes=2000-1999', 1000, 'whole'],
  ['bytes=5-2,0-0', 1000, 'whole'],
  ['bytes=0-0,x', 1000, 'whole'],
  ['bytes=0 - 0', 1000, 'whole'],
  ['bytes =0-0', 1000, 'whole'],
  [' bytes=0-0', 1000, 'whole'],
  ['bytes=0-0-0', 1000, 'whole'],
  ['bytes=--1', 1000, 'whole'],
  ['bytes=+1-2', 1000, 'whole'],
  ['bytes=0x0-0x1', 1000, 'whole'],
  ['bytes=1.5-2', 1000, 'whole'],
  ['bytes=1e1-20', 1000, 'whole'],
  ['bytes=\u0661-', 1000, 'whole'],
  ['bytes=0-0;q=1', 1000, 'whole'],
  ['seconds=0-1', 1000, 'whole'],
  ['items=0-0', 1000, 'whole'],
  ['none', 1000, 'whole'],
  // An empty file has no first byte, but a last part: all of nothing.
  ['bytes=0-', 0, 'unsatisfiable'],
  ['bytes=0-0', 0, 'unsatisfiable'],
  ['bytes=-0', 0, 'unsatisfiable'],
  ['bytes=-5', 0, 'whole'],
  ['bytes=0-0', 1, '0-1'],
  ['bytes=1-1', 1, 'unsatisfiable'],
];

for (const [header, bytes, expected] of rows) {
  test(`${JSON.stringify(header)} of ${bytes} is ${expected}`, () => {
    assert.equal(shown(rangeOf(header, bytes)), expected);
  });
}

test('a range is never empty and never outside', () => {
  const text = fc.stringMatching(/^bytes=[0-9,\- ]{0,12}$/);
  fc.assert(
    fc.property(text, fc.nat(120), (header, bytes) => {
      const found = rangeOf(header, bytes);
      if (typeof found === 'string') return;
      assert.ok(Number.isInteger(found.from) && Number.isInteger(found.to));
      assert.ok(0 <= found.from && found.from < found.to && found.to <= bytes);
    }),
  );
});
