// What counts as a ZIP: one that was made by a library, and each way to break it.
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import yazl from 'yazl';
import { zipFault } from '../../../routes/releases/zip.ts';

export async function makeZip(names: readonly string[]): Promise<Buffer> {
  const file = new yazl.ZipFile();
  for (const name of names) file.addBuffer(Buffer.from(`content of ${name}`), name);
  file.end();
  return buffer(file.outputStream);
}

test('a ZIP is one, and stays one with a comment', async () => {
  const zip = await makeZip(['manifest.json', 'icons/16.png']);
  assert.equal(zipFault(zip), null);
  const commented = Buffer.concat([zip, Buffer.from('hello')]);
  commented.writeUInt16LE(5, zip.length - 2);
  assert.equal(zipFault(commented), null);
});

test('what is damaged is none', async () => {
  const zip = await makeZip(['manifest.json', 'a.js']);
  const end = zip.length - 22;
  const changed = (at: number, value: number) => {
    const copy = Buffer.from(zip);
    copy.writeUInt8((copy[at] ?? 0) ^ value, at);
    return copy;
  };
  const begin = zip.readUInt32LE(end + 16);
  const broken: Readonly<Record<string, Buffer>> = {
    empty: Buffer.alloc(0),
    text: Buffer.from('PK this is no archive at all, it only begins like one'),
    cut: zip.subarray(0, -1),
    'more behind it': Buffer.concat([zip, Buffer.from('x')]),
    'no file': await makeZip([]),
    'the end': changed(end, 1),
    'the number of files': changed(end + 10, 1),
    'where the directory is': changed(end + 16, 1),
    'the directory': changed(begin, 1),
    'the head of a file': changed(0, 1),
    'the length of a file': changed(begin + 22, 1),
  };
  for (const [name, bytes] of Object.entries(broken)) {
    assert.notEqual(zipFault(bytes), null, name);
  }
});

test('a file that would be unpacked elsewhere is refused', async () => {
  const zip = await makeZip(['aa/evil.js']);
  const evil = Buffer.from(zip.toString('latin1').replaceAll('aa/', '../'), 'latin1');
  assert.match(zipFault(evil) ?? '', /elsewhere/);
});

test('no cut of a ZIP throws', async () => {
  const zip = await makeZip(['manifest.json']);
  for (let length = 0; length < zip.length; length += 1) {
    assert.notEqual(zipFault(zip.subarray(0, length)), null);
    assert.doesNotThrow(() => zipFault(zip.subarray(length)));
  }
});
