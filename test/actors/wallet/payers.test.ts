// A key with a limit whose payer changes: its limit goes on where it was, whichever wallet pays.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { movePayer } from '../../../db/organizations/payer.ts';
import { writeSettings } from '../../../db/organizations/settings.ts';
import { createWallet } from '../../../db/wallets.ts';
import { type Bank, type Branch, freshId, openBank, purchase } from './bank.ts';
import { companyKey, holdBy, newCompany } from './company.ts';
import { countersOf, limitOf, settlement } from './limited-keys.ts';

let bank: Bank;
let branches: [Branch, Branch];
before(async () => {
  bank = await openBank();
  branches = [bank.branch(), bank.branch()];
});
after(() => bank.close());

const spentAndHeld = async (keyId: string) =>
  (await countersOf(bank, keyId)).filter(({ spent, held }) => spent + held > 0);

test('a limit counts what was settled and is held elsewhere, there and back', async () => {
  const company = await newCompany(bank);
  const [accountId = ''] = company.members;
  const keyId = await companyKey(bank, company, accountId, limitOf(100, 'month'));
  const free = await companyKey(bank, company, accountId);
  const own = await companyKey(bank, company, company.accountId, limitOf(50));
  const personal = freshId('wal');
  const [person] = await bank.sql<{ person_id: string }[]>`
    SELECT person_id FROM accounts WHERE id = ${accountId}`;
  const walletOf = { id: personal, accountId: person?.person_id ?? '', type: 'personal' } as const;
  await createWallet(bank.sql, walletOf);
  const [one, other] = branches;
  await one.ask(personal, 'grant', purchase(1_000n));
  const settled = holdBy(accountId, 30, keyId);
  const running = holdBy(accountId, 20, keyId);
  const long = holdBy(accountId, 7, keyId, Date.now() - 40 * 86_400_000);
  for (const hold of [settled, running, long]) await one.ask(company.walletId, 'hold', hold);
  await one.ask(company.walletId, 'settle', settlement(settled, 35));
  await one.ask(company.walletId, 'settle', settlement(long, 7));
  await bank.assertBooks();
  const move = (isCentralized: boolean) =>
    bank.sql.begin(async (sql) => {
      await writeSettings(sql, company.id, { centralized_billing: isCentralized });
      return (await movePayer(sql, company.id)).length;
    });
  assert.equal(await move(false), 2, 'those of members, and not that of the organization');
  assert.equal(await move(false), 0);
  await bank.assertBooks();
  // 35 were charged and 20 are held elsewhere: 45 are left, wherever it is asked.
  const over = await other.ask(personal, 'hold', holdBy(accountId, 46, keyId));
  assert.deepEqual(over.status === 'over_limit' && [over.cap.kind, over.availableMicros], [
    'key',
    45n,
  ]);
  const here = holdBy(accountId, 45, keyId);
  assert.equal((await other.ask(personal, 'hold', here)).status, 'held');
  assert.equal((await other.ask(personal, 'hold', holdBy(accountId, 60, free))).status, 'held');
  // What runs elsewhere ends there, and counts no further.
  await one.ask(company.walletId, 'settle', settlement(running, 20));
  await other.ask(personal, 'settle', settlement(here, 45));
  assert.deepEqual(
    (await spentAndHeld(keyId)).map(({ spent, held }) => [spent, held]),
    [[100, 0]],
  );
  await bank.assertBooks();
  assert.equal(await move(true), 2);
  const full = await one.ask(company.walletId, 'hold', holdBy(accountId, 1, keyId));
  assert.equal(full.status === 'over_limit' && full.cap.spender, keyId);
  const more = await one.ask(company.walletId, 'hold', holdBy(company.accountId, 50, own));
  assert.equal(more.status, 'held');
  await bank.assertBooks();
});
