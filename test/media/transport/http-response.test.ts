// Responses as servers send them, whole and cut at every byte, and what is none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResponseParser } from '../../../media/transport/http-response.ts';
import { fc } from '../../harness/properties.ts';

interface Told {
  status: number | null;
  headers: Record<string, unknown>;
  body: string;
  /** It ended by itself, or with the connection. */
  isWhole: boolean;
  keepsOpen: boolean;
  idleMs: number | null;
  /** Bytes that it did not take. */
  left: number;
}

/** What is told of a response that comes in these pieces, before the connection ends. */
function read(pieces: readonly Buffer[]): Told {
  let [status, headers, body, left]: [number | null, Told['headers'], string, number] = [
    null,
    {},
    '',
    0,
  ];
  const parser = new ResponseParser({
    head(code, told) {
      assert.equal(status, null, 'one head');
      status = code;
      headers = { ...told() };
    },
    data(piece) {
      assert.ok(status !== null && piece.length > 0);
      body += piece.toString('latin1');
    },
  });
  for (const piece of pieces) left += piece.length - parser.push(Buffer.from(piece));
  const isWhole = parser.end();
  const { keepsOpen, idleMs } = parser;
  return { status, headers, body, isWhole, keepsOpen, idleMs, left };
}

/** The same, whole and cut in two at every byte, and byte by byte. */
function readCut(text: string): Told {
  const bytes = Buffer.from(text, 'latin1');
  const whole = read([bytes]);
  for (let at = 1; at < bytes.length; at += 1) {
    assert.deepEqual(read([bytes.subarray(0, at), bytes.subarray(at)]), whole, `cut at ${at}`);
  }
  assert.deepEqual(read([...bytes].map((byte) => Buffer.of(byte))), whole, 'byte by byte');
  return whole;
}

const lines = (...all: string[]) => all.map((line) => `${line}\r\n`).join('');
const ok = 'HTTP/1.1 200 OK';
const chunked = 'Transfer-Encoding: chunked';

test('a body ends with its length, its last chunk, or the connection', () => {
  const counted = readCut(`${lines(ok, 'Content-Length: 5', '')}hello`);
  assert.deepEqual(counted, {
    status: 200,
    headers: { 'content-length': '5' },
    body: 'hello',
    isWhole: true,
    keepsOpen: true,
    idleMs: null,
    left: 0,
  });
  const inChunks = readCut(
    lines(ok, chunked, '', '4', 'abcd', '00A;ext="x"', '0123456789', '0', ''),
  );
  assert.equal(inChunks.body, 'abcd0123456789');
  assert.ok(inChunks.isWhole && inChunks.keepsOpen);
  const trailed = readCut(lines(ok, chunked, '', '1 ', 'a', '0', 'X-Sum: 1', 'X-More: 2', ''));
  assert.equal(trailed.body, 'a');
  assert.ok(trailed.isWhole && trailed.keepsOpen);
  const untilClose = readCut(`${lines(ok, '')}to the end`);
  assert.equal(untilClose.body, 'to the end');
  assert.ok(untilClose.isWhole && !untilClose.keepsOpen);
});

test('the chunks of one read are told as one piece, also those before nonsense', () => {
  const pieces = (text: string): string[] => {
    const told: string[] = [];
    const parser = new ResponseParser({ head: () => {}, data: (piece) => told.push(`${piece}`) });
    try {
      parser.push(Buffer.from(text));
    } catch {
      told.push('refused');
    }
    return told;
  };
  const begun = lines(ok, chunked, '', '3', 'abc', '10', '0123456789abcdef');
  assert.deepEqual(pieces(begun), ['abc0123456789abcdef']);
  assert.deepEqual(pieces(`${begun}${lines('1', 'x', '0', '')}`), ['abc0123456789abcdefx']);
  assert.deepEqual(pieces(`${begun}${lines('zz')}`), ['abc0123456789abcdef', 'refused']);
});

test('a head that is longer than most is read like any other, and what follows it', () => {
  for (const length of [1_990, 2_009, 2_048, 5_000, 60_000]) {
    const head = lines(ok, `X-Long: ${'x'.repeat(length)}`, 'Content-Length: 4', '');
    const told = read([Buffer.from(`${head}bodynext`)]);
    assert.deepEqual([told.body, told.left, told.isWhole], ['body', 4, true], `${length}`);
    assert.equal(String(told.headers['x-long']).length, length);
  }
});

test('what is cut is not whole, wherever it is cut', () => {
  for (const text of [
    `${lines(ok, 'Content-Length: 5', '')}hello`,
    lines(ok, chunked, '', '5', 'hello', '0', ''),
  ]) {
    for (let end = 0; end < text.length; end += 1) {
      assert.equal(read([Buffer.from(text.slice(0, end))]).isWhole, false, `${end} bytes`);
    }
  }
});

test('responses without a body are over with their head', () => {
  for (const head of [
    lines('HTTP/1.1 204 No Content', ''),
    lines('HTTP/1.1 304 Not Modified', 'Content-Length: 7', ''),
    lines(ok, 'Content-Length: 0', ''),
    lines(ok, chunked, '', '0', ''),
  ]) {
    const told = readCut(`${head}next`);
    assert.equal(told.body, '');
    assert.ok(told.isWhole);
    assert.equal(told.left, 4, 'what follows is not its own');
  }
});

test('heads that come before the response are passed over', () => {
  const early = lines('HTTP/1.1 103 Early Hints', 'Link: </a>', '');
  const told = readCut(
    `${early}${lines('HTTP/1.1 100 Continue', '')}${lines(ok, 'Content-Length: 1', '')}x`,
  );
  assert.deepEqual([told.status, told.body, told.headers], [200, 'x', { 'content-length': '1' }]);
});

test('a connection is used again where both sides keep it', () => {
  const keeps = (...head: string[]) => {
    const told = readCut(lines(...head, 'Content-Length: 0', ''));
    return [told.keepsOpen, told.idleMs];
  };
  assert.deepEqual(keeps(ok, 'Keep-Alive: timeout=5, max=100'), [true, 5_000]);
  assert.deepEqual(keeps(ok, 'Connection: Close'), [false, null]);
  assert.deepEqual(keeps(ok, 'Connection: foo, close'), [false, null]);
  assert.deepEqual(keeps('HTTP/1.0 200 OK'), [false, null]);
  assert.deepEqual(keeps('HTTP/1.0 200 OK', 'Connection: keep-alive'), [true, null]);
  // Two lengths that do not mean the same are how requests are smuggled.
  const both = readCut(lines(ok, chunked, 'Content-Length: 3', '', '1', 'a', '0', ''));
  assert.deepEqual([both.body, both.keepsOpen], ['a', false]);
});

test('headers are told by lower-case names, and all of those that are repeated', () => {
  const head = lines(
    'HTTP/1.1 429 Too Many',
    'Retry-After:  7 ',
    'X-A: 1',
    'x-a: 2',
    'X-B:',
    '__proto__: x',
  );
  const told = readCut(`${head}${lines('Content-Length: 0', '')}`);
  assert.equal(told.status, 429);
  assert.deepEqual(told.headers, {
    'retry-after': '7',
    'x-a': ['1', '2'],
    'x-b': '',
    'content-length': '0',
  });
});

test('what is no response is refused wherever it is cut, and not read on', () => {
  const bad: Record<string, string> = {
    'another protocol': lines('HTTP/2 200', ''),
    'an upgrade': lines('HTTP/1.1 101 Switching', ''),
    'no status': lines('HTTP/1.1 OK', ''),
    'a header without a colon': lines(ok, 'nothing', ''),
    'a folded header': lines(ok, 'A: 1', ' folded', ''),
    'a space in a name': lines(ok, 'Content-Length : 3', ''),
    'two lengths': lines(ok, 'Content-Length: 3', 'Content-Length: 4', ''),
    'a negative length': lines(ok, 'Content-Length: -3', ''),
    'a length of words': lines(ok, 'Content-Length: 3a', ''),
    'another coding': lines(ok, 'Transfer-Encoding: gzip, chunked', ''),
    'a size of words': lines(ok, chunked, '', 'xyz'),
    'no size': lines(ok, chunked, '', ''),
    'a size too long': lines(ok, chunked, '', '1000000000000'),
    'a chunk longer than its size': lines(ok, chunked, '', '2', 'abc'),
    'a size that ends in a line feed': `${lines(ok, chunked, '')}2\nab`,
    'an extension that ends in a line feed': `${lines(ok, chunked, '')}2;x\nab`,
    'an endless extension': `${lines(ok, chunked, '')}2;${'x'.repeat(17 * 1_024)}`,
    'endless trailers': lines(ok, chunked, '', '0', ...Array(2_000).fill('X-Sum: 1')),
    'an endless head': lines(ok, ...Array(10_000).fill('X-Sum: 1')),
  };
  for (const [what, text] of Object.entries(bad)) {
    const bytes = Buffer.from(text, 'latin1');
    assert.throws(() => read([bytes]), /^Error: the response has /, what);
    const step = Math.max(1, Math.floor(bytes.length / 500));
    for (let at = 1; at < bytes.length; at += step) {
      assert.throws(() => read([bytes.subarray(0, at), bytes.subarray(at)]), what);
    }
  }
});

test('random bodies in random chunks, cut at random, come as they were sent', () => {
  const body = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  const cases = fc.tuple(fc.array(body, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 20 }));
  fc.assert(
    fc.property(cases, ([chunks, cuts]) => {
      const sent = chunks.flatMap((chunk) => [
        Buffer.from(`${chunk.length.toString(16)}\r\n`),
        chunk,
        Buffer.from('\r\n'),
      ]);
      const bytes = Buffer.concat([
        Buffer.from(lines(ok, chunked, '')),
        ...sent,
        Buffer.from('0\r\n\r\n'),
      ]);
      const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
      const pieces = [0, ...places].map((start, index) => bytes.subarray(start, places[index]));
      const told = read(pieces.filter((piece) => piece.length > 0));
      assert.equal(told.body, Buffer.concat(chunks).toString('latin1'));
      assert.ok(told.isWhole && told.left === 0);
    }),
    { numRuns: 500 },
  );
});
