// Keys, sessions, catalog, billing, instances: what their queries promise, on a real database.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createAccount, findAccount } from '../../db/accounts.ts';
import { readBillingSummary } from '../../db/billing.ts';
import { deleteRecord, putRecord, putSealed, readCatalog } from '../../db/catalog.ts';
import type { Sql } from '../../db/driver/sql.ts';
import {
  findGeneration,
  findGenerationByAnyKey,
  findGenerationByKey,
} from '../../db/generations.ts';
import { listDeadInstances, registerInstance, renewLease } from '../../db/instances.ts';
import { createKey, findKeyByHash, listKeys, revokeKey, touchKeys } from '../../db/keys.ts';
import { createSession, findSession, sweepSessions } from '../../db/sessions.ts';
import { createWallet } from '../../db/wallets.ts';
import {
  accountId,
  type Bank,
  type Branch,
  claimingHold,
  holdOf,
  openBank,
  promotion,
  purchase,
} from '../actors/wallet/bank.ts';

let bank: Bank;
let branch: Branch;
let sql: Sql;
let walletId: string;
before(async () => {
  bank = await openBank();
  branch = bank.branch();
  sql = bank.sql;
  walletId = await bank.newWallet();
});
after(() => bank.close());

const hash = (token: string): Buffer => createHash('sha256').update(token).digest();

function newKey(index: number): Parameters<typeof createKey>[1] {
  return {
    id: `key_${String(index).padStart(24, '0')}`,
    accountId,
    walletId,
    label: `key "${index}" {a,b}`,
    environment: 'live',
    scopes: ['models:read', 'with "quotes" and \\'],
    tokenHash: hash(`token-${index}`),
    prefix: 'svc_live_abcd',
    requestsPerMinute: 600,
    concurrencyMax: 64,
  };
}

test('a key is found by its hash, listed page by page, touched and revoked', async () => {
  for (let index = 0; index < 5; index += 1) await createKey(sql, newKey(index));
  const found = await findKeyByHash(sql, hash('token-3'));
  assert.equal(found?.id, newKey(3).id);
  assert.deepEqual(found?.scopes, newKey(3).scopes);
  assert.equal(await findKeyByHash(sql, hash('token-9')), null);

  const first = await listKeys(sql, accountId, 2, null);
  const second = await listKeys(sql, accountId, 2, first.nextCursor);
  const third = await listKeys(sql, accountId, 2, second.nextCursor);
  const labels = [...first.keys, ...second.keys, ...third.keys].map((key) => key.label);
  assert.deepEqual(
    labels,
    [4, 3, 2, 1, 0].map((index) => newKey(index).label),
  );
  assert.equal(third.nextCursor, null);

  const late = new Date('2026-01-02T00:00:00Z');
  const early = new Date('2026-01-01T00:00:00Z');
  const keyId = newKey(1).id;
  await touchKeys(sql, [
    { keyId, usedAt: late },
    { keyId, usedAt: early },
  ]);
  await touchKeys(sql, [{ keyId, usedAt: early }]);
  assert.deepEqual((await findKeyByHash(sql, hash('token-1')))?.lastUsedAt, late);

  assert.equal(await revokeKey(sql, 'acc_other', keyId), null);
  assert.equal((await revokeKey(sql, accountId, keyId))?.status, 'revoked');
  assert.equal((await revokeKey(sql, accountId, keyId))?.status, 'revoked');
  assert.equal((await findKeyByHash(sql, hash('token-1')))?.status, 'revoked');
});

test('a session is found until it expires, with the role of its account', async () => {
  const soon = new Date(Date.now() + 60_000);
  await createSession(sql, { tokenHash: hash('s1'), accountId, expiresAt: soon });
  assert.equal((await findSession(sql, hash('s1')))?.role, 'user');
  const chief = 'acc_admin';
  await createAccount(sql, { id: chief, role: 'admin' });
  const found = await findAccount(sql, chief);
  assert.deepEqual([found?.id, found?.role, found?.walletId], [chief, 'admin', null]);
  await createWallet(sql, { id: 'wal_admin', accountId: chief, type: 'personal' });
  const past = new Date(Date.now() - 1);
  await createSession(sql, { tokenHash: hash('s2'), accountId: chief, expiresAt: past });
  assert.equal(await findSession(sql, hash('s2')), null);
  assert.deepEqual([await sweepSessions(sql, 1), await sweepSessions(sql, 1)], [1, 0]);
  assert.equal((await findSession(sql, hash('s1')))?.role, 'user');
  await createSession(sql, { tokenHash: hash('s2'), accountId: chief, expiresAt: soon });
  assert.equal((await findSession(sql, hash('s2')))?.role, 'admin');
});

test('the same catalog applied again keeps its version; a change moves it', async () => {
  const definition = { alias: 'svc-a', list: [1, 2], nested: { b: 'x', a: null } };
  assert.equal(await putRecord(sql, 'models', 'svc-a', definition), true);
  const { version } = await readCatalog(sql);
  const reordered = { nested: { a: null, b: 'x' }, list: [1, 2], alias: 'svc-a' };
  assert.equal(await putRecord(sql, 'models', 'svc-a', reordered), false);
  const catalog = await readCatalog(sql);
  assert.equal(catalog.version, version);
  assert.deepEqual(catalog.models[0]?.definition, definition);
  assert.equal(await putRecord(sql, 'models', 'svc-a', { ...definition, list: [] }), true);
  const changed = await readCatalog(sql);
  assert.notEqual(changed.version, version);
  assert.equal(changed.models[0]?.revision, 2);
  assert.equal(await deleteRecord(sql, 'models', 'svc-a'), true);

  const sealed = randomBytes(40);
  const provider = { name: 'p', definition: { url: 'x' } };
  assert.equal(
    await putSealed(sql, 'providers', { ...provider, credential: { sealed, keyId: 'k' } }),
    true,
  );
  assert.equal(
    await putSealed(sql, 'providers', provider),
    false,
    'an absent credential is left alone',
  );
  const [stored] = (await readCatalog(sql)).providers;
  assert.deepEqual(Buffer.from(stored?.credential ?? []), sealed);
  assert.equal(await putSealed(sql, 'providers', { ...provider, credential: null }), true);
  assert.equal((await readCatalog(sql)).providers[0]?.credential, null);
});

test('generations are seen by their own account only, by id and by key', async () => {
  await branch.ask(walletId, 'grant', purchase(1_000n));
  const hold = claimingHold(10n, 'seen');
  await branch.ask(walletId, 'hold', hold);
  const { id } = hold.owner;
  const route = '/v1/chat/completions';
  assert.equal((await findGeneration(sql, accountId, id))?.status, 'running');
  assert.equal(await findGeneration(sql, 'acc_admin', id), null);
  assert.equal((await findGenerationByKey(sql, accountId, route, 'seen'))?.id, id);
  assert.equal(await findGenerationByKey(sql, accountId, '/v1/other', 'seen'), null);
  assert.equal((await findGenerationByAnyKey(sql, accountId, 'seen'))?.id, id);
  await branch.ask(walletId, 'settle', {
    holdId: hold.holdId,
    chargeMicros: 7n,
    providerCostMicros: 6n,
    finish: {
      kind: 'generation',
      id,
      status: 'completed',
      answerJson: '{"text":"\u0007 {\\"a\\":1}, \\u0000 ü"}',
      usageJson: '{"input_tokens":3,"output_tokens":5}',
      problemJson: null,
    },
  });
  const done = await findGeneration(sql, accountId, id);
  assert.equal(done?.answerJson, '{"text":"\u0007 {\\"a\\":1}, \\u0000 ü"}');
  assert.equal(done?.chargeMicros, 7n);
  await sql`UPDATE generations SET created_at = now() - interval '25 hours' WHERE id = ${id}`;
  assert.equal(await findGenerationByKey(sql, accountId, route, 'seen'), null);
});

test('the billing summary shows the wallet, its grants, its holds and its usage', async () => {
  const fresh = await bank.newWallet();
  await branch.ask(fresh, 'grant', purchase(1_000n));
  await branch.ask(fresh, 'grant', promotion(500n, bank.clock.nowMs() + 60_000));
  const [active, released, settled] = [1, 2, 3].map(() => claimingHold(100n, null));
  assert.ok(active !== undefined && released !== undefined && settled !== undefined);
  for (const hold of [active, released, settled]) await branch.ask(fresh, 'hold', hold);
  const { holdId } = released;
  await branch.ask(fresh, 'release', { holdId, reason: 'cancelled', finish: null });
  await branch.ask(fresh, 'settle', {
    holdId: settled.holdId,
    chargeMicros: 40n,
    providerCostMicros: 38n,
    finish: {
      kind: 'generation',
      id: settled.owner.id,
      status: 'completed',
      answerJson: '{}',
      usageJson: '{"input_tokens":3,"output_tokens":5}',
      problemJson: null,
    },
  });
  const summary = await readBillingSummary(sql, accountId, fresh);
  assert.ok(summary?.wallet != null);
  const { createdAt, ...wallet } = summary.wallet;
  assert.ok(createdAt <= new Date());
  assert.deepEqual(wallet, {
    id: fresh,
    accountId,
    type: 'personal',
    availableMicros: 1_360n,
    heldMicros: 100n,
  });
  assert.deepEqual(
    summary?.grants.map((grant) => [grant.kind, grant.remainingMicros, grant.heldMicros]),
    [
      ['promotion', 460n, 100n],
      ['purchase', 1_000n, 0n],
    ],
  );
  assert.deepEqual(
    summary?.active.map((hold) => hold.id),
    [active.holdId],
  );
  assert.deepEqual(
    summary?.released.map((hold) => [hold.id, hold.amountMicros, hold.reason]),
    [[holdId, 100n, 'cancelled']],
  );
  assert.equal(summary?.usage.models[0]?.settled, 1n);
  assert.equal(summary?.usage.models[0]?.input_tokens, 3n);
  assert.equal(summary?.usage.models[0]?.charge_micros, 40n);
  assert.deepEqual(summary?.purchases, []);
  assert.equal(await readBillingSummary(sql, accountId, 'wal_none'), null);
});

test('a voice session counts in the usage as one request, speech and text together', async () => {
  const fresh = await bank.newWallet();
  await branch.ask(fresh, 'grant', purchase(1_000n));
  const hold = holdOf(100n);
  const id = hold.owner.id.replace(/^req/, 'vs');
  const model = 'svc-voice-1';
  const claim = { id, accountId, apiKeyId: null, model, voiceId: 'alloy' };
  const owner = { ...hold.owner, kind: 'voice_session' as const, id };
  assert.equal((await branch.ask(fresh, 'hold', { ...hold, owner, claim })).status, 'held');
  assert.deepEqual((await readBillingSummary(sql, accountId, fresh))?.usage.models, []);
  const usage = {
    inputSpeechTokens: 20,
    inputTextTokens: 3,
    outputSpeechTokens: 40,
    outputTextTokens: 5,
    searchCalls: 0,
  };
  await branch.ask(fresh, 'settle', {
    holdId: hold.holdId,
    chargeMicros: 60n,
    providerCostMicros: 50n,
    finish: { kind: 'voice_session', id, reason: 'client_end', source: 'reported', usage },
  });
  const used = (await readBillingSummary(sql, accountId, fresh))?.usage.models ?? [];
  assert.deepEqual(
    used.map((row) => [row.model, row.settled, row.input_tokens, row.output_tokens]),
    [[model, 1n, 23n, 45n]],
  );
  assert.equal(used[0]?.charge_micros, 60n);
});

test('an instance is dead when its lease has passed, and cannot renew what was ended', async () => {
  await registerInstance(sql, 'i-alive', 60_000);
  await registerInstance(sql, 'i-dead', -1);
  assert.deepEqual(await listDeadInstances(sql, 'i-alive', false), ['i-dead']);
  assert.deepEqual(await listDeadInstances(sql, 'i-new', true), ['i-alive', 'i-dead']);
  assert.equal(await renewLease(sql, 'i-dead', 60_000), true);
  assert.deepEqual(await listDeadInstances(sql, 'i-alive', false), []);
  await sql`UPDATE instances SET ended_at = now() WHERE id = 'i-dead'`;
  assert.equal(await renewLease(sql, 'i-dead', 60_000), false);
});
