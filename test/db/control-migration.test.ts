// The migration that made administration a role of the account: sessions that had the right keep
// it, sessions of the same account that had not do not get it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { migrate } from '../../db/driver/migrate.ts';
import { findSession } from '../../db/sessions.ts';
import { openEmptyDatabase } from '../harness/database.ts';

const before = ['0001-accounts-and-money.sql', '0002-access-and-catalog.sql'];
const hash = (token: string): Buffer => createHash('sha256').update(token).digest();

test('an admin session gets an account with the role, its account does not', async () => {
  const database = await openEmptyDatabase();
  try {
    const sql = database.pool('general', 1);
    await sql`CREATE TABLE migrations (name text PRIMARY KEY, checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now())`;
    for (const name of before) {
      const url = new URL(`../../../db/migrations/${name}`, import.meta.url);
      const text = await readFile(url, 'utf8');
      await sql.unsafe(text).simple();
      const checksum = createHash('sha256').update(text).digest('hex');
      await sql`INSERT INTO migrations (name, checksum) VALUES (${name}, ${checksum})`;
    }
    await sql`INSERT INTO accounts (id, role) VALUES ('acc_dev', 'user'), ('acc_chief', 'admin')`;
    await sql`INSERT INTO wallets (id, account_id) VALUES ('w1', 'acc_dev'), ('w2', 'acc_chief')`;
    for (const [token, account, admin] of [
      ['user', 'acc_dev', false],
      ['admin', 'acc_dev', true],
      ['chief', 'acc_chief', true],
    ] as const) {
      await sql`INSERT INTO sessions (token_hash, account_id, admin, expires_at)
        VALUES (${hash(token)}, ${account}, ${admin}, now() + interval '1 hour')`;
    }
    await migrate(database.url);
    const [user, admin, chief] = await Promise.all(
      ['user', 'admin', 'chief'].map((token) => findSession(sql, hash(token))),
    );
    assert.deepEqual([user?.accountId, user?.role], ['acc_dev', 'user']);
    assert.match(admin?.accountId ?? '', /^acc_[0-9a-f]{24}$/);
    assert.match(admin?.walletId ?? '', /^wal_[0-9a-f]{24}$/);
    assert.equal(admin?.role, 'admin');
    assert.deepEqual([chief?.accountId, chief?.role], ['acc_chief', 'admin']);
  } finally {
    await database.close();
  }
});
