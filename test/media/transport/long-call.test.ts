// Upstream calls with long bodies: encoded in a turn of their own, sent in pieces, whole at the
// other end, and given up cleanly at every stage.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import type { ModelEvent, UpstreamFailure } from '../../../media/model/events.ts';
import {
  createUpstreamClient,
  type UpstreamClient,
} from '../../../media/providers/generation/call.ts';
import type {
  TimedHandle,
  UpstreamCall,
  UpstreamDeadlines,
} from '../../../media/providers/generation/contract.ts';
import { openaiChat } from '../../../media/providers/generation/openai-chat/family.ts';
import { inPieces, type WrittenCall } from '../../../media/transport/long-call.ts';
import { afterOthers } from '../../../runtime/turns.ts';

const deadlines = {
  queueMs: 60_000,
  connectMs: 60_000,
  firstEventMs: 60_000,
  idleMs: 60_000,
  totalMs: 60_000,
};
/** Cut anywhere it would be wrong: three and four bytes a character. */
const long = 'Wärme — 漢字 🧭 '.repeat(60_000);

let sim: RunningSim;
let client: UpstreamClient;

before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
  client = createUpstreamClient({ connectionsMax: 4 });
});
after(async () => {
  await client.close();
  sim.close();
});

function callOf(text: string, baseUrl = `http://127.0.0.1:${sim.port}/v1`): UpstreamCall {
  const model = 'simulated-chat-large-2026-01-15';
  const messages = [{ role: 'user', content: text }];
  return {
    method: 'POST',
    url: `${baseUrl}/chat/completions`,
    headers: { 'content-type': 'application/json', authorization: 'Bearer k' },
    body: { model, stream: true, messages },
  };
}

interface Running {
  handle: TimedHandle;
  done: Promise<{ text: string; failure: UpstreamFailure | null }>;
}

function start(
  call: UpstreamCall | (() => UpstreamCall),
  own: Partial<UpstreamDeadlines> = {},
): Running {
  const seen: ModelEvent[] = [];
  let handle: TimedHandle | null = null;
  const done = new Promise<{ text: string; failure: UpstreamFailure | null }>((resolve) => {
    const all = { ...deadlines, ...own };
    handle = client.start(openaiChat, call, all, {
      events: (events) => seen.push(...events),
      ended: (failure) => {
        const text = seen.map((event) => (event.type === 'text' ? event.text : '')).join('');
        resolve({ text, failure });
      },
    });
  });
  return { handle: handle ?? assert.fail('no handle'), done };
}

async function slotsFree(): Promise<void> {
  for (let attempt = 0; attempt < 3_000 && client.openCount > 0; attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.equal(client.openCount, 0, 'a connection slot is still taken');
}

test('long bodies arrive whole, several at once and on used connections', async () => {
  for (let round = 0; round < 2; round += 1) {
    const runs = [1, 2, 3, 4, 5, 6].map((tokens) =>
      start(() => callOf(`${long}[[sim tokens=${tokens}]]`)),
    );
    for (const [index, run] of runs.entries()) {
      const { text, failure } = await run.done;
      assert.equal(failure, null);
      assert.equal(text.split(' ').length - 1, index + 1);
    }
  }
  await start(callOf(`${long}[[sim tokens=1]]`)).done;
  const reply = await fetch(`http://127.0.0.1:${sim.port}/sim/last`);
  const last = (await reply.json()) as { body: { messages: { content: string }[] } };
  assert.equal(last.body.messages[0]?.content, `${long}[[sim tokens=1]]`);
  await slotsFree();
});

test('a call that is given up before its turn is never made', async () => {
  let encoded = false;
  const run = start(() => {
    encoded = true;
    return callOf('[[sim tokens=1]]');
  });
  run.handle.abort();
  await slotsFree();
  assert.equal(encoded, false);
});

/** Keeps the queue of long work busy until the returned function is called. */
function occupyQueue(): () => void {
  let leave = () => {};
  const busy = new Promise<void>((resolve) => {
    leave = resolve;
  });
  void afterOthers('', () => busy);
  return leave;
}

test("the provider's time begins when the call is sent, not when it queues here", async () => {
  const leave = occupyQueue();
  const run = start(callOf(`${long}[[sim tokens=1]]`), { connectMs: 2_000 });
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  leave();
  assert.equal((await run.done).failure, null);
  assert.ok(run.handle.ownMs >= 2_400, 'and the wait is known');
  await slotsFree();
});

test('a call that waits too long for its encoding is our overload, and is never sent', async () => {
  const leave = occupyQueue();
  let encoded = false;
  const encode = () => {
    encoded = true;
    return callOf('[[sim tokens=1]]');
  };
  const { failure } = await start(encode, { queueMs: 100 }).done;
  assert.equal(failure?.kind, 'overloaded');
  leave();
  await slotsFree();
  assert.equal(encoded, false);
});

test('a call that cannot be encoded fails, and nothing else does', async () => {
  const { failure } = await start(() => assert.fail('no such form')).done;
  assert.equal(failure?.kind, 'connect');
  assert.match(failure.detail, /no such form/);
  assert.equal((await start(() => callOf('[[sim tokens=2]]')).done).failure, null);
  await slotsFree();
});

test('a server that refuses a long body before it has read it is understood', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.pause();
      const body = '{"error":{"message":"too large","type":"invalid_request_error"}}';
      socket.write(
        `HTTP/1.1 413 Payload Too Large\r\ncontent-length: ${body.length}\r\n` +
          `content-type: application/json\r\n\r\n${body}`,
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const { failure } = await start(() => callOf(long, `http://127.0.0.1:${address.port}/v1`)).done;
  assert.equal(failure?.status, 413);
  await slotsFree();
  server.close();
});

test('a long body whose server goes away in the middle is a failed connection', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const { failure } = await start(() => callOf(long, `http://127.0.0.1:${address.port}/v1`)).done;
  assert.equal(failure?.kind, 'connect');
  await slotsFree();
  server.close();
});

test('a body is cut between characters, whatever stands at the cut', async () => {
  for (const shift of [0, 1, 2, 3]) {
    const text = 'x'.repeat(shift) + '🧭漢é'.repeat(100_000);
    const written = JSON.stringify({ text });
    for (const body of [{ text }, written]) {
      const call = await inPieces({ ...callOf(''), body } as UpstreamCall | WrittenCall);
      assert.ok(call.body.length > 2);
      assert.equal(Buffer.concat(call.body).toString(), written);
      assert.equal(call.headers['content-length'], String(Buffer.byteLength(written)));
    }
  }
});

test('a long body is in no turn written as a whole', async () => {
  const messages = Array.from({ length: 40 }, () => ({ role: 'user', content: long }));
  const whole = JSON.stringify(messages).length;
  let longest = 0;
  const stringify = JSON.stringify;
  JSON.stringify = (value: unknown) => {
    const text = stringify(value);
    longest = Math.max(longest, text.length);
    return text;
  };
  const made = { ...callOf(''), body: { messages } };
  const call = await inPieces(made).finally(() => {
    JSON.stringify = stringify;
  });
  assert.ok(Buffer.concat(call.body).length > whole);
  assert.ok(longest < whole / 100, `${longest} characters of ${whole} at once`);
});
