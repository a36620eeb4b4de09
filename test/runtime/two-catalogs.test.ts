// Two processes of production on one database: an administrator changes the catalog in one, and the
// other one serves it.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDirectWallet } from '../../actors/wallet/direct.ts';
import { walletLimits } from '../../actors/wallet/limits.ts';
import { makeAccount } from '../harness/account.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { startStopwatch } from '../harness/stopwatch.ts';

/** It looks every 5 s. */
const FOLLOWED_MS = 6_000;
const UNTIL_MS = 60_000;

let database: TestDatabase;
let gateways: Gateway[] = [];
before(async () => {
  database = await openTestDatabase();
  const secret = randomBytes(32).toString('base64url');
  const env = { DATABASE_URL: database.url, TOLLGATE_SECRET: secret };
  gateways = await Promise.all([0, 1].map(() => startGateway({ env, shards: 1 })));
});
after(async () => {
  await Promise.all(gateways.map((gateway) => gateway.close()));
  await database?.close();
});

/** Of what the public is offered. */
async function versionOf({ url }: Gateway): Promise<unknown> {
  const reply = await fetch(`${url}/api/public/models`);
  return ((await reply.json()) as { content_version: unknown }).content_version;
}

test('a package that is offered by one process is sold by the other within seconds', async () => {
  const [here, there] = gateways;
  assert.ok(here !== undefined && there !== undefined);
  const sql = database.pool('general', 1);
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const wallet = createDirectWallet({ sql, clock: Date.now, limits: walletLimits, log });
  const admin = await makeAccount({ baseUrl: here.url, sql, wallet }, { admin: true });
  const before = await versionOf(there);
  const reply = await fetch(`${here.url}/api/admin/packages`, {
    method: 'POST',
    headers: { 'x-svc-session': admin.sessionToken, 'content-type': 'application/json' },
    body: JSON.stringify({ slug: 'ten', name: 'Ten', credits: 10, price_usd: '10' }),
  });
  assert.equal(reply.status, 201, await reply.text());
  const offered = await versionOf(here);
  assert.notEqual(offered, before);
  const watch = startStopwatch();
  const deadline = performance.now() + UNTIL_MS;
  while ((await versionOf(there)) !== offered) {
    assert.ok(performance.now() < deadline, 'the other process offers it as well');
    await sleep(100);
  }
  watch.assertWithin(FOLLOWED_MS, 'followed');
});
