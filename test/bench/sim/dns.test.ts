// The simulated DNS server and its endpoint, with a client that is not ours: Node's resolver.
import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { DnsZone } from '../../../bench/sim/dns/zone.ts';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';

let sim: RunningSim;
before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 4 });
});
beforeEach(async () => assert.equal((await post('reset', {})).status, 200));
after(() => sim?.close());

const post = (path: string, body: unknown) =>
  fetch(`http://127.0.0.1:${sim.port}/sim/${path}`, { method: 'POST', body: JSON.stringify(body) });

function resolver(): Resolver {
  const made = new Resolver({ timeout: 300, tries: 1 });
  made.setServers([`127.0.0.1:${sim.dnsPort}`]);
  return made;
}

test('it has what it was given, with any fault, until it is reset', async () => {
  const name = 'a.test';
  const txt = ['first', 'x'.repeat(300)];
  assert.equal((await post('dns', { name, txt })).status, 200);
  const chunks = [['first'], ['x'.repeat(255), 'x'.repeat(45)]];
  assert.deepEqual(await resolver().resolveTxt('A.test'), chunks);
  const faults = [
    ['servfail', 'ESERVFAIL'],
    ['nxdomain', 'ENOTFOUND'],
    ['timeout', 'ETIMEOUT'],
  ] as const;
  for (const [fault, code] of faults) {
    await post('dns', { name, fault });
    await assert.rejects(resolver().resolveTxt(name), { code });
  }
  for (const fault of ['truncated', 'split']) {
    await post('dns', { name, fault });
    const got = await resolver().resolveTxt(name);
    assert.deepEqual(
      got.map((each) => each.join('')),
      txt,
      fault,
    );
  }
  await assert.rejects(resolver().resolve4(name), { code: 'ENODATA' });
  await post('reset', {});
  await assert.rejects(resolver().resolveTxt(name), { code: 'ENOTFOUND' });
  const view = (await (await fetch(`http://127.0.0.1:${sim.port}/sim/dns`)).json()) as object;
  assert.deepEqual(view, { names: {}, asked: [{ name, type: 'TXT', over: 'udp' }] });
});

test('what makes no sense is refused, and what it keeps is bounded', async () => {
  const wrong = [
    {},
    { name: '' },
    { name: 'a', txt: 1 },
    { name: 'a', txt: ['x'.repeat(4_001)] },
    { name: 'a', txt: Array(65).fill('') },
    { name: 'a', fault: 'odd' },
    { name: 'a'.repeat(254), txt: 'x' },
  ];
  for (const body of wrong) assert.equal((await post('dns', body)).status, 400);
  const zone = new DnsZone();
  for (let index = 0; index < 1_000; index += 1) {
    assert.ok(zone.set({ name: `${index}.test`, txt: 'x' }));
    zone.asked({ name: `${index}.test`, type: 'TXT', over: 'udp' });
  }
  zone.asked({ name: 'last.test', type: 'TXT', over: 'udp' });
  assert.ok(!zone.set({ name: 'one-more.test', txt: 'x' }));
  assert.ok(zone.set({ name: '7.test', txt: null }));
  assert.ok(zone.set({ name: 'one-more.test', txt: 'x' }));
  assert.equal(zone.view().asked.length, 1_000);
  assert.equal(zone.view().asked.at(-1)?.name, 'last.test');
});

test('nonsense over TCP ends its connection and nothing else', async () => {
  const socket = connect(sim.dnsPort, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  socket.write(Buffer.alloc(5_000, 255));
  await once(socket, 'close');
  await post('dns', { name: 'b.test', txt: 'still' });
  assert.deepEqual(await resolver().resolveTxt('b.test'), [['still']]);
});
