// The guard as a shard has it: what the configuration opens, and what of the service stays shut.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { createShardOutbound, ownPlaces } from '../../../runtime/composition/outbound.ts';
import { readConfig } from '../../../runtime/config.ts';
import { quickUse } from './far-side.ts';

const databaseUrl = 'postgres://user:pass@127.0.0.1:6000/tollgate';

function shardWith(environment: Record<string, string>, simulatorUrl: string | null = null) {
  const config = readConfig(environment);
  const log = pino({ level: 'silent' });
  const outbound = createShardOutbound({ config, databaseUrl, simulatorUrl }, log);
  return async (url: string) => {
    const reply = await outbound.check(url, quickUse, { signal: new AbortController().signal });
    return reply.ok;
  };
}

test('nothing is open by default but the simulator of development', async () => {
  const production = shardWith({});
  assert.equal(await production('http://127.0.0.1:9999/'), false);
  assert.equal(await production('http://93.184.216.34/'), true);
  const development = shardWith({}, 'http://127.0.0.1:9999');
  assert.equal(await development('http://127.0.0.1:9999/sim/source/count.mp4'), true);
  assert.equal(await development('http://127.0.0.1:9998/'), false);
});

test('what is opened leads to no place of this service', async () => {
  const ports = [8_787, 6_000, 9_100, 9_000];
  const asked = shardWith({
    TOLLGATE_FETCH_PRIVATE: ports.map((port) => `127.0.0.0/8:${port}`).join(','),
    TOLLGATE_METRICS_PORT: '9100',
  });
  for (const port of ports) {
    assert.equal(await asked(`http://127.0.0.1:${port}/`), port === 9_000, String(port));
  }
});

test('places of this service are listeners, origins and database', () => {
  const config = readConfig({
    HOST: '0.0.0.0',
    PORT: '8000',
    TOLLGATE_BASE_URL: 'https://api.example.com',
    TOLLGATE_WEB_URL: 'https://www.example.com:8443',
  });
  assert.deepEqual(ownPlaces(config, 'postgres://u:p@[fd00::1]/tollgate'), [
    { host: '0.0.0.0', port: 8_000 },
    { host: 'fd00::1', port: 5_432 },
    { host: 'api.example.com', port: 443 },
    { host: 'www.example.com', port: 8_443 },
  ]);
  const socket = ownPlaces(config, 'postgres://u:p@/tollgate?host=/var/run/postgresql');
  assert.equal(socket.length, 3);
});
