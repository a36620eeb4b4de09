// The whole gateway through its life: start, kills of each process, restart, stop.
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { startStopwatch } from '../harness/stopwatch.ts';

// slow: It kills and starts whole gateways.

let gateway: Gateway;

before(async () => {
  gateway = await startGateway();
});

after(() => gateway.close());

async function assertServes(): Promise<void> {
  const health = await fetch(`${gateway.url}/api/health`);
  assert.equal(health.status, 200);
  const reply = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${gateway.dev.api_key}` },
  });
  assert.equal(reply.status, 200);
}

test('serves with the key of dev.json, and everything in the data folder is private', async () => {
  await assertServes();
  assert.equal(gateway.dev.base_url, gateway.url);
  // decisions.md, section 1: these members.
  const { mailbox_url: mailbox, ...others } = gateway.dev;
  assert.equal(mailbox, `${gateway.url}/dev/mailbox`);
  const credentials = ['api_key', 'session_token', 'admin_session_token'];
  const names = ['base_url', ...credentials, 'account_id', 'wallet_id', 'simulator_url'];
  assert.deepEqual(Object.keys(others).sort(), names.sort());
  assert.ok(Object.values(others).every((value) => typeof value === 'string' && value !== ''));
  const isRoot = process.getuid?.() === 0;
  const modes = await Promise.all(
    ['', 'dev.json', 'secret', 'lock', 'pg'].map(async (name) => {
      const { mode } = await stat(join(gateway.dataDir, name));
      return (mode & 0o777).toString(8);
    }),
  );
  assert.deepEqual(modes, [isRoot ? '711' : '700', '600', '600', '600', '700']);
});

test('kill -9 of the main process: ready again within 3 s, same key, same database', async () => {
  const { dev } = gateway;
  const database = await gateway.postmasterPid();
  const watch = startStopwatch();
  await gateway.killMain();
  watch.assertWithin(3_000, 'ready again');
  await assertServes();
  assert.deepEqual(gateway.dev, dev);
  assert.equal(await gateway.postmasterPid(), database);
});

test('kill -9 of the parent: the next start on the same data and port serves', async () => {
  const { dev } = gateway;
  await gateway.killParent();
  await gateway.start();
  await assertServes();
  assert.equal(gateway.dev.api_key, dev.api_key);
});

test('kill -9 of everything: the next start recovers', async () => {
  await gateway.killAll();
  await gateway.start();
  await assertServes();
});

test('a second one with other data on its port is refused, and takes no request', async () => {
  const env = { PORT: new URL(gateway.url).port };
  await assert.rejects(startGateway({ env }), (error: Error) => {
    assert.match(error.message, /ended \(1\):[\s\S]*PORT \d+ of \S+ is in use by another/);
    return true;
  });
  for (let round = 0; round < 20; round += 1) await assertServes();
});

test('SIGTERM ends it with 0, and the database was shut down in order', async () => {
  assert.equal(await gateway.stop(), 0);
  await assert.rejects(stat(join(gateway.dataDir, 'pg', 'postmaster.pid')));
  await assert.rejects(fetch(`${gateway.url}/api/health`));
});

test('an ordinary user runs it as that user; a second one on its data is refused', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('not root: the other tests here show it');
  const nobody = { uid: 65_534, gid: 65_534 };
  const own = await startGateway({ user: nobody });
  t.after(() => own.close());
  const names = ['', 'dev.json', 'secret', 'pg'];
  for (const name of names) assert.equal((await stat(join(own.dataDir, name))).uid, nobody.uid);
  const env = { TOLLGATE_DATA: own.dataDir };
  await assert.rejects(startGateway({ env, user: nobody }), (error: Error) => {
    assert.match(error.message, /ended \(1\):[\s\S]*is in use by process \d+/);
    return true;
  });
  assert.equal(await own.stop(), 0);
});
