// Clients that break the protocol's frame, or vanish in the middle of one, over real sockets.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAccount } from '../../harness/account.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { VoiceClient } from '../../harness/voice-client.ts';

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_VOICE_SESSIONS_MAX: '200' } });
  account = await bed.account({ micros: 100_000_000_000n });
});
after(() => bed.close());

const connect = () => VoiceClient.connect(bed.url, { apiKey: account.apiKey });
const start = JSON.stringify({ type: 'start', mode: 'full', voice_id: 'alloy' });

/** Codes of what the client was told is wrong, and whether that was the end. */
const told = (client: VoiceClient) =>
  client.ofType('error').map(({ code, fatal }) => `${String(code)}${fatal === true ? ' !' : ''}`);

/** The socket below: what a client library does not send. */
function raw(client: VoiceClient): { write(bytes: Buffer): void; destroy(): void } {
  return Reflect.get(client.socket, '_socket') as { write(bytes: Buffer): void; destroy(): void };
}

test('messages in fragments are whole messages', async () => {
  const client = await connect();
  for (const [index, character] of [...start].entries()) {
    client.socket.send(character, { fin: index === start.length - 1, binary: false });
  }
  await client.event('session.ready');
  const frame = client.frame(440);
  for (let at = 0; at < frame.length; at += 100) {
    client.socket.send(frame.subarray(at, at + 100), { fin: at + 100 >= frame.length });
    client.socket.ping();
  }
  client.socket.send('{"type":', { fin: false });
  client.socket.send('"end"}', { fin: true });
  assert.deepEqual(await client.close(), { code: 1000, reason: 'client_end' });
  assert.deepEqual(told(client), []);
});

test('frames of wrong lengths and kinds are told three times, the fourth ends', async () => {
  const client = await connect();
  await client.ready();
  client.socket.send(Buffer.alloc(0));
  client.socket.send(Buffer.alloc(1_023));
  client.socket.send(client.frame(440).toString('latin1'));
  client.socket.send('');
  assert.deepEqual(await client.close(), { code: 1011, reason: 'error' });
  const wrong = 'invalid_message';
  assert.deepEqual(told(client), [wrong, wrong, wrong, `${wrong} !`]);
  assert.deepEqual(client.events.at(-1)?.reason, 'error');
});

test('a start that is told twice is one session and one hold', async () => {
  const client = await connect();
  client.start();
  client.start();
  await client.event('session.ready');
  const rows = await bed.sql`SELECT 1 FROM holds`;
  assert.equal(rows.length, 1);
  client.send({ type: 'end' });
  assert.deepEqual(await client.close(), { code: 1000, reason: 'client_end' });
  assert.deepEqual(told(client), ['invalid_message']);
});

test('an end before the start, or right behind it, is an end', async () => {
  const early = await connect();
  early.send({ type: 'end' });
  assert.deepEqual(await early.close(), { code: 1008, reason: 'invalid_start' });
  const quick = await connect();
  quick.start();
  quick.send({ type: 'end' });
  assert.deepEqual(await quick.close(), { code: 1000, reason: 'client_end' });
  assert.equal(quick.events.at(-1)?.type, 'session.ended');
});

test('what breaks RFC 6455, or is cut within a frame, ends without a trace', async () => {
  const broken: readonly ((client: VoiceClient) => void)[] = [
    // Reserved bits; an unknown opcode; a ping of 126 bytes; a rest of nothing.
    (client) => raw(client).write(Buffer.from([0xf1, 0x80, 0, 0, 0, 0])),
    (client) => raw(client).write(Buffer.from([0x83, 0x80, 0, 0, 0, 0])),
    (client) => raw(client).write(Buffer.from([0x89, 0xfe, 0, 126, 0, 0, 0, 0])),
    (client) => raw(client).write(Buffer.from([0x80, 0x80, 0, 0, 0, 0])),
    (client) => {
      raw(client).write(Buffer.from([0x82, 0xfe, 0x04, 0, 1, 2, 3, 4, 5, 6]));
      raw(client).destroy();
    },
    (client) => client.socket.send(Buffer.alloc(300 * 1024)),
    (client) => client.socket.close(1001, 'goodbye'),
    (client) => {
      client.socket.send('{"type":', { fin: false });
      client.socket.terminate();
    },
  ];
  for (const isStarted of [false, true]) {
    for (const act of broken) {
      const client = await connect();
      if (isStarted) await client.ready();
      act(client);
      await client.close();
    }
  }
  await account.quiet();
  let sockets = Number.POSITIVE_INFINITY;
  for (let turn = 0; sockets > 2 && turn < 1_000; turn += 1) {
    const response = await fetch(`${bed.url}/api/health`);
    const { shards } = (await response.json()) as { shards: { sockets: number }[] };
    sockets = shards.reduce((sum, shard) => sum + shard.sockets, 0);
    await sleep(20);
  }
  assert.ok(sockets <= 2, 'only those of the question itself are open');
  const [live] = await bed.sql<{ count: bigint }[]>`
    SELECT count(*) AS count FROM voice_sessions WHERE state = 'live'`;
  assert.equal(live?.count, 0n);
});

// Far more at once than the bound of a second, so that a slow machine makes no difference.
const floodFrames = 40_000;
const floods: Record<string, Buffer> = {
  pings: Buffer.from([0x89, 0x80, 0, 0, 0, 0]),
  pongs: Buffer.from([0x8a, 0x80, 0, 0, 0, 0]),
  'tiny messages': Buffer.from([0x82, 0x81, 0, 0, 0, 0, 0]),
};
for (const [name, frame] of Object.entries(floods)) {
  test(`whoever sends nothing but ${name} is thrown out before it stops its shard`, async () => {
    const client = await connect();
    await client.ready();
    raw(client).write(Buffer.alloc(frame.length * floodFrames, frame));
    assert.deepEqual(await client.close(), { code: 1008, reason: 'too many messages' });
    await account.quiet();
  });
}
