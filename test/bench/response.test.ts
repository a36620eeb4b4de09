// The load generator's reader against responses cut at every byte: what it counts decides whether a
// bench measured what it says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResponseReader } from '../../bench/load/response.ts';

const events = 'data: {"a":1}\n\n: still here\ndata: {"b":"é"}\n\ndata: [DONE]\n\n';

function chunked(body: string, size: number): string {
  let text =
    'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size).toString('latin1');
    text += `${part.length.toString(16).toUpperCase()}\r\n${part}\r\n`;
  }
  return `${text}0\r\n\r\n`;
}

function readInTwo(response: string, cut: number): ResponseReader {
  const reader = new ResponseReader();
  const bytes = Buffer.from(response, 'latin1');
  const [first, second] = [bytes.subarray(0, cut), bytes.subarray(cut)];
  if (first.length > 0) assert.equal(reader.push(first, first.length), cut === bytes.length);
  if (second.length > 0) assert.equal(reader.push(second, second.length), true);
  return reader;
}

test('a chunked stream cut at every byte has its events, once', () => {
  for (const size of [1, 7, 16, 1000]) {
    const response = chunked(events, size);
    for (let cut = 1; cut < response.length; cut++) {
      const reader = readInTwo(response, cut);
      assert.equal(reader.events, 3, `chunks of ${size}, cut at ${cut}`);
      assert.equal(reader.bodyBytes, Buffer.byteLength(events));
      assert.equal(reader.status, 200);
    }
  }
});

test('an answer with a length ends with its last byte, and the next one is read from new', () => {
  const response = 'HTTP/1.1 402 Payment Required\r\ncontent-length: 12\r\n\r\n{"error":{}}';
  for (let cut = 1; cut < response.length; cut++) {
    const reader = readInTwo(response, cut);
    assert.equal(reader.status, 402);
    assert.equal(reader.bodyStart, '{"error":{}}');
    reader.reset();
    assert.equal(reader.push(Buffer.from(chunked(events, 9), 'latin1'), 1), false);
    assert.equal(reader.events, 0);
  }
});

test('a response without its end is not complete', () => {
  const response = chunked(events, 16).slice(0, -2);
  const reader = new ResponseReader();
  const bytes = Buffer.from(response, 'latin1');
  assert.equal(reader.push(bytes, bytes.length), false);
});

test('a connection that the server will close is not kept', () => {
  const reader = new ResponseReader();
  const bytes = Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  assert.equal(reader.push(bytes, bytes.length), true);
  assert.equal(reader.keepAlive, false);
});
