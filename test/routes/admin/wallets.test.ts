// Money under administration: what a wallet has and how it came to that, and credits that are
// granted exactly once, with the books right afterwards.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { GrantRequest } from '../../../actors/wallet/protocol.ts';
import { auditLedger } from '../../../db/audit.ts';
import type { TestAccount } from '../../harness/account.ts';
import { askChat, openChat } from '../../harness/chat.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, everything, openAdminApi, refusal } from './admin-api.ts';

let bed: Testbed;
let adminApi: AdminApi;
before(async () => {
  bed = await openTestbed({ own: 'it audits every wallet' });
  adminApi = await openAdminApi(bed);
});
after(() => bed?.close());

type Members = Record<string, unknown>;

function grant(account: TestAccount, body: Members) {
  return adminApi('POST', `/wallets/${account.walletId}/grants`, { body });
}

test('a wallet is read with its grants, its holds and its journal', async () => {
  const account = await bed.account({ micros: 5_000_000n });
  const { status, body } = await askChat(account, '[[sim tokens=20]]');
  assert.equal(status, 200);
  const charge = body.svc_usage.charge_microcredits;
  const { availableMicros } = await account.quiet();
  const reply = await adminApi('GET', `/wallets/${account.walletId}`);
  const wallet = reply.json.wallet as Members;
  assert.equal(wallet.account_id, account.accountId);
  assert.equal(wallet.available_exact, availableMicros.toString());
  assert.equal(wallet.balance_microcredits, 5_000_000 - charge);
  const [first] = reply.json.grants as Members[];
  assert.equal(first?.remaining_microcredits, 5_000_000 - charge);
  assert.deepEqual(reply.json.reservations, []);
  const entries = await everything(adminApi, `/wallets/${account.walletId}/ledger`, 1);
  assert.deepEqual(
    entries.map(({ kind }) => kind),
    ['settle', 'hold', 'grant'],
  );
  for (const entry of entries) {
    const legs = Object.entries(entry).filter(([name]) => name.endsWith('_exact'));
    assert.equal(legs.length, 7);
    const sum = legs.reduce((total, [, text]) => total + BigInt(text as string), 0n);
    assert.equal(sum, 0n, JSON.stringify(entry));
  }
  const total = entries.reduce((sum, entry) => sum + BigInt(entry.wallet_exact as string), 0n);
  assert.equal(total, availableMicros, 'the journal tells the whole balance');
  const listed = await everything(adminApi, `/wallets?account_id=${account.accountId}`);
  assert.deepEqual(listed, [wallet]);
  assert.ok((await everything(adminApi, '/wallets', 1)).some(({ id }) => id === account.walletId));
});

test('entries of one moment are told once each, over every page', async () => {
  const account = await bed.account({ micros: 0n });
  const grants = Array.from({ length: 25 }, (_, index) =>
    bed.wallet(account.walletId, 'grant', {
      operationId: `same.${account.walletId}.${index}`,
      kind: 'promotion',
      amountMicros: 1n,
      expiresAtMs: null,
      note: 'many',
    }),
  );
  await Promise.all(grants);
  const entries = await everything(adminApi, `/wallets/${account.walletId}/ledger`, 4);
  assert.equal(new Set(entries.map(({ operation_id }) => operation_id)).size, 25);
  assert.equal(entries.length, 25);
});

test('credits are granted once per operation id, and the event tells of it', async () => {
  const account = await bed.account({ micros: 0n });
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const body = {
    operation_id: `thanks.${account.walletId}`,
    amount_microcredits: 2_500_001,
    note: 'thank you',
    expires_at,
  };
  const replies = await Promise.all(Array.from({ length: 8 }, () => grant(account, body)));
  for (const reply of replies) {
    assert.equal(reply.status, 201, reply.text);
    assert.deepEqual(reply.json, replies[0]?.json);
  }
  const told = replies[0]?.json.grant as Members;
  assert.equal(told.amount_exact, '2500001');
  assert.equal(told.expires_at, expires_at);
  assert.equal((await account.balance()).availableMicros, 2_500_001n);
  const events = await everything(adminApi, `/audit?subject=wallet:${account.walletId}`);
  assert.equal(events.length, 1);
  assert.equal(events[0]?.action, 'wallet.grant');
  assert.equal(events[0]?.account_id, account.accountId);
  assert.equal((events[0]?.details as Members | undefined)?.amount_microcredits, '2500001');
  const [row] = (await adminApi('GET', `/wallets/${account.walletId}`)).json.grants as Members[];
  assert.deepEqual([row?.id, row?.note, row?.expires_at], [told.id, 'thank you', expires_at]);
  for (const changed of [{ amount_microcredits: 1 }, { note: 'more' }, { expires_at: null }]) {
    const reply = await grant(account, { ...body, ...changed });
    assert.equal(refusal(reply).code, 'idempotency_key_reused');
  }
  const other = await bed.account({ micros: 0n });
  assert.equal((await grant(other, body)).status, 422, 'the id is for one wallet');
  assert.equal((await other.balance()).availableMicros, 0n);
});

test('of two different grants with one operation id exactly one is made', async () => {
  for (let round = 0; round < 10; round += 1) {
    const account = await bed.account({ micros: 0n });
    const operation_id = `race.${account.walletId}`;
    const amounts = [1_000, 2_000, 3_000];
    const replies = await Promise.all(
      amounts.map((amount_microcredits) =>
        grant(account, { operation_id, amount_microcredits, note: 'race' }),
      ),
    );
    const winners = replies.flatMap(({ status }, index) => (status === 201 ? [index] : []));
    assert.equal(winners.length, 1);
    const { availableMicros } = await account.balance();
    assert.equal(availableMicros, BigInt(amounts[winners[0] ?? 0] ?? 0));
    const events = await everything(adminApi, `/audit?subject=wallet:${account.walletId}`);
    assert.equal(events.length, 1);
  }
});

test('a grant that cannot be is refused with its path and leaves nothing', async () => {
  const account = await bed.account({ micros: 0n });
  const good = { operation_id: 'bad', amount_microcredits: 1, note: 'x' };
  const past = new Date(Date.now() - 1_000).toISOString();
  const bodies: [Members, string][] = [
    [{ ...good, amount_microcredits: 0 }, 'amount_microcredits'],
    [{ ...good, amount_microcredits: -1 }, 'amount_microcredits'],
    [{ ...good, amount_microcredits: 1.5 }, 'amount_microcredits'],
    [{ ...good, amount_microcredits: 1e16 }, 'amount_microcredits'],
    [{ ...good, operation_id: 'with space' }, 'operation_id'],
    [{ ...good, note: '' }, 'note'],
    [{ ...good, expires_at: 'soon' }, 'expires_at'],
    [{ ...good, expires_at: past }, 'expires_at'],
    // A day that no year has, a zone that `Date` does not know, a year of five digits.
    [{ ...good, expires_at: '2099-02-31T00:00:00Z' }, 'expires_at'],
    [{ ...good, expires_at: '2099-01-01T00:00:00+01' }, 'expires_at'],
    [{ ...good, expires_at: '9999-12-31T23:59:59-01:00' }, 'expires_at'],
    [{ ...good, kind: 'purchase' }, 'kind'],
  ];
  for (const [body, field] of bodies) {
    const { status, details } = refusal(await grant(account, body));
    assert.deepEqual([status, details.path], [400, field], JSON.stringify(body));
  }
  for (const path of ['', '/ledger']) {
    assert.equal((await adminApi('GET', `/wallets/wal_none${path}`)).status, 404);
  }
  assert.equal((await adminApi('POST', '/wallets/wal_none/grants', { body: good })).status, 404);
  assert.equal((await adminApi('GET', `/wallets/${account.walletId}/ledger?cursor=a`)).status, 400);
  assert.equal((await account.balance()).availableMicros, 0n);
  assert.deepEqual(await everything(adminApi, `/audit?subject=wallet:${account.walletId}`), []);
});

function revoke(account: TestAccount, grantId: unknown, reason = 'given twice') {
  const path = `/wallets/${account.walletId}/grants/${grantId}/revoke`;
  return adminApi('POST', path, { body: { reason } });
}

function debit(account: TestAccount, body: Members) {
  return adminApi('POST', `/wallets/${account.walletId}/debits`, { body });
}

/** An account that has bought so much and was given nothing. */
async function buyer(amountMicros: bigint): Promise<TestAccount> {
  const account = await bed.account({ micros: 0n });
  const operationId = `buy.${account.walletId}`;
  const bought = { operationId, kind: 'purchase', amountMicros, expiresAtMs: null, note: 'bought' };
  await bed.wallet(account.walletId, 'grant', bought as GrantRequest);
  return account;
}

/** A promotion of the account; the grant as it was told. */
async function promote(account: TestAccount, name: string, micros: number): Promise<Members> {
  const operation_id = `${name}.${account.walletId}`;
  const reply = await grant(account, { operation_id, amount_microcredits: micros, note: name });
  assert.equal(reply.status, 201, reply.text);
  return reply.json.grant as Members;
}

test('a promotion is revoked once, and its holds give nothing back', async () => {
  const account = await bed.account({ micros: 0n });
  const { id } = await promote(account, 'welcome', 5_000_000);
  const stream = await openChat(account, '[[sim tokens=30 gap_ms=100]]');
  await stream.read(2);
  const held = (await account.balance()).heldMicros;
  const first = await revoke(account, id);
  assert.equal(first.status, 200, first.text);
  const { revocation } = first.json as { revocation: Members };
  assert.equal(revocation.operation_id, `${id}.revoke`);
  assert.equal(BigInt(revocation.amount_exact as string) + held, 5_000_000n);
  const path = `/wallets/${account.walletId}`;
  const [listed] = (await adminApi('GET', path)).json.grants as Members[];
  assert.deepEqual([listed?.id, listed?.remaining_exact], [id, held.toString()]);
  await stream.read();
  await account.quiet();
  const { availableMicros, heldMicros } = await account.balance();
  assert.deepEqual([availableMicros, heldMicros], [0n, 0n], 'only what was used is gone');
  assert.ok((stream.svcUsage?.charge_microcredits ?? 0) > 0);
  assert.deepEqual((await adminApi('GET', path)).json.grants, []);
  for (const reason of ['given twice', 'for another reason']) {
    const again = await revoke(account, id, reason);
    assert.deepEqual([again.status, again.text], [200, first.text]);
  }
  const [entry, ...others] = (await everything(adminApi, `${path}/ledger`)).filter(
    ({ kind }) => kind === 'revoke',
  );
  assert.equal(entry?.operation_id, `${id}.revoke`);
  assert.equal(entry?.wallet_exact, `-${revocation.amount_exact}`);
  assert.equal(others.length, 0);
  const events = await everything(adminApi, `/audit?subject=wallet:${account.walletId}`);
  assert.deepEqual(
    events.map(({ action, account_id, details }) => [action, account_id, details]).at(0),
    [
      'wallet.revoke',
      account.accountId,
      { grant_id: id, reason: 'given twice', amount_microcredits: revocation.amount_exact },
    ],
  );
  assert.equal(events.length, 2, 'its grant, and its revocation');
  const summary = await fetch(`${bed.url}/api/me/billing/summary`, {
    headers: { 'x-svc-session': account.sessionToken },
  });
  const { wallet, grants } = (await summary.json()) as { wallet: Members; grants: Members[] };
  assert.deepEqual([wallet.balance_exact, grants], ['0', []]);
});

test('a purchase is not revoked, nor what is not there', async () => {
  const account = await buyer(1_000n);
  const [bought] = (await adminApi('GET', `/wallets/${account.walletId}`)).json.grants as Members[];
  assert.equal(bought?.kind, 'purchase');
  const refused = refusal(await revoke(account, bought?.id));
  assert.deepEqual([refused.status, refused.code], [409, 'invalid_state']);
  assert.deepEqual(refused.details, { reason: 'use_refund' });
  const other = await promote(await bed.account({ micros: 0n }), 'other', 10);
  for (const grantId of ['grant_none', other.id]) {
    assert.equal((await revoke(account, grantId)).status, 404);
  }
  const bodies: [unknown, string][] = [
    [{}, 'reason'],
    [{ reason: '' }, 'reason'],
    [{ reason: 'x'.repeat(501) }, 'reason'],
    [{ reason: 'two\nlines' }, 'reason'],
    [{ reason: 'x', amount: 1 }, 'amount'],
  ];
  for (const [body, field] of bodies) {
    const path = `/wallets/${account.walletId}/grants/${bought?.id}/revoke`;
    const { status, details } = refusal(await adminApi('POST', path, { body }));
    assert.deepEqual([status, details.path], [400, field], JSON.stringify(body));
  }
  assert.equal((await account.balance()).availableMicros, 1_000n);
});

test('a debit is made once, from promotions, and one too large leaves nothing', async () => {
  const account = await buyer(1_000n);
  const [older, newer] = [
    await promote(account, 'older', 100),
    await promote(account, 'newer', 50),
  ];
  const body = { operation_id: `back.${account.walletId}`, amount_microcredits: 70, note: 'abuse' };
  const replies = await Promise.all(Array.from({ length: 8 }, () => debit(account, body)));
  for (const reply of replies) {
    assert.equal(reply.status, 201, reply.text);
    assert.deepEqual(reply.json, replies[0]?.json);
  }
  const { operation_id, note } = body;
  const told = { operation_id, amount_microcredits: 70, amount_exact: '70', note };
  assert.deepEqual(replies[0]?.json.debit, told);
  assert.equal(replies[0]?.json.available_exact, '1080');
  const left = (await adminApi('GET', `/wallets/${account.walletId}`)).json.grants as Members[];
  assert.deepEqual(
    left.map(({ id, kind, remaining_exact }) => [kind === 'purchase' ? kind : id, remaining_exact]),
    [
      [older.id, '80'],
      ['purchase', '1000'],
    ],
  );
  assert.ok(!left.some(({ id }) => id === newer.id), 'the newest was taken whole');
  const more = { operation_id: `more.${account.walletId}`, amount_microcredits: 81, note: 'abuse' };
  const refused = refusal(await debit(account, more));
  assert.deepEqual([refused.status, refused.code], [409, 'invalid_state']);
  assert.match(`${refused.message}`, /80 microcredits free/);
  for (const changed of [{ amount_microcredits: 71 }, { note: 'other' }]) {
    assert.equal(refusal(await debit(account, { ...body, ...changed })).status, 422);
  }
  // An operation id is one thing, in one wallet: a grant's is no debit's, and the other way round.
  const taken = { ...body, operation_id: `older.${account.walletId}` };
  assert.equal(refusal(await debit(account, taken)).code, 'idempotency_key_reused');
  assert.equal(refusal(await grant(account, body)).code, 'idempotency_key_reused');
  assert.equal((await debit(await bed.account({ micros: 0n }), body)).status, 422);
  const rich = await bed.account({ micros: 0n });
  await promote(rich, 'rich', 1_000);
  assert.equal(refusal(await debit(rich, body)).code, 'idempotency_key_reused');
  assert.equal((await account.balance()).availableMicros, 1_080n);
  const events = await everything(adminApi, `/audit?subject=wallet:${account.walletId}`);
  const debits = events.filter(({ action }) => action === 'wallet.debit');
  assert.equal(debits.length, 1);
  const details = { operation_id: `admin.${operation_id}`, amount_microcredits: '70', note };
  assert.deepEqual(debits[0]?.details, details);
});

test('a debit that cannot be is refused with its path', async () => {
  const account = await bed.account({ micros: 0n });
  const good = { operation_id: 'bad-debit', amount_microcredits: 1, note: 'x' };
  const bodies: [Members, string][] = [
    [{ ...good, amount_microcredits: 0 }, 'amount_microcredits'],
    [{ ...good, amount_microcredits: 1.5 }, 'amount_microcredits'],
    [{ ...good, amount_microcredits: 1e16 }, 'amount_microcredits'],
    [{ ...good, operation_id: 'with space' }, 'operation_id'],
    [{ ...good, note: '' }, 'note'],
    [{ ...good, kind: 'purchase' }, 'kind'],
  ];
  for (const [body, field] of bodies) {
    const { status, details } = refusal(await debit(account, body));
    assert.deepEqual([status, details.path], [400, field], JSON.stringify(body));
  }
  assert.equal((await adminApi('POST', '/wallets/wal_none/debits', { body: good })).status, 404);
});

test('the books are right afterwards', async () => {
  const broken = (await auditLedger(bed.sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
});
