// Caps of organizations, members and keys on a real database. No number of holds at once passes
// one, in one process or in three. Who may not spend holds nothing, in whichever process.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Spender } from '../../../db/spend/rows.ts';
import { type Bank, type Branch, holdOf, openBank } from './bank.ts';
import {
  type Company,
  change,
  changeSettings,
  companyKey,
  holdBy,
  newCompany,
  setStatus,
} from './company.ts';
import { type Counter, countersOf, limitOf, settlement } from './limited-keys.ts';

let bank: Bank;
let branches: [Branch, Branch, Branch];
before(async () => {
  bank = await openBank();
  branches = [bank.branch(), bank.branch(), bank.branch()];
});
after(() => bank.close());

const ask: Branch['ask'] = (walletId, message, payload) =>
  branches[0].ask(walletId, message, payload);

async function spentAndHeld(spender: string): Promise<[number, number]> {
  const [counter] = (await countersOf(bank, spender)).slice(-1);
  return [counter?.spent ?? 0, counter?.held ?? 0];
}

const now = new Date();
const monthMs = (offset: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset);
const kinds = ['organization', 'member', 'key'] as const;

for (const kind of kinds) {
  for (const engines of [1, 3]) {
    test(`1,000 at once on the cap of a ${kind} for 100, in ${engines}: 100 are held`, async () => {
      const cap = kind === 'organization' ? 1_000 : null;
      const company = await newCompany(bank, {
        cap,
        members: [{ cap: kind === 'member' ? 1_000 : null }],
      });
      const { walletId, members } = company;
      const [accountId = ''] = members;
      const limit = kind === 'key' ? limitOf(1_000, 'month') : null;
      const keyId = await companyKey(bank, company, accountId, limit);
      const spender = { organization: walletId, member: accountId, key: keyId }[kind];
      const holds = Array.from({ length: 1_000 }, () => holdBy(accountId, 10, keyId));
      const replies = await Promise.all(
        holds.map((hold, index) => branches[index % engines]?.ask(walletId, 'hold', hold)),
      );
      const held = holds.filter((_, index) => replies[index]?.status === 'held');
      assert.equal(held.length, 100);
      const refused = replies.find((reply) => reply?.status === 'over_limit');
      assert.deepEqual(refused, {
        status: 'over_limit',
        requiredMicros: 10n,
        availableMicros: 0n,
        cap: { kind, spender, resetsAtMs: monthMs(1) },
      });
      assert.equal(replies.filter((reply) => reply?.status === 'over_limit').length, 900);
      // Each is charged more than it held: the cap leaves nothing for that.
      await Promise.all(
        held.map((hold, index) =>
          branches[index % engines]?.ask(walletId, 'settle', settlement(hold, 13)),
        ),
      );
      for (const counted of [walletId, accountId]) {
        assert.deepEqual(await spentAndHeld(counted), [1_000, 0]);
      }
      assert.deepEqual(await spentAndHeld(spender), [1_000, 0]);
      await bank.assertBooks();
    });
  }
}

test('a new month begins anew, and what began before it ends in its own', async () => {
  const company = await newCompany(bank, { cap: 100, members: [{ cap: 70 }] });
  const { walletId, members } = company;
  const [accountId = ''] = members;
  const year = now.getUTCFullYear() + 1;
  const [lastMs, firstMs] = [Date.UTC(year, 0) - 1, Date.UTC(year, 0)];
  const before = holdBy(accountId, 60, null, lastMs);
  assert.equal((await ask(walletId, 'hold', before)).status, 'held');
  const refused = await ask(walletId, 'hold', holdBy(accountId, 11, null, lastMs));
  assert.deepEqual(refused.status === 'over_limit' && [refused.availableMicros, refused.cap], [
    10n,
    { kind: 'member', spender: accountId, resetsAtMs: firstMs },
  ]);
  const behind = holdBy(accountId, 70, null, firstMs);
  assert.equal((await branches[1].ask(walletId, 'hold', behind)).status, 'held');
  // It ends in January, and counts in December; so does what it is charged beyond its hold.
  await ask(walletId, 'settle', settlement(before, 80));
  await ask(walletId, 'settle', settlement(behind, 20));
  for (const spender of [accountId, walletId]) {
    const counted = (await countersOf(bank, spender)).map(({ starts, spent, held }: Counter) => [
      starts,
      spent,
      held,
    ]);
    assert.deepEqual(counted, [
      [`${year - 1}-12-01`, 70, 0],
      [`${year}-01-01`, 20, 0],
    ]);
  }
  await bank.assertBooks();
});

test('own cap, default and exemption stand beside each other', async () => {
  const company = await newCompany(bank, {
    cap: 1_000,
    defaultCap: 50,
    members: [
      {},
      { cap: 80 },
      { role: 'admin' },
      { role: 'owner' },
      { role: 'admin', cap: 30 },
      { role: 'billing' },
      { cap: 0 },
    ],
  });
  const { walletId, members } = company;
  const most = [50, 80, 200, 200, 30, 50, 0];
  for (const [index, accountId] of members.entries()) {
    const amount = most[index] ?? 0;
    const branch = branches[index % 3];
    if (amount < 200) {
      const over = await branch?.ask(walletId, 'hold', holdBy(accountId, amount + 1));
      assert.equal(over?.status === 'over_limit' && over.cap.kind, 'member', `member ${index}`);
    }
    const held = await branch?.ask(walletId, 'hold', holdBy(accountId, amount));
    assert.equal(held?.status, 'held', `member ${index}`);
  }
  assert.deepEqual(await spentAndHeld(walletId), [0, 610]);
  // A key of the organization has no cap of a member, and counts for all of it.
  const keyId = await companyKey(bank, company, company.accountId);
  const over = await ask(walletId, 'hold', holdBy(company.accountId, 391, keyId));
  assert.equal(over.status === 'over_limit' && over.cap.kind, 'organization');
  const held = await ask(walletId, 'hold', holdBy(company.accountId, 390, keyId));
  assert.deepEqual(held, { status: 'held', availableMicros: 0n, isOrganization: true });
  assert.deepEqual(await spentAndHeld(company.accountId), [0, 390]);
  await bank.assertBooks();
});

test('an extension gets what the tightest cap leaves, and a charge no more than that', async () => {
  const company = await newCompany(bank, { cap: 100, members: [{ cap: 90 }, {}] });
  const { walletId, members } = company;
  const [first = '', second = ''] = members;
  const hold = holdBy(first, 60);
  const other = holdBy(second, 25);
  for (const each of [hold, other]) await ask(walletId, 'hold', each);
  const more = { holdId: hold.holdId, amountMicros: 50n, expiresAtMs: hold.expiresAtMs };
  const none = await ask(walletId, 'extend', { ...more, step: 1, minimumMicros: 16n });
  assert.deepEqual(none, { status: 'insufficient', availableMicros: 15n });
  const some = await ask(walletId, 'extend', { ...more, step: 1, minimumMicros: 1n });
  assert.deepEqual(some, { status: 'extended', addedMicros: 15n });
  const settled = await ask(walletId, 'settle', settlement(other, 30));
  assert.equal(settled.status === 'settled' && settled.shortfallMicros, 5n);
  const last = await ask(walletId, 'settle', settlement(hold, 95));
  assert.equal(last.status === 'settled' && last.shortfallMicros, 20n);
  assert.deepEqual(await spentAndHeld(walletId), [100, 0]);
  assert.deepEqual(await spentAndHeld(first), [75, 0]);
  await bank.assertBooks();
});

test('a cap below what is spent cuts nothing, and 0 allows what costs nothing', async () => {
  const company = await newCompany(bank, { cap: 100 });
  const { walletId, members } = company;
  const [accountId = ''] = members;
  const hold = holdBy(accountId, 80);
  await ask(walletId, 'hold', hold);
  await changeSettings(bank, company, { cap: 0 });
  assert.equal((await ask(walletId, 'hold', holdBy(accountId, 1))).status, 'over_limit');
  assert.equal((await ask(walletId, 'hold', holdBy(accountId, 0))).status, 'held');
  const settled = await ask(walletId, 'settle', settlement(hold, 80));
  assert.deepEqual(settled, { status: 'settled', chargedMicros: 80n, shortfallMicros: 0n });
  await changeSettings(bank, company, { cap: null });
  assert.equal((await ask(walletId, 'hold', holdBy(accountId, 10_000))).status, 'held');
  await bank.assertBooks();
});

test('a look knows the caps of whoever looks, and whether they may spend', async () => {
  const company = await newCompany(bank, { defaultCap: 50, funds: 1_000n, members: [{}, {}] });
  const { walletId, members } = company;
  const [first = '', second = ''] = members;
  await ask(walletId, 'hold', holdBy(first, 20));
  const look = (spender?: Spender) =>
    ask(walletId, 'look', { amountMicros: 40n, ...(spender && { spender }) });
  const own = await look({ accountId: first, apiKeyId: null });
  assert.deepEqual(own.status === 'ok' && [own.availableMicros, own.cap?.kind], [30n, 'member']);
  const others = await look({ accountId: second, apiKeyId: null });
  assert.equal(others.status === 'ok' && others.availableMicros, 50n);
  const nobody = { status: 'not_allowed', reason: 'membership' };
  assert.deepEqual(await look({ accountId: 'acc_stranger', apiKeyId: null }), nobody);
  assert.deepEqual(await look(), nobody);
});

test('who settles late counts as well, and what counts for nobody takes nothing', async () => {
  const company = await newCompany(bank, { cap: 100 });
  const { walletId, members } = company;
  const [accountId = ''] = members;
  assert.deepEqual(await ask(walletId, 'hold', holdOf(1n)), {
    status: 'not_allowed',
    reason: 'membership',
  });
  const [known, unknown] = [holdBy(accountId, 60), holdBy(accountId, 40)];
  for (const hold of [known, unknown]) {
    await ask(walletId, 'hold', hold);
    const { holdId } = hold;
    await ask(walletId, 'release', { holdId, reason: 'recovered', finish: null });
  }
  assert.deepEqual(await spentAndHeld(walletId), [0, 0]);
  const late = await branches[1].ask(walletId, 'settle', settlement(known, 120));
  assert.equal(late.status === 'settled' && late.shortfallMicros, 20n);
  const { spender: _nobody, ...request } = settlement(unknown, 40);
  const lost = await branches[1].ask(walletId, 'settle', request);
  assert.equal(lost.status === 'settled' && lost.shortfallMicros, 40n);
  for (const spender of [walletId, accountId]) {
    assert.deepEqual(await spentAndHeld(spender), [100, 0]);
  }
  await bank.assertBooks();
});

/** What keeps members from spending, and what is told of it. */
const bars: readonly [string, string, (company: Company) => Promise<void>][] = [
  [
    'removed',
    'membership',
    (company) =>
      change(bank, company, async (sql) => {
        await sql`UPDATE organization_members SET status = 'removed', ended_at = now()
          WHERE organization_id = ${company.id}`;
      }),
  ],
  [
    'a disabled person',
    'membership',
    (company) =>
      change(bank, company, async (sql) => {
        await sql`UPDATE accounts SET disabled_at = now() WHERE id IN (
          SELECT user_id FROM organization_members WHERE organization_id = ${company.id})`;
      }),
  ],
  ['suspended', 'organization_status', (company) => setStatus(bank, company, 'suspended')],
  ['closed', 'organization_status', (company) => setStatus(bank, company, 'closed')],
];

for (const [name, reason, bar] of bars) {
  test(`${name}: nothing is held behind the fence, and what is held is settled`, async () => {
    const company = await newCompany(bank, { members: [{}, {}] });
    const { walletId, members } = company;
    const [first = '', second = ''] = members;
    const hold = holdBy(first, 100);
    assert.equal((await ask(walletId, 'hold', hold)).status, 'held');
    let isOver = false;
    let ended = 0;
    // Every engine has the wallet in memory, and asks all the while.
    const asking = branches.flatMap((branch) =>
      members.map(async (accountId) => {
        for (let after = 0; after < 20; ended += 1) {
          if (isOver) after += 1;
          await branch.ask(walletId, 'hold', holdBy(accountId, 1));
        }
      }),
    );
    while (ended < 20) await new Promise((resolve) => setImmediate(resolve));
    await bar(company);
    const countHolds = async () => {
      const [row] = await bank.sql<{ count: bigint }[]>`
        SELECT count(*) FROM holds WHERE wallet_id = ${walletId}`;
      return row?.count ?? 0n;
    };
    const held = await countHolds();
    isOver = true;
    await Promise.all(asking);
    assert.equal(await countHolds(), held);
    for (const branch of branches) {
      const refused = await branch.ask(walletId, 'hold', holdBy(second, 0));
      assert.deepEqual(refused, { status: 'not_allowed', reason });
    }
    const { holdId, expiresAtMs } = hold;
    const more = { holdId, step: 1, amountMicros: 5n, minimumMicros: 1n, expiresAtMs };
    const none = await branches[1].ask(walletId, 'extend', more);
    assert.deepEqual(none, { status: 'insufficient', availableMicros: 0n });
    const settled = await branches[2].ask(walletId, 'settle', settlement(hold, 100));
    assert.deepEqual(settled, { status: 'settled', chargedMicros: 100n, shortfallMicros: 0n });
    await bank.assertBooks();
  });
}
