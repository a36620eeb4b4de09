// What operators open, a provider's own host, and what stays shut whatever is open.
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { leadsHome } from '../../../runtime/outbound/own.ts';
import { farSide, guardOver, quickUse, reasonOf, response } from './far-side.ts';

const port = 8_080;
const check = async (
  { outbound }: ReturnType<typeof guardOver>,
  url: string,
  use = {},
  provider?: { baseUrl: string; mediaHosts: readonly string[] },
) => {
  const { signal } = new AbortController();
  const call = provider === undefined ? { signal } : { signal, provider };
  const reply = await outbound.check(url, { ...quickUse, ...use }, call);
  return reply.ok ? 'ok' : reply.reason;
};

const names = {
  'files.internal': ['10.1.2.3'],
  localhost: ['127.0.0.1', '::1'],
  'mixed.internal': ['10.1.2.3', '192.168.0.1'],
  'public.example.com': ['93.184.216.34'],
  'inside.example.com': ['10.1.2.3'],
  'cloud.internal': ['169.254.169.254'],
};

test('a name is opened with what it leads to, at the ports of the use', async () => {
  const guard = guardOver(names, { exceptions: ['files.internal'] });
  assert.equal(await check(guard, 'http://files.internal/'), 'ok');
  assert.equal(await check(guard, 'https://FILES.internal./'), 'ok');
  assert.deepEqual(guard.asked, ['local files.internal', 'local files.internal']);
  assert.equal(await check(guard, 'http://files.internal:8080/'), 'source_refused');
  assert.equal(
    await check(guard, 'http://files.internal/', { schemes: 'https' }),
    'source_refused',
  );
  for (const url of ['http://10.1.2.3/', 'http://inside.example.com/', 'http://mixed.internal/']) {
    assert.equal(await check(guard, url), 'source_refused', url);
  }
});

test('an exception with a port opens that port alone, for http as well', async () => {
  const guard = guardOver(names, { exceptions: [`files.internal:${port}`, '10.0.0.0/8:9000'] });
  for (const use of [{}, { schemes: 'https' }, { ports: 'high' }]) {
    assert.equal(await check(guard, `http://files.internal:${port}/`, use), 'ok');
    assert.equal(await check(guard, 'http://files.internal/', use), 'source_refused');
  }
  assert.equal(await check(guard, 'http://10.200.0.1:9000/'), 'ok');
  assert.equal(await check(guard, 'http://inside.example.com:9000/'), 'ok');
  assert.equal(await check(guard, 'http://10.200.0.1/'), 'source_refused');
});

test('a network opens names of the house for what lies in it', async () => {
  const guard = guardOver(names, { exceptions: ['10.0.0.0/8'] });
  assert.equal(await check(guard, 'http://files.internal/'), 'ok');
  assert.equal(await check(guard, 'http://inside.example.com/'), 'ok');
  assert.equal(await check(guard, 'http://mixed.internal/'), 'source_refused');
  assert.equal(await check(guard, 'http://localhost/'), 'source_refused');
});

test('metadata services stay shut when everything is open', async () => {
  const guard = guardOver(names, { exceptions: ['0.0.0.0/0', '::/0', 'cloud.internal'] });
  for (const host of [
    ...['169.254.169.254', '100.100.100.200', '168.63.129.16', '[fd00:ec2::254]', '0.0.0.0'],
    ...['[64:ff9b::a9fe:a9fe]', '[2002:a9fe:a9fe::]', 'cloud.internal', 'metadata.google.internal'],
  ]) {
    assert.equal(await check(guard, `http://${host}/`), 'source_refused', host);
  }
  assert.equal(await check(guard, 'http://127.0.0.1/'), 'ok');
});

test('a place of this service is refused by value when its network is open', async (t) => {
  const far = await farSide(response('our database'));
  t.after(() => far.close());
  const exceptions = ['127.0.0.0/8', `127.0.0.0/8:${far.port}`, '::1', 'localhost'];
  for (const host of ['127.0.0.1', 'localhost', '0.0.0.0', '::', '[::1]']) {
    const own = [{ host, port: far.port }];
    const guard = guardOver(names, { exceptions: [...exceptions, `localhost:${far.port}`], own });
    for (const url of [far.url, `http://localhost:${far.port}`, `http://127.0.0.2:${far.port}`]) {
      assert.equal(reasonOf(await guard.fetch(url)), 'source_refused', `${host} ${url}`);
    }
  }
  assert.equal(far.connections, 0);
  const other = guardOver(names, { exceptions, own: [{ host: '127.0.0.1', port: 1 }] });
  assert.equal(reasonOf(await other.fetch(far.url)), 'status 200');
});

test('places of ours are known by name, by address, and on this machine by port', async () => {
  const resolve = async (name: string) => (name === 'db.internal' ? ['10.0.0.5'] : ['93.1.1.1']);
  const own = [
    { host: 'db.internal', port: 5_432 },
    { host: 'api.example.com', port: 443 },
    { host: '0.0.0.0', port: 80 },
  ];
  const leads = (host: string, at: number, ...addresses: string[]) =>
    leadsHome(own, { host, port: at }, addresses, resolve);
  assert.equal(await leads('10.0.0.5', 5_432, '10.0.0.5'), true);
  assert.equal(await leads('other.internal', 5_432, '10.0.0.4', '10.0.0.5'), true);
  assert.equal(await leads('10.0.0.6', 5_432, '10.0.0.6'), false);
  assert.equal(await leads('10.0.0.5', 5_433, '10.0.0.5'), false);
  assert.equal(await leads('api.example.com', 443, '93.1.1.1'), true);
  // Many names share a public address: only ours is refused.
  assert.equal(await leads('neighbour.example.com', 443, '93.1.1.1'), false);
  const here = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  for (const { address } of here.filter((each) => !each.address.startsWith('fe80:'))) {
    assert.equal(await leads(address, 80, address), true, address);
  }
});

test('a provider is fetched from by its own host and by its patterns alone', async () => {
  const more = { ...names, 'cdn.files.example.com': ['93.184.216.35'] };
  const guard = guardOver(more);
  const provider = { baseUrl: 'http://10.1.2.3:8000/v1', mediaHosts: ['*.files.example.com'] };
  const ask = (url: string) => check(guard, url, {}, provider);
  assert.equal(await ask('http://10.1.2.3:8000/file'), 'ok');
  assert.equal(await ask('https://cdn.files.example.com/file'), 'ok');
  assert.equal(await ask('http://10.1.2.3/file'), 'source_refused', 'another port');
  assert.equal(await ask('http://10.1.2.4:8000/file'), 'source_refused');
  assert.equal(await ask('https://public.example.com/'), 'source_refused');
  // What a pattern names has to be of the web.
  const inside = { baseUrl: 'https://api.example.com', mediaHosts: ['inside.example.com'] };
  assert.equal(await check(guard, 'https://inside.example.com/', {}, inside), 'source_refused');
  // Nobody else's call is let in by it.
  assert.equal(await check(guard, 'http://10.1.2.3:8000/file'), 'source_refused');
  const cloud = { baseUrl: 'http://169.254.169.254', mediaHosts: [] };
  assert.equal(await check(guard, 'http://169.254.169.254/', {}, cloud), 'source_refused');
});
