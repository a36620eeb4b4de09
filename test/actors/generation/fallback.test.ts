// Who pays where the wallet of an organization refuses: decided at the first hold, never within an
// answer. The wallet that held is the one that is charged, and receipts say whose it is.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { GenerationEnd } from '../../../actors/subscriber/protocol.ts';
import { auditLedger } from '../../../db/audit.ts';
import type { SvcUsage } from '../../../media/model/dialects/contract.ts';
import { companyKey, type MemberTerms, newCompany, setStatus } from '../wallet/company.ts';
import { limitOf } from '../wallet/limited-keys.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;
before(async () => {
  stage = await openStage({ sliceTokens: 16 });
});
after(() => stage?.close());

const text = '[[sim tokens=5]]';

interface Case {
  funds?: bigint;
  cap?: number | null;
  member?: MemberTerms;
  keyLimit?: number;
  personalMicros?: bigint;
}

/** A member with a key that pays with the organization's wallet, or else with the person's. */
async function open({ funds = 1_000_000n, cap = null, member = {}, ...given }: Case) {
  const bank = { sql: stage.services.sql };
  const company = await newCompany(bank, { funds, cap, members: [member] });
  const [accountId = ''] = company.members;
  const limit = given.keyLimit === undefined ? null : limitOf(given.keyLimit, 'month');
  const keyId = await companyKey(bank, company, accountId, limit);
  const person = await stage.account(given.personalMicros ?? 1_000_000n);
  const { walletId } = company;
  const member1 = { accountId, keyId, walletId, fallbackWalletId: person.walletId };
  return { bank, company, person, member: member1 };
}

async function chargesOf(walletId: string): Promise<bigint[]> {
  const rows = await stage.services.sql<{ micros: bigint }[]>`
    SELECT revenue_micros + provider_cost_micros AS micros FROM ledger
    WHERE wallet_id = ${walletId} AND kind = 'settle'`;
  return rows.map(({ micros }) => micros);
}

function usageOf(end: GenerationEnd): SvcUsage | null {
  return 'receipt' in end ? (end.receipt?.svcUsage ?? null) : null;
}

async function assertBooks(): Promise<void> {
  const broken = (await auditLedger(stage.services.sql)).filter(({ broken }) => broken > 0n);
  assert.deepEqual(broken, []);
}

test('an organization that can pay does', async () => {
  const { company, person, member } = await open({});
  const end = await stage.ask(member, text);
  assert.equal(end.status, 'completed');
  assert.equal(usageOf(end)?.wallet_type, 'organization');
  const charge = BigInt(usageOf(end)?.charge_microcredits ?? 0);
  assert.ok(charge > 0n);
  assert.deepEqual(await chargesOf(company.walletId), [charge]);
  assert.deepEqual(await chargesOf(person.walletId), []);
  await assertBooks();
});

const refusing: readonly (readonly [name: string, terms: Case])[] = [
  ['no funds', { funds: 0n }],
  ['a cap of the organization', { cap: 100 }],
  ['a cap of the member', { member: { cap: 100 } }],
  ['no funds, and a cap', { funds: 1n, cap: 0, member: { cap: 0 } }],
];
for (const [name, terms] of refusing) {
  test(`${name}: the person pays`, async () => {
    const { company, person, member } = await open(terms);
    for (const key of [undefined, 'keyed']) {
      const end = await stage.ask(member, text, key);
      assert.equal(end.status, 'completed');
      assert.equal(usageOf(end)?.wallet_type, 'personal');
    }
    assert.equal((await chargesOf(person.walletId)).length, 2);
    const [row] = await stage.services.sql<{ count: bigint }[]>`
      SELECT count(*) FROM ledger WHERE wallet_id = ${company.walletId} AND kind <> 'grant'`;
    assert.equal(row?.count, 0n, 'nothing is written of the other wallet');
    const owners = await stage.services.sql<{ wallet_id: string }[]>`
      SELECT DISTINCT wallet_id FROM generations WHERE account_id = ${member.accountId}`;
    assert.deepEqual(
      owners.map((owner) => owner.wallet_id),
      [person.walletId],
    );
    await assertBooks();
  });
}

test('without a fallback, the cap that refuses is named', async () => {
  const { company, person, member } = await open({ member: { cap: 100 } });
  const { fallbackWalletId: _none, ...alone } = member;
  const end = await stage.ask(alone, text);
  assert.ok('problem' in end);
  const { code, message, details } = end.problem;
  assert.equal(code, 'spend_limit_exceeded');
  assert.match(message, /monthly spend limit of this member/);
  assert.equal(details?.cap, 'member');
  assert.equal(details?.available_microcredits, 100);
  assert.match(String(details?.resets_at), /^\d{4}-\d\d-01T00:00:00\.000Z$/);
  assert.deepEqual(await chargesOf(company.walletId), []);
  assert.deepEqual(await chargesOf(person.walletId), []);
});

test('a limit of the key or a suspension is passed in no wallet', async () => {
  const limited = await open({ keyLimit: 100 });
  const end = await stage.ask(limited.member, text);
  assert.ok('problem' in end && end.problem.details?.cap === 'key');
  const suspended = await open({});
  await setStatus(suspended.bank, suspended.company, 'suspended');
  const blocked = await stage.ask(suspended.member, text);
  assert.ok('problem' in blocked);
  assert.equal(blocked.problem.code, 'policy_blocked');
  assert.deepEqual(blocked.problem.details, { rule: 'organization_status' });
  for (const { person } of [limited, suspended]) {
    assert.deepEqual(await chargesOf(person.walletId), []);
  }
});

test('both refuse: nothing is called, nothing is charged', async () => {
  const { person, member } = await open({ cap: 0, personalMicros: 10n });
  const end = await stage.ask(member, text);
  assert.ok('problem' in end);
  assert.equal(end.problem.code, 'insufficient_credits');
  assert.equal(end.problem.details?.available_microcredits, 10);
  assert.deepEqual(await chargesOf(person.walletId), []);
  await assertBooks();
});

test('an answer that has begun stays with its wallet, and ends with what that leaves', async () => {
  const { company, person, member } = await open({ member: { cap: 25_000 } });
  const end = await stage.ask(member, '[[sim tokens=400]]');
  assert.equal(usageOf(end)?.credits_exhausted, true);
  assert.equal(usageOf(end)?.wallet_type, 'organization');
  const charge = usageOf(end)?.charge_microcredits ?? 0;
  assert.ok(charge > 10_000 && charge <= 25_000, `${charge}: the cap is not passed`);
  assert.equal((await chargesOf(company.walletId)).length, 1);
  assert.deepEqual(await chargesOf(person.walletId), []);
  await assertBooks();
});

test('20 at once on a cap for some: each is paid for by one of the two wallets', async () => {
  const { company, person, member } = await open({ member: { cap: 60_000 } });
  const ends = await Promise.all(Array.from({ length: 20 }, () => stage.ask(member, text)));
  const paid = (type: string) => ends.filter((end) => usageOf(end)?.wallet_type === type);
  assert.ok(paid('organization').length > 0 && paid('personal').length > 0);
  assert.equal((await chargesOf(company.walletId)).length, paid('organization').length);
  assert.equal((await chargesOf(person.walletId)).length, paid('personal').length);
  assert.equal(paid('organization').length + paid('personal').length, 20);
  await assertBooks();
});
