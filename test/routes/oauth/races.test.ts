// Many at once on four shards: one refresh token gives one pair, and a code that many show gives
// nobody anything that lasts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { tokenHash } from '../../../actors/credentials/token.ts';
import type { TestAccount } from '../../harness/account.ts';
import type { Reply } from '../../harness/contract.ts';
import { approveCode, askDevice } from '../../harness/oauth.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { codeForm, type OAuthCalls, openOAuthCalls, refusalOf, tokensOf } from './calls.ts';

let bed: Testbed;
let calls: OAuthCalls;
let account: TestAccount;
before(async () => {
  bed = await openTestbed({ shards: 4 });
  calls = await openOAuthCalls(bed.url);
  account = await bed.account();
});
after(() => bed?.close());

const many = 50;

function atOnce(ask: () => Promise<Reply>): Promise<Reply[]> {
  return Promise.all(Array.from({ length: many }, ask));
}

const works = async (token: string) => (await calls.get('/oauth/userinfo', token)).status === 200;

test('fifty refreshes at once give one pair, byte for byte, and it works', async () => {
  const { refresh_token: token } = await calls.signIn(bed.sql, account.accountId);
  const replies = await atOnce(() => calls.refresh(token));
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
  assert.equal(new Set(replies.map(({ text }) => text)).size, 1);
  const [first] = replies.map(tokensOf);
  assert.ok(first && (await works(first.access_token)));
  const [row] = await bed.sql`
    SELECT count(*)::integer AS count FROM oauth_tokens WHERE authorization_id = (
      SELECT authorization_id FROM oauth_tokens WHERE token_hash = ${tokenHash(token)})`;
  assert.equal(row?.count, 4);
  assert.equal((await calls.refresh(first.refresh_token)).status, 200);
});

test('without grace, fifty at once are somebody else, and nothing works after them', async () => {
  const { refresh_token: token } = await calls.signIn(bed.sql, account.accountId);
  const second = tokensOf(await calls.refresh(token));
  await bed.sql`
    UPDATE oauth_tokens SET rotated_at = rotated_at - interval '1 minute'
    WHERE token_hash = ${tokenHash(token)}`;
  assert.ok(await works(second.access_token));
  const replies = await atOnce(() => calls.refresh(token));
  for (const reply of replies) assert.deepEqual(refusalOf(reply), [400, 'invalid_grant']);
  assert.ok(!(await works(second.access_token)));
  const events = await bed.sql`
    SELECT 1 FROM audit_events WHERE account_id = ${account.accountId}
      AND action = 'authorization.revoke'`;
  assert.equal(events.length, 1);
});

test('of fifty who redeem a code at once nobody has a pair that still works', async () => {
  const form = { client_id: 'svc-cli', ...codeForm(await approveCode(bed.sql, account.accountId)) };
  const replies = await atOnce(() => calls.post('/oauth/token', form));
  const given = replies.filter(({ status }) => status === 200).map(tokensOf);
  assert.ok(given.length <= 1);
  for (const { access_token: access, refresh_token: refresh } of given) {
    assert.ok(!(await works(access)));
    assert.deepEqual(refusalOf(await calls.refresh(refresh)), [400, 'invalid_grant']);
  }
});

test('of fifty who redeem a device code at once one is given tokens', async () => {
  const device = await askDevice(bed.sql);
  await device.approve(account.accountId);
  const replies = await atOnce(() => calls.poll(device.deviceCode));
  const given = replies.filter(({ status }) => status === 200).map(tokensOf);
  assert.equal(given.length, 1);
  assert.ok(await works(given[0]?.access_token ?? ''));
});
