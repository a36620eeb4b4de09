// How names are resolved, by a real exchange with a server of DNS that the test runs.
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { createResolve } from '../../../runtime/outbound/names.ts';
import { farSide, guardOver, reasonOf, response } from './far-side.ts';

const typeA = 1;
const typeAaaa = 28;

/** The question's name, its type, and where its section ends (RFC 1035, 4.1.2). */
function readQuestion(message: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function answerTo(message: Buffer, addresses: readonly string[]): Buffer {
  const { type, end } = readQuestion(message);
  const header = Buffer.from(message.subarray(0, 12));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const bytes = address.includes(':')
      ? Buffer.concat(address.split(':').map((group) => Buffer.from(group.padStart(4, '0'), 'hex')))
      : Buffer.from(address.split('.').map(Number));
    const record = Buffer.from('c00c00000001000000000000', 'hex');
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([header, message.subarray(12, end), ...records]);
}

type Records = (name: string, type: number) => readonly string[] | null;

/** A server of DNS; null is no answer at all. */
async function nameServer(records: Records): Promise<{ server: string; socket: Socket }> {
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const { name, type } = readQuestion(message);
    const addresses = records(name, type);
    if (addresses !== null) socket.send(answerTo(message, addresses), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { server: `127.0.0.1:${socket.address().port}`, socket };
}

const signal = new AbortController().signal;

test('a name of the web has all its addresses, of both kinds', async (t) => {
  const asked: string[] = [];
  const { server, socket } = await nameServer((name, type) => {
    asked.push(`${name} ${type}`);
    if (name === 'both.example.com') {
      return type === typeA ? ['93.184.216.34', '10.0.0.1'] : ['2606:4700:0:0:0:0:0:1111'];
    }
    return name === 'one.example.com' && type === typeA ? ['93.184.216.34'] : [];
  });
  t.after(() => socket.close());
  const resolve = createResolve([server]);
  const both = await resolve('both.example.com', 'web', signal);
  assert.deepEqual(both.sort(), ['10.0.0.1', '2606:4700::1111', '93.184.216.34']);
  assert.deepEqual(await resolve('one.example.com', 'web', signal), ['93.184.216.34']);
  await assert.rejects(resolve('none.example.com', 'web', signal));
  assert.ok(asked.includes(`both.example.com ${typeAaaa}`));
});

test('a resolver that turns to this machine between two questions reaches nobody', async (t) => {
  const far = await farSide(response('inside'));
  let turn = 0;
  const { server, socket } = await nameServer((_name, type) => {
    if (type === typeAaaa) return [];
    turn += 1;
    return [turn % 2 === 1 ? '192.0.2.1' : '127.0.0.1'];
  });
  t.after(() => {
    far.close();
    socket.close();
  });
  const { fetch } = guardOver({}, { resolve: createResolve([server]) });
  for (let index = 0; index < 4; index += 1) {
    assert.equal(reasonOf(await fetch('http://rebind.example.com/')), 'source_refused');
  }
  assert.equal(far.connections, 0);
});

test('a question ends when it is told to, and the guard waits for no resolver', async (t) => {
  const { server, socket } = await nameServer(() => null);
  t.after(() => socket.close());
  const resolve = createResolve([server]);
  const ending = new AbortController();
  setTimeout(() => ending.abort(), 20);
  const startMs = performance.now();
  await assert.rejects(resolve('slow.example.com', 'web', ending.signal));
  assert.ok(performance.now() - startMs < 600, 'it was cancelled');
  const { fetch } = guardOver({}, { resolve });
  assert.equal(reasonOf(await fetch('http://slow.example.com/')), 'source_unreachable');
});

test('a name of the machine is resolved as the machine does it', async () => {
  const found = await createResolve([])('localhost', 'local', signal);
  assert.ok(found.includes('127.0.0.1') || found.includes('::1'));
});
