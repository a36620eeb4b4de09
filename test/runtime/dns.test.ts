// TXT records at servers with faults. Chunks are joined, and what was cut off is asked for again
// over TCP. Each server's answer stands for itself.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type DnsServer, startDns } from '../../bench/sim/dns/server.ts';
import { DnsZone } from '../../bench/sim/dns/zone.ts';
import { askTxt, type ChallengeName } from '../../runtime/dns.ts';

const name = '_svc-challenge.acme.test';
const token = `svc-domain-verification=${'k'.repeat(43)}`;
const zones = [new DnsZone(), new DnsZone()] as const;
const [one, other] = zones;
const running: DnsServer[] = [];
const servers = () => running.map(({ port }) => `127.0.0.1:${port}`);
const askBoth = (deadlineMs = 5_000) => askTxt(name, { servers: servers(), deadlineMs });

before(async () => {
  for (const zone of zones) running.push(await startDns(zone, 0));
});
beforeEach(() => {
  for (const zone of zones) zone.reset();
});
after(() => {
  for (const server of running) server.close();
});

test('each of several records has its chunks joined', async () => {
  const long = `v=spf1 ${'x'.repeat(600)}`;
  assert.ok(one.set({ name, txt: ['another', token, long] }));
  assert.ok(other.set({ name, txt: token, fault: 'split' }));
  const [first, second] = await askBoth();
  assert.ok(first?.kind === 'found');
  assert.deepEqual([...first.records].sort(), ['another', token, long].sort());
  assert.deepEqual(second, { kind: 'found', records: [token] });
});

test('an answer that was cut off is asked for over TCP, and a long one as well', async () => {
  one.set({ name, txt: token, fault: 'truncated' });
  const many = Array.from({ length: 40 }, (_, index) => `${index}.${'y'.repeat(200)}`);
  other.set({ name, txt: [...many, token] });
  const [first, second] = await askBoth();
  assert.deepEqual(first, { kind: 'found', records: [token] });
  assert.ok(second?.kind === 'found' && second.records.includes(token));
  assert.equal(second.records.length, 41);
  for (const zone of zones) {
    assert.deepEqual(
      zone.view().asked.map(({ over }) => over),
      ['udp', 'tcp'],
    );
  }
});

test('no such name and no such record are answers, SERVFAIL is none', async () => {
  other.set({ name, txt: [] });
  assert.deepEqual(await askBoth(), [{ kind: 'nothing' }, { kind: 'nothing' }]);
  one.set({ name, txt: token, fault: 'servfail' });
  other.set({ name, txt: token, fault: 'nxdomain' });
  assert.deepEqual(await askBoth(), [{ kind: 'unknown', code: 'ESERVFAIL' }, { kind: 'nothing' }]);
});

test('a server that says nothing is given up at the deadline; the other is heard', async () => {
  one.set({ name, txt: token, fault: 'timeout' });
  other.set({ name, txt: token });
  const began = performance.now();
  const [first, second] = await askBoth(400);
  assert.ok(performance.now() - began < 5_000);
  assert.equal(first?.kind, 'unknown');
  assert.deepEqual(second, { kind: 'found', records: [token] });
  const [dead] = await askTxt(name, { servers: ['127.0.0.1:1'], deadlineMs: 400 });
  assert.equal(dead?.kind, 'unknown');
});

test('what is asked is the name as it is, and nothing but such a name', async () => {
  await askTxt('_svc-challenge.xn--bcher-kva.example', { servers: servers() });
  assert.deepEqual(one.view().asked, [
    { name: '_svc-challenge.xn--bcher-kva.example', type: 'TXT', over: 'udp' },
  ]);
  const others = [
    '_svc-challenge.acme',
    '_svc-challenge.a..b',
    'acme.test',
    `${name}.`,
    `${name}\n`,
  ];
  const long = `_svc-challenge.${'a.'.repeat(120)}test`;
  for (const wrong of [...others, long]) {
    await assert.rejects(askTxt(wrong as ChallengeName, { servers: servers() }), /none of ours/);
  }
  assert.equal(one.view().asked.length, 1);
});
