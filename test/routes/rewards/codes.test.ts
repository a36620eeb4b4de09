// Codes: once an account, never more than there are, and granted once whatever dies in between.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '../../../runtime/ids.ts';
import { openRewardBed, type RewardBed, until } from './bed.ts';

const codeMicros = 25_000_000n;
let stage: RewardBed;
before(async () => {
  stage = await openRewardBed('it makes codes');
  const record = { credits: 25, redemptions_max: 10 };
  await stage.make('/promotions', { name: 'spring', code: 'Spring-26', ...record });
  await stage.make('/promotions', { name: 'short', ...record, credits_days: 30 });
  await stage.make('/promotions', { name: 'later', ...record, starts_at: '2099-01-01T00:00:00Z' });
});
after(() => stage?.bed.close());

test('a code for 10 by 200 accounts at once is had by 10', async () => {
  const people = await Promise.all(Array.from({ length: 200 }, () => stage.person()));
  const replies = await Promise.all(
    people.map((person) => stage.call(person, 'POST', 'redeem', { code: ' spring-26 ' })),
  );
  const statuses = replies.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 10);
  assert.equal(statuses.filter((status) => status === 404).length, 190);
  const balances = await Promise.all(people.map((person) => person.balance()));
  const had = balances.filter(({ availableMicros }) => availableMicros === codeMicros);
  assert.equal(had.length, 10);
  const lucky = people[statuses.indexOf(200)];
  assert.ok(lucky !== undefined);
  const again = await stage.call(lucky, 'POST', 'redeem', { code: 'SPRING-26' });
  assert.equal(again.status, 409);
});

test('one account at once has it once, and its credits end when they say', async () => {
  const person = await stage.person();
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => stage.call(person, 'POST', 'redeem', { code: 'short' })),
  );
  const statuses = replies.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, ...Array(7).fill(409)]);
  assert.equal((await person.balance()).availableMicros, codeMicros);
  const { sql } = stage.bed;
  const [grant] = await sql<{ days: number; note: string; operation_id: string }[]>`
    SELECT extract(epoch FROM expires_at - created_at)::float8 / 86400 AS days, note, operation_id
    FROM grants WHERE wallet_id = ${person.walletId}`;
  assert.ok(Math.abs((grant?.days ?? 0) - 30) < 0.1);
  assert.equal(grant?.note, 'code short');
  assert.match(grant?.operation_id ?? '', /^code\.code_[0-9a-f]{24}$/);
});

test('what is unknown, not begun or disabled is 404, and ten tries an hour are all', async () => {
  const person = await stage.person();
  const redeem = (code: string) => stage.call(person, 'POST', 'redeem', { code });
  assert.equal((await redeem('later')).status, 404);
  assert.equal((await redeem('short')).status, 200);
  assert.equal((await stage.admin('POST', '/promotions/short/disable')).status, 200);
  assert.equal((await redeem('short')).status, 409);
  const other = await stage.person();
  const unknown = await stage.call(other, 'POST', 'redeem', { code: 'short' });
  assert.equal(unknown.status, 404);
  for (let tries = 3; tries < 10; tries += 1) assert.equal((await redeem('guess')).status, 404);
  const late = await redeem('guess');
  assert.equal(late.status, 429);
  assert.equal((late.json.error as { code: string }).code, 'rate_limited');
});

test('a claim whose process died is granted once by the round', async () => {
  const { sql } = stage.bed;
  const person = await stage.person();
  const id = newId('code', 0);
  await sql`
    INSERT INTO code_redemptions (id, promotion, account_id, wallet_id, micros)
    VALUES (${id}, 'spring', ${person.accountId}, ${person.walletId}, 25000000)`;
  const [reward] = await sql<{ id: string }[]>`
    INSERT INTO reward_submissions (account_id, wallet_id, task, title, method, micros, state,
      evidences, evidence_url, claimed_at)
    VALUES (${person.accountId}, ${person.walletId}, 'write', 'Write', 'public_content_ai', 7000000,
      'verifying', 1, 'https://example.com/', now()) RETURNING id`;
  await until('the round has granted both', async () => {
    const rows = await sql`
      SELECT FROM code_redemptions c, reward_submissions s
      WHERE c.id = ${id} AND c.granted_at IS NOT NULL
        AND s.id = ${reward?.id ?? ''}::uuid AND s.state = 'approved'`;
    return rows.length > 0 ? rows : null;
  });
  assert.equal((await person.balance()).availableMicros, 32_000_000n);
  const granted = await sql<{ operation_id: string }[]>`
    SELECT operation_id FROM grants WHERE wallet_id = ${person.walletId} ORDER BY operation_id`;
  assert.deepEqual(
    granted.map(({ operation_id }) => operation_id),
    [`code.${id}`, `reward.${reward?.id}`],
  );
});

test('an account is told its referral code, its terms, and what came of it', async () => {
  const person = await stage.person();
  const read = async () => (await stage.call(person, 'GET', 'referral')).json;
  assert.equal((await read()).terms, null);
  const referral = { referee_credits: 5, referrer_credits: 10, min_purchase_credits: 100 };
  await stage.setBilling({ referral });
  const shown = await read();
  const terms = { ...referral, hold_days: 7, per_referrer_max: 50, credits_days: null };
  assert.deepEqual(shown.terms, terms);
  assert.deepEqual(shown.counts, { signed_up: 0, bought: 0, waiting: 0, granted: 0 });
  assert.deepEqual(shown.earned, { microcredits: 0, exact: '0' });
  assert.match(String(shown.url), new RegExp(`/signup\\?referral_code=${shown.code}$`));
  const stale = await stage.admin('PUT', '/billing', { body: { revision: 1 } });
  assert.equal(stale.status, 409);
  assert.ok(Number((stale.json.error as { details: { revision: number } }).details.revision) > 1);
});

test('the house has a wallet that is funded, and nobody gets into its account', async () => {
  const [house] = await stage.bed.sql<{ id: string; wallet_id: string }[]>`
    SELECT a.id, w.id AS wallet_id FROM accounts a JOIN wallets w ON w.account_id = a.id
    WHERE a.kind = 'house'`;
  assert.ok(house !== undefined);
  const shown = await stage.admin('GET', `/wallets/${house.wallet_id}`);
  assert.equal(shown.status, 200);
  assert.match(shown.text, /"available_microcredits":100000000000/);
  const key = { label: 'x' };
  const attempts = [
    await stage.admin('GET', `/users/${house.id}`),
    await stage.admin('POST', `/users/${house.id}/keys`, { body: key }),
    await stage.admin('POST', `/users/${house.id}/disable`),
    await stage.admin('POST', `/users/${house.id}/delete`),
  ];
  assert.deepEqual(
    attempts.map(({ status }) => status),
    [404, 404, 404, 404],
  );
});
