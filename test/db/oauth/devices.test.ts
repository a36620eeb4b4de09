// Devices on a real database: who decides, who polls, who is given tokens, each exactly once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { tokenHash } from '../../../actors/credentials/token.ts';
import { createOAuthLimits } from '../../../actors/oauth/limits.ts';
import { newPair, pairHashes } from '../../../actors/oauth/pair.ts';
import { endAuthorizations } from '../../../db/authorizations.ts';
import type { Queryable, Sql } from '../../../db/driver/sql.ts';
import { pollDevice, redeemDevice } from '../../../db/oauth/devices.ts';
import { decideDevice, findDevice, startDevice } from '../../../db/oauth.ts';
import { endSession } from '../../../db/sessions.ts';
import { newAuditId, newId } from '../../../runtime/ids.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { addAccount, allScopes, approvalOf, askDevice } from '../../harness/oauth.ts';

let database: TestDatabase;
let sql: Sql;
let accountId: string;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 8);
  accountId = await addAccount(sql);
});
after(() => database.close());

const lives = createOAuthLimits({ mode: 'production' });
const slowDownSeconds = lives.deviceSlowDownSeconds;

const poll = (deviceCode: string, client = 'svc-cli') =>
  pollDevice(sql, tokenHash(deviceCode), client, slowDownSeconds);

function redeem(deviceCode: string, client = 'svc-cli', queryable: Queryable = sql) {
  const authorizationId = newId('auth', 0);
  const pair = pairHashes(newPair());
  const grant = { authorizationId, auditId: newAuditId(0), pair, allowed: allScopes, lives };
  return redeemDevice(queryable, tokenHash(deviceCode), client, grant);
}

/** As if so many seconds had passed since it asked last. */
async function wait(deviceCode: string, seconds: number): Promise<void> {
  await sql`UPDATE oauth_devices SET polled_at = polled_at - make_interval(secs => ${seconds})
    WHERE device_code_hash = ${tokenHash(deviceCode)}`;
}

test('a device waits, is approved, and is given tokens once', async () => {
  const device = await askDevice(sql);
  const { deviceCode, userCodeDigest } = device;
  assert.deepEqual(await poll(deviceCode), { status: 'pending', isEarly: false });
  assert.equal(await redeem(deviceCode), null);
  assert.equal((await findDevice(sql, userCodeDigest))?.status, 'pending');
  assert.equal(await device.approve(accountId), 'decided');
  assert.equal((await findDevice(sql, userCodeDigest))?.status, 'approved');
  assert.equal((await poll(deviceCode))?.status, 'approved');
  assert.equal(await redeem(deviceCode, 'svc-desktop'), null);
  const granted = await Promise.all(Array.from({ length: 20 }, () => redeem(deviceCode)));
  assert.deepEqual(granted.filter((each) => each !== null).length, 1);
  assert.equal((await poll(deviceCode))?.status, 'redeemed');
  assert.equal(await device.deny(), 'gone');
});

test('what is found of a device is what it asked for, and from where', async () => {
  const { userCodeDigest } = await askDevice(sql, { scopes: ['profile', 'app'] });
  const found = await findDevice(sql, userCodeDigest);
  assert.match(found?.id ?? '', /^dev_[a-f0-9]{24}$/);
  assert.ok(Math.abs(Date.now() - (found?.askedAt.getTime() ?? 0)) < 60_000);
  assert.deepEqual(
    [found?.client, found?.scopes, found?.network],
    ['svc-cli', ['profile', 'app'], '192.0.2.0/24'],
  );
  assert.equal(await findDevice(sql, 'unknown'), null);
});

test('a user code belongs to one device', async () => {
  const { userCodeDigest } = await askDevice(sql);
  const device = {
    id: newId('dev', 0),
    deviceCodeHash: tokenHash('other'),
    userCodeDigest,
    client: 'svc-cli',
    scopes: ['profile'],
    network: null,
    expiresAt: new Date(Date.now() + 1_000),
  };
  assert.equal(await startDevice(sql, device), false);
  assert.equal(await startDevice(sql, { ...device, userCodeDigest: 'another' }), true);
});

test('whoever decides first has decided, for the app that asks', async () => {
  const device = await askDevice(sql);
  const foreign = await approvalOf(sql, accountId, { client: 'svc-desktop' });
  assert.equal(await decideDevice(sql, device.userCodeDigest, foreign), 'gone');
  const decided = await Promise.all([device.approve(accountId), device.deny(), device.deny()]);
  assert.equal(decided.filter((each) => each === 'decided').length, 1);
  const denied = await askDevice(sql);
  assert.equal(await denied.deny(), 'decided');
  assert.equal((await poll(denied.deviceCode))?.status, 'denied');
  assert.equal(await redeem(denied.deviceCode), null);
});

test('no session approves a device once it has ended', async () => {
  const device = await askDevice(sql);
  const approval = await approvalOf(sql, accountId);
  await endSession(sql, accountId, approval.sessionId);
  assert.equal(await decideDevice(sql, device.userCodeDigest, approval), 'gone');
  const foreign = { ...(await approvalOf(sql, await addAccount(sql))), accountId };
  assert.equal(await decideDevice(sql, device.userCodeDigest, foreign), 'gone', 'of another');
  assert.equal(await device.approve(accountId), 'decided');
});

test('a device that asked before the authorizations ended gets nothing after', async () => {
  const other = await addAccount(sql);
  const device = await askDevice(sql);
  await device.approve(other);
  const granted = await sql.begin(async (transaction) => {
    await transaction`SELECT now()`;
    await endAuthorizations(sql, { accountId: other }, 'account');
    return { pair: await redeem(device.deviceCode, 'svc-cli', transaction) };
  });
  assert.equal(granted.pair, null);
});

test('a device that is early waits longer for good', async () => {
  const { deviceCode } = await askDevice(sql);
  assert.equal((await poll(deviceCode))?.isEarly, false);
  assert.equal((await poll(deviceCode))?.isEarly, true);
  await wait(deviceCode, 6);
  assert.equal((await poll(deviceCode))?.isEarly, true, '10 s from now on');
  await wait(deviceCode, 14);
  assert.equal((await poll(deviceCode))?.isEarly, true, '15 s from now on');
  await wait(deviceCode, 20.5);
  assert.equal((await poll(deviceCode))?.isEarly, false, '20 s have passed');
  assert.equal(await poll(deviceCode, 'svc-desktop'), null);
});

test('an approval that is fetched too late, or of an account that may not, is over', async () => {
  const late = await askDevice(sql);
  await late.approve(accountId);
  await sql`UPDATE oauth_devices SET expires_at = now()
    WHERE user_code_digest = ${late.userCodeDigest}`;
  assert.equal((await poll(late.deviceCode))?.status, 'expired');
  assert.equal(await redeem(late.deviceCode), null);
  const undecided = await askDevice(sql);
  await sql`UPDATE oauth_devices SET expires_at = now()
    WHERE user_code_digest = ${undecided.userCodeDigest}`;
  assert.equal(await undecided.approve(accountId), 'gone');

  const other = await addAccount(sql);
  const disabled = await askDevice(sql);
  await disabled.approve(other);
  await sql`UPDATE accounts SET disabled_at = now() WHERE id = ${other}`;
  assert.equal(await redeem(disabled.deviceCode), null);
});

test('what an account approved and nobody fetched ends with its authorizations', async () => {
  const device = await askDevice(sql);
  await device.approve(accountId);
  await endAuthorizations(sql, { accountId, client: 'svc-cli' }, 'user');
  assert.equal((await poll(device.deviceCode))?.status, 'expired');
  assert.equal(await redeem(device.deviceCode), null);
});
