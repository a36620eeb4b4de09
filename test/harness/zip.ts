// Reads a ZIP as unpackers do: by its central directory, every checksum looked at (APPNOTE 6.3.10).
import assert from 'node:assert/strict';
import { crc32, inflateRawSync } from 'node:zlib';

const endSignature = 0x06054b50;
const directorySignature = 0x02014b50;
const localSignature = 0x04034b50;

/** The files of an archive by their names. Fails on anything that is out of order. */
export function readZip(bytes: Buffer): Map<string, Buffer> {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  assert.ok(end >= 0 && bytes.readUInt32LE(end) === endSignature, 'it has no end');
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  const files = new Map<string, Buffer>();
  for (let index = 0; index < count; index += 1) {
    assert.equal(bytes.readUInt32LE(at), directorySignature);
    const method = bytes.readUInt16LE(at + 10);
    const sum = bytes.readUInt32LE(at + 16);
    const packedBytes = bytes.readUInt32LE(at + 20);
    const plainBytes = bytes.readUInt32LE(at + 24);
    const nameLength = bytes.readUInt16LE(at + 28);
    const moreLength = bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    const local = bytes.readUInt32LE(at + 42);
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
    assert.equal(bytes.readUInt32LE(local), localSignature);
    const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const packed = bytes.subarray(from, from + packedBytes);
    const plain = method === 0 ? packed : inflateRawSync(packed);
    assert.equal(plain.length, plainBytes, name);
    assert.equal(crc32(plain), sum, name);
    assert.ok(!files.has(name), `${name} is there twice`);
    files.set(name, plain);
    at += 46 + nameLength + moreLength;
  }
  return files;
}
