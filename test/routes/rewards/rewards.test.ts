// Rewards from the task to the credits: what code decides, what a model answers, what
// administrators review, and that credits come once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { auditLedger } from '../../../db/audit.ts';
import { openRewardBed, type RewardBed, taskCredits, until } from './bed.ts';

// slow: It waits for rounds of the gateway, and for pages that are asked for again.

const micros = BigInt(taskCredits) * 1_000_000n;
let stage: RewardBed;
before(async () => {
  stage = await openRewardBed('it changes what billing gives');
});
after(() => stage?.bed.close());

test('an honest page is approved, with its credits in the same moment', async () => {
  const person = await stage.person();
  const begun = await stage.start(person, 'write');
  assert.equal(begun.state, 'draft');
  assert.match(begun.challenge_code ?? '', /^TG-[A-Z2-9]{4}-[A-Z2-9]{4}$/);
  assert.deepEqual(await stage.start(person, 'write'), begun);
  const url = stage.pageUrl('honest', 1, begun.challenge_code);
  const taken = await stage.handIn(person, begun, url);
  assert.equal(taken.status, 200, taken.text);
  const judged = await stage.judged(person, begun);
  assert.equal(judged.state, 'approved', JSON.stringify(judged));
  assert.equal(judged.verification_confidence, 1);
  assert.equal(typeof judged.credited_at, 'string');
  assert.equal((await person.balance()).availableMicros, micros);
  const again = await stage.handIn(person, begun, url);
  assert.equal(again.status, 409);
  const tasks = await stage.call(person, 'GET', 'tasks');
  const shown = tasks.json.data as unknown as { task_key: string; submission: unknown }[];
  assert.deepEqual(
    shown.map(({ task_key }) => task_key),
    ['follow', 'write'],
  );
});

test('the house pays for what the model is asked', async () => {
  const [row] = await stage.bed.sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM generations g JOIN accounts a ON a.id = g.account_id
    WHERE a.kind = 'house' AND g.charge_micros > 0`;
  assert.equal(row?.count, 2);
  const listed = await stage.admin('GET', '/wallets?limit=100');
  const house = await stage.bed.sql<{ id: string }[]>`
    SELECT w.id FROM wallets w JOIN accounts a ON a.id = w.account_id WHERE a.kind = 'house'`;
  assert.ok(
    (listed.json.data as unknown as { id: string }[]).some(({ id }) => id === house[0]?.id),
  );
  const users = await stage.admin('GET', '/users?limit=100');
  assert.ok(!users.text.includes('House'));
});

test('a failed gate rejects and is named; three evidences are all', async () => {
  const person = await stage.person();
  const begun = await stage.start(person, 'write');
  const bad = [
    [stage.pageUrl('hidden', 4, begun.challenge_code), /code does not stand/],
    [stage.pageUrl('inside', 1, begun.challenge_code), /may not be fetched/],
  ] as const;
  for (const [url, words] of bad) {
    assert.equal((await stage.handIn(person, begun, url)).status, 200);
    const judged = await stage.judged(person, begun);
    assert.equal(judged.state, 'rejected');
    assert.match((judged.verification_checks ?? []).join(' '), words);
  }
  const last = stage.pageUrl('codeless', 9, begun.challenge_code);
  assert.equal((await stage.handIn(person, begun, last)).status, 200);
  assert.equal((await stage.judged(person, begun)).state, 'rejected');
  const fourth = await stage.handIn(person, begun, last);
  assert.equal(fourth.status, 409);
  assert.match(fourth.text, /evidences_used/);
  assert.equal((await person.balance()).availableMicros, 0n);
});

test('a page wins once, and a copy of its text is looked at', async () => {
  const [one, other, third] = [await stage.person(), await stage.person(), await stage.person()];
  const first = await stage.start(one, 'write');
  const url = stage.pageUrl('honest', 2, first.challenge_code);
  await stage.handIn(one, first, url);
  assert.equal((await stage.judged(one, first)).state, 'approved');
  const second = await stage.start(other, 'write');
  await stage.handIn(other, second, `${url}?utm_source=mail`);
  const judged = await stage.judged(other, second);
  assert.equal(judged.state, 'rejected');
  assert.match((judged.verification_checks ?? []).join(' '), /Another submission/);
  const copying = await stage.start(third, 'write');
  await stage.handIn(third, copying, stage.pageUrl('honest', 2, copying.challenge_code));
  const copied = await stage.judged(third, copying);
  assert.equal(copied.state, 'needs_review');
  assert.match((copied.verification_checks ?? []).join(' '), /nearly that/);
});

test('what a page cannot be fetched for is tried again, then looked at', async () => {
  const person = await stage.person();
  const begun = await stage.start(person, 'write');
  await stage.handIn(person, begun, stage.pageUrl('gone', 1, begun.challenge_code));
  const { sql } = stage.bed;
  for (const fetches of [1, 2]) {
    const { wait } = await until(`try ${fetches} is over`, async () => {
      const [row] = await sql<{ wait: number }[]>`
        SELECT extract(epoch FROM next_at - now())::float8 AS wait FROM reward_submissions
        WHERE id = ${begun.id}::uuid AND fetches = ${fetches}`;
      return row ?? null;
    });
    assert.ok(Math.abs(wait - (fetches === 1 ? 60 : 600)) < 30, String(wait));
    // Minutes by a moved clock.
    await sql`UPDATE reward_submissions SET next_at = now() WHERE id = ${begun.id}::uuid`;
  }
  const judged = await stage.judged(person, begun);
  assert.equal(judged.state, 'needs_review');
  assert.match((judged.verification_checks ?? []).join(' '), /could not be fetched/);
});

test('a day gives so many credits without an administrator, who gives the others', async () => {
  const rewards = { model: 'svc-sim-chat', auto_credits_per_day: 1 };
  await stage.setBilling({ rewards });
  const person = await stage.person();
  const begun = await stage.start(person, 'write');
  await stage.handIn(person, begun, stage.pageUrl('honest', 3, begun.challenge_code));
  const judged = await stage.judged(person, begun);
  assert.equal(judged.state, 'needs_review');
  assert.equal(judged.verification_confidence, 1);
  assert.equal((await person.balance()).availableMicros, 0n);
  const approved = await stage.review(begun.id, 'approve');
  assert.equal(approved.status, 200, approved.text);
  assert.equal((approved.json.submission as unknown as { state: string }).state, 'approved');
  assert.equal((await person.balance()).availableMicros, micros);
  assert.equal((await stage.review(begun.id, 'approve')).status, 200);
  assert.equal((await stage.review(begun.id, 'reject')).status, 409);
  assert.equal((await person.balance()).availableMicros, micros);
  const audit = await stage.admin('GET', `/audit?action=reward.approve&limit=10`);
  assert.equal((audit.json.data as unknown[]).length, 1);
  await stage.setBilling({ rewards: { ...rewards, auto_credits_per_day: 1_000_000 } });
});

test('of an approval and a rejection at once one wins, and credits follow it', async () => {
  const rounds = 100;
  const outcomes = new Set<string>();
  const person = await stage.person();
  for (let round = 0; round < rounds; round += 1) {
    const { sql } = stage.bed;
    const [row] = await sql<{ id: string }[]>`
      INSERT INTO reward_submissions (account_id, wallet_id, task, title, method, micros, state,
        evidences, evidence_url)
      VALUES (${person.accountId}, ${person.walletId}, ${`follow-${round}`}, 'Follow us',
        'social_follow_review', 1000000, 'needs_review', 1, 'https://example.com/me')
      RETURNING id`;
    const id = row?.id ?? '';
    const before = (await person.balance()).availableMicros;
    const decisions = round % 2 === 0 ? ['approve', 'reject'] : ['reject', 'approve'];
    const replies = await Promise.all(decisions.map((each) => stage.review(id, each)));
    const won = decisions.filter((_each, at) => replies[at]?.status === 200);
    assert.equal(won.length, 1, replies.map(({ text }) => text).join());
    assert.ok(replies.some(({ status }) => status === 409));
    const [now] = await sql<{ state: string }[]>`
      SELECT state FROM reward_submissions WHERE id = ${id}::uuid`;
    const isApproved = won[0] === 'approve';
    assert.equal(now?.state, isApproved ? 'approved' : 'rejected');
    const gained = (await person.balance()).availableMicros - before;
    assert.equal(gained, isApproved ? 1_000_000n : 0n);
    outcomes.add(won[0] ?? '');
  }
  assert.equal(outcomes.size, 2, 'each of both has won');
});

test('a follow waits for an administrator, and whoever is restricted gets nothing', async () => {
  const person = await stage.person();
  const begun = await stage.start(person, 'follow');
  assert.equal(begun.challenge_code, undefined);
  const taken = await stage.handIn(person, begun, 'https://social.example.com/me');
  assert.equal((taken.json.submission as unknown as { state: string }).state, 'needs_review');
  const { sql } = stage.bed;
  await sql`UPDATE accounts SET billing_restricted_at = now() WHERE id = ${person.accountId}`;
  const barred = await stage.review(begun.id, 'approve');
  assert.equal(barred.status, 409);
  assert.match(barred.text, /billing_restricted/);
  const refused = await stage.call(person, 'POST', 'start', { task_key: 'write' });
  assert.equal(refused.status, 403);
  assert.match(refused.text, /billing_restricted/);
  await sql`UPDATE accounts SET billing_restricted_at = NULL, email = 'a@example.com'
    WHERE id = ${person.accountId}`;
  const typed = await stage.call(person, 'POST', 'start', { task_key: 'write' });
  assert.equal(typed.status, 403);
  assert.match(typed.text, /unverified/);
  const rejected = await stage.review(begun.id, 'reject');
  assert.equal(rejected.status, 200);
  assert.equal((await stage.review(begun.id, 'approve')).status, 409);
});

test('an account hands in ten evidences an hour', async () => {
  const person = await stage.person();
  const id = '00000000-0000-4000-8000-000000000000';
  const replies = [];
  for (let tries = 0; tries < 11; tries += 1) {
    replies.push(await stage.handIn(person, { id, state: '', credits: 0 }, 'https://example.com/'));
  }
  assert.deepEqual(
    replies.map(({ status }) => status),
    [...Array(10).fill(404), 429],
  );
  assert.ok(Number(replies[10]?.headers.get('retry-after')) > 3_000);
});

test('the books are right', async () => {
  const broken = (await auditLedger(stage.bed.sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
});
