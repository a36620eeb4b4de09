// Connections that are kept, and closed by their server just when a request is sent on them.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createUpstreamClient } from '../../../media/providers/generation/call.ts';
import { eventually, startChatCall, textOf } from '../../harness/chat-call.ts';
import { countingServer } from '../../harness/counting-server.ts';

const client = createUpstreamClient({ connectionsMax: 4 });
after(() => client.close());
const start = (text: string, baseUrl: string) => startChatCall(client, text, {}, baseUrl);

const wholeAnswer =
  'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n' +
  'data: [DONE]\n\n';
const keptAlive = `HTTP/1.1 200 OK\r\ncontent-length: ${wholeAnswer.length}\r\n\r\n${wholeAnswer}`;

/** One answer, whose connection is idle then. */
async function keepConnection(url: string): Promise<void> {
  assert.equal(textOf((await start('one', url).done).events), 'a');
  await eventually(async () => client.openCount === 0, 'the connection is still in use');
  // The connection is given back in a turn of its own.
  await new Promise((resolve) => setTimeout(resolve, 20));
}

test('a request whose kept connection is closed under it is sent again', async () => {
  for (const close of ['destroy', 'resetAndDestroy'] as const) {
    const { server, url, seen } = await countingServer((socket, request) => {
      if (request === 2) socket[close]();
      else socket.write(keptAlive);
    });
    await keepConnection(url);
    const { events, failure } = await start('two', url).done;
    assert.equal(failure, null);
    assert.equal(textOf(events), 'a');
    assert.deepEqual(seen, [1, 1, 2], close);
    server.close();
  }
});

test('a server that answers nothing is asked twice at most, a new connection once', async () => {
  const closes = await countingServer((socket) => socket.destroy());
  assert.equal((await start('hi', closes.url).done).failure?.kind, 'connect');
  assert.deepEqual(closes.seen, [1]);
  closes.server.close();
  const worse = await countingServer((socket, request) => {
    if (request === 1) socket.write(keptAlive);
    else socket.destroy();
  });
  await keepConnection(worse.url);
  assert.equal((await start('two', worse.url).done).failure?.kind, 'connect');
  assert.deepEqual(worse.seen, [1, 1, 2]);
  worse.server.close();
});

test('who is cut off after a second of thinking is not asked again', async () => {
  const { server, url, seen } = await countingServer((socket, request) => {
    if (request === 1) socket.write(keptAlive);
    else setTimeout(() => socket.destroy(), 1_100);
  });
  await keepConnection(url);
  assert.equal((await start('two', url).done).failure?.kind, 'connect');
  assert.deepEqual(seen, [1, 1]);
  server.close();
});
