// A shard remembers whom a credential acts as. A change makes old what it concerns, and costs no
// other organization a query.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount, isAccountDisabled } from '../../../db/accounts.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { createWallet } from '../../../db/wallets.ts';
import {
  type CredentialCache,
  createCredentialCache,
  onWithdrawal,
  tellChange,
} from '../../../routes/credentials.ts';
import { newId } from '../../../runtime/ids.ts';
import { createLimiterBuffers, Limiter } from '../../../runtime/limiter.ts';
import { type Bus, createBus } from '../../../runtime/work/bus.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { addKey, addMember, makeOrganization } from '../../harness/organization.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let database: TestDatabase;
let sql: Sql;
let bus: Bus;
let cache: CredentialCache;
let queries = 0;
before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 4);
  bus = createBus({ mesh: null, log });
  const counted = new Proxy(sql, {
    apply(target, self, given) {
      queries += 1;
      return Reflect.apply(target as never, self, given);
    },
  });
  const limiter = new Limiter(createLimiterBuffers(Date.now(), 1, 4), 0);
  cache = createCredentialCache(counted, bus, limiter);
});
after(async () => {
  cache.close();
  await database.close();
});

async function newPerson(): Promise<{ accountId: string; walletId: string }> {
  const accountId = newId('acc', 0);
  const walletId = newId('wal', 0);
  await createAccount(sql, { id: accountId, role: 'user' });
  await createWallet(sql, { id: walletId, accountId, type: 'personal' });
  return { accountId, walletId };
}

async function newMember(settings: Record<string, unknown> = {}) {
  const person = await newPerson();
  const organization = await makeOrganization(sql, person.accountId, settings);
  const accountId = await addMember(sql, organization, person.accountId, 'owner');
  const key = await addKey(sql, { accountId, walletId: organization.walletId });
  return { person, organization, accountId, key };
}

const change = (ids: readonly string[], isWithdrawn: boolean) =>
  tellChange(bus, ids, { isWithdrawn });
const context = async (personId: string, id: number) => cache.context(personId, id, Date.now());
const credential = async (token: string) => cache.key(token, Date.now());

test('a key acts as the account that it was made for, and says who pays', async () => {
  const { person, organization, accountId, key } = await newMember();
  const own = await credential(key.token);
  assert.equal(own?.accountId, accountId);
  assert.equal(own.personId, person.accountId);
  assert.equal(own.walletId, organization.walletId);
  assert.equal(own.fallbackWalletId, null);
  assert.equal(own.organization?.role, 'owner');
  assert.equal(own.organization.isCanonicalOwner, true);
  assert.equal(own.organization.personalWalletId, person.walletId);

  const house = await addKey(sql, organization);
  const ofAll = await credential(house.token);
  assert.equal(ofAll?.accountId, organization.accountId);
  assert.equal(ofAll.personId, organization.accountId);
  assert.equal(ofAll.organization?.role, null);
  assert.equal(ofAll.fallbackWalletId, null);

  const personal = await addKey(sql, person);
  const private_ = await credential(personal.token);
  assert.equal(private_?.organization, null);
  assert.equal(private_.personId, person.accountId);
  assert.equal(private_.fallbackWalletId, null);
});

test('the person pays where billing is not centralized', async () => {
  const { person, organization, accountId } = await newMember({ centralized_billing: false });
  const found = await context(person.accountId, organization.id);
  assert.equal(found?.walletId, person.walletId);
  assert.equal(found.fallbackWalletId, null);
  assert.equal(found.accountId, accountId);
});

test('who is removed has no context and no key as soon as that is told', async () => {
  const { person, organization, accountId, key } = await newMember();
  const withdrawn: ReadonlySet<string>[] = [];
  onWithdrawal(bus, (ids) => withdrawn.push(ids));
  assert.ok((await credential(key.token)) !== null);
  assert.ok((await context(person.accountId, organization.id)) !== null);
  await sql`UPDATE organization_members SET status = 'removed', ended_at = now()
    WHERE account_id = ${accountId}`;
  await change([accountId], true);
  assert.equal(await credential(key.token), null);
  assert.equal(await context(person.accountId, organization.id), null);
  assert.ok(withdrawn.some((ids) => ids.has(accountId)));
  await sql`UPDATE organization_members SET status = 'active', ended_at = NULL
    WHERE account_id = ${accountId}`;
  await change([accountId], false);
  assert.ok((await context(person.accountId, organization.id)) !== null, 'and back again');
});

test('a barred person bars its memberships, and nobody else', async () => {
  const { person, organization, key } = await newMember();
  const other = await newPerson();
  const theirs = await addMember(sql, organization, other.accountId, 'member');
  const { token } = await addKey(sql, { accountId: theirs, walletId: organization.walletId });
  for (const column of ['disabled_at', 'deleting_at']) {
    assert.ok((await credential(key.token)) !== null);
    assert.ok((await credential(token)) !== null);
    await sql`UPDATE accounts SET ${sql(column)} = now() WHERE id = ${person.accountId}`;
    await change([person.accountId], true);
    assert.equal(await credential(key.token), null, column);
    assert.ok((await credential(token)) !== null);
    await sql`UPDATE accounts SET ${sql(column)} = NULL WHERE id = ${person.accountId}`;
    await change([person.accountId], false);
  }
});

test('what waits is not begun for whom the person, the membership or the status bars', async () => {
  const { person, organization, accountId } = await newMember();
  const { id } = organization;
  const isBarred = () => isAccountDisabled(sql, accountId);
  assert.equal(await isBarred(), false);
  assert.equal(await isAccountDisabled(sql, organization.accountId), false);
  assert.equal(await isAccountDisabled(sql, 'acc_nobody'), true);
  await sql`UPDATE accounts SET disabled_at = now() WHERE id = ${person.accountId}`;
  assert.equal(await isBarred(), true);
  await sql`UPDATE accounts SET disabled_at = NULL WHERE id = ${person.accountId}`;
  await sql`UPDATE organization_members SET status = 'left', ended_at = now()
    WHERE account_id = ${accountId}`;
  assert.equal(await isBarred(), true);
  await sql`UPDATE organization_members SET status = 'active', ended_at = NULL
    WHERE account_id = ${accountId}`;
  assert.equal(await isBarred(), false);
  await sql`UPDATE organizations SET status = 'suspended', suspended_by = 'owner' WHERE id = ${id}`;
  assert.equal(await isBarred(), true);
  assert.equal(await isAccountDisabled(sql, organization.accountId), true);
  assert.equal(await isAccountDisabled(sql, person.accountId), false);
});

test('a suspended organization is told, a closed one has no keys', async () => {
  const { person, organization, key } = await newMember();
  const member = await newPerson();
  await addMember(sql, organization, member.accountId, 'member');
  const { id } = organization;
  await sql`UPDATE organizations SET status = 'suspended', suspended_by = 'owner' WHERE id = ${id}`;
  await change([`org:${id}`], true);
  assert.equal((await credential(key.token))?.organization?.status, 'suspended');
  assert.equal((await context(member.accountId, id))?.organization.status, 'suspended');
  await sql`UPDATE organizations SET status = 'closed', suspended_by = NULL, closed_at = now()
    WHERE id = ${id}`;
  await change([`org:${id}`], true);
  assert.equal(await credential(key.token), null);
  await sql`UPDATE organization_members SET status = 'left', ended_at = now()
    WHERE organization_id = ${id}`;
  await change([`org:${id}`], true);
  assert.equal((await context(person.accountId, id))?.organization.status, 'closed');
  assert.equal(await context(member.accountId, id), null);
});

test('a setting of one organization reads no key and no context of others anew', async () => {
  const changed = await newMember();
  const others = await Promise.all(Array.from({ length: 10 }, () => newMember()));
  const tokens: string[] = [];
  await Promise.all(
    others.map(async ({ accountId, organization: { walletId } }) => {
      for (let count = 0; count < 100; count += 1) {
        tokens.push((await addKey(sql, { accountId, walletId })).token);
      }
    }),
  );
  const readAll = async () => {
    const from = queries;
    await Promise.all(tokens.map(credential));
    await Promise.all(
      others.map(({ person, organization }) => context(person.accountId, organization.id)),
    );
    return queries - from;
  };
  assert.equal(tokens.length, 1_000);
  assert.equal(await readAll(), tokens.length + others.length);
  assert.equal(await readAll(), 0, 'they are cached');
  await credential(changed.key.token);
  const { id } = changed.organization;
  await sql`UPDATE organizations SET settings_revision = 7 WHERE id = ${id}`;
  await change([`org:${id}`], false);
  assert.equal(await readAll(), 0);
  const from = queries;
  assert.equal((await credential(changed.key.token))?.organization?.settingsRevision, 7n);
  assert.equal(queries - from, 1);
  // Nor what ends one of its members.
  await change([`org:${id}`, changed.accountId, changed.key.id], true);
  assert.equal(await readAll(), 0);
});
