// When the head of a stream leaves, and what with it: over as much of uWS as a stream uses.

import type { HttpResponse } from 'uWebSockets.js';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createStreamTable, HttpEventStream } from '../../../runtime/http/stream.ts';
import { createTicker } from '../../../runtime/http/ticker.ts';

const ticker = createTicker(1_000, []);
after(() => ticker.stop());

interface Stub {
  response: HttpResponse;
  /** What was called, in order. */
  calls: string[];
  becomeWritable(): void;
}

function stub(): Stub {
  const calls: string[] = [];
  let onWritable = () => true;
  const response = {
    cork(work: () => void) {
      calls.push('cork');
      work();
    },
    write(text: string | Uint8Array) {
      calls.push(Buffer.from(text as string).toString());
      return true;
    },
    end: (text: string) => calls.push(`end ${text}`),
    onWritable(listener: () => boolean) {
      onWritable = listener;
    },
  };
  return {
    response: response as unknown as HttpResponse,
    calls,
    becomeWritable: () => void onWritable(),
  };
}

function streamTable() {
  return createStreamTable(() => ticker, 64 * 1_024);
}

function openStream({ response, calls }: Stub, table = streamTable()): HttpEventStream {
  const stream = new HttpEventStream(table, { everyMs: 60_000, text: 'alive' });
  stream.open(response, () => calls.push('head'));
  return stream;
}

test('the head leaves with what the turn has written, at its end', async () => {
  const table = streamTable();
  const sent = async (write: (stream: HttpEventStream) => void): Promise<string[]> => {
    const stubbed = stub();
    write(openStream(stubbed, table));
    assert.deepEqual(stubbed.calls, [], 'nothing leaves before');
    await turn();
    return stubbed.calls;
  };
  const two = (stream: HttpEventStream) => {
    for (const text of ['first ', 'second']) stream.write(text);
  };
  assert.deepEqual(await sent(two), ['cork', 'head', 'first second']);
  assert.deepEqual(await sent((stream) => stream.end('all')), ['cork', 'head', 'end all']);
  assert.deepEqual(await sent(() => undefined), ['cork', 'head', 'alive']);
  assert.deepEqual(await sent((stream) => stream.abort()), [], 'its client has gone meanwhile');
  assert.equal(table.size, 2, 'those that have not ended');
});

test('what is too long for one turn leaves at once, behind the head', () => {
  const stubbed = stub();
  const stream = openStream(stubbed);
  stream.write('long '.repeat(20_000));
  const begun = stubbed.calls.map((call) => call.slice(0, 4));
  assert.deepEqual(begun, ['cork', 'head', 'long']);
  stream.abort();
});

test('a socket that is writable between the last write and its turn loses nothing', async () => {
  const stubbed = stub();
  const stream = openStream(stubbed);
  stream.write('first ');
  await turn();
  stream.write('last ');
  stream.end('done');
  // As for a slow reader: uWS had kept a part of the first one, and told nobody.
  stubbed.becomeWritable();
  await turn();
  assert.deepEqual(stubbed.calls, ['cork', 'head', 'first ', 'cork', 'end last done']);
  assert.equal(stream.closed, true);
});
