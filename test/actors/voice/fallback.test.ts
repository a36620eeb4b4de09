// A session whose organization refuses its hold: the person pays for all of it, or it is rejected.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { companyKey, newCompany } from '../wallet/company.ts';
import { report } from './fakes.ts';
import { stagesOfFile, until } from './stage.ts';

const open = stagesOfFile();

test('the wallet that held the longest duration is the one that is charged', async () => {
  const stage = await open();
  const company = await newCompany(stage, { members: [{ cap: 1_000 }, { cap: 1_000_000 }] });
  const person = await stage.account();
  const { walletId } = company;
  const charged = [];
  for (const accountId of company.members) {
    const keyId = await companyKey(stage, company, accountId);
    const payer = { accountId, keyId, walletId, fallbackWalletId: person.walletId };
    const client = await stage.live(payer);
    client.call?.says(report(0, 100));
    const row = await stage.leave(client);
    assert.ok(Number(row.charge) > 0);
    const [session] = await stage.sql<{ wallet_id: string }[]>`
      SELECT wallet_id FROM voice_sessions WHERE id = ${client.id}`;
    charged.push(session?.wallet_id);
  }
  assert.deepEqual(charged, [person.walletId, walletId]);
});

test('without a fallback the client is told which cap refuses', async () => {
  const stage = await open();
  const company = await newCompany(stage, { cap: 1_000 });
  const [accountId = ''] = company.members;
  const keyId = await companyKey(stage, company, accountId);
  const client = stage.connect({ accountId, keyId, walletId: company.walletId });
  client.start({});
  await until('it is refused', () => client.of('error').length > 0);
  const [error] = client.of('error');
  assert.equal(error?.code, 'insufficient_credits');
  assert.match(String(error?.message), /monthly spend limit of the organization/);
  await stage.over(client);
});
