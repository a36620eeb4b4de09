// The access that development mode leaves in a database, which production must be told of.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createDirectWallet } from '../../actors/wallet/direct.ts';
import { walletLimits } from '../../actors/wallet/limits.ts';
import { readConfig } from '../../runtime/config.ts';
import {
  hasDevelopmentAccess,
  prepareDevelopment,
  writeDevelopmentFile,
} from '../../runtime/development.ts';
import { openTestDatabase } from '../harness/database.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

test('access of development mode is seen where it works, and nowhere else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-development-'));
  const [own, other] = await Promise.all([openTestDatabase(), openTestDatabase()]);
  try {
    const config = readConfig({ TOLLGATE_DATA: folder });
    const sql = own.pool('general', 2);
    const performOnWallet = createDirectWallet({
      sql,
      clock: Date.now,
      limits: walletLimits,
      log: silent,
    });
    assert.equal(await hasDevelopmentAccess({ config, sql }), false, 'no development yet');
    const account = await prepareDevelopment({ config, sql, performOnWallet });
    await writeDevelopmentFile(config, { ...account, simulator_url: null });
    assert.equal(await hasDevelopmentAccess({ config, sql }), true);
    const elsewhere = other.pool('general', 1);
    assert.equal(await hasDevelopmentAccess({ config, sql: elsewhere }), false);
    // A revoked key alone is not enough: the sessions still open everything.
    await sql`update api_keys set status = 'revoked', revoked_at = now()`;
    assert.equal(await hasDevelopmentAccess({ config, sql }), true);
    await sql`delete from sessions`;
    assert.equal(await hasDevelopmentAccess({ config, sql }), false);
  } finally {
    await Promise.all([own.close(), other.close()]);
    await rm(folder, { recursive: true, force: true });
  }
});
