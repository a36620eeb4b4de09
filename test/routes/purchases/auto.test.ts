// Credits that are bought without the person, over HTTP. A checkout saves a card, the person
// decides, and what it spends then brings one charge.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../../harness/account.ts';
import {
  becomes,
  buy,
  callAs,
  type PurchaseTold,
  payAt,
  tellPayments,
} from '../../harness/purchases.ts';
import { callResponses, responseBody } from '../../harness/responses.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

// slow: It starts a gateway of its own, and waits for charges that come by themselves.

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ own: 'it tells the simulated providers what goes wrong' });
});
after(() => bed?.close());

const settingsPath = '/api/me/billing/settings';
const wanted = { enabled: true, threshold_microcredits: 1_000_000_001, package_slug: 'starter' };

interface Settings {
  auto_top_up: { state: string; paused_reason: string | null; card_last4: string | null };
}

async function settingsOf(account: TestAccount, body?: unknown) {
  const { status, body: told } = await callAs(account, settingsPath, body);
  return { status, told: told as unknown as Settings };
}

async function withCard(): Promise<TestAccount> {
  const account = await bed.account({ micros: 1n });
  const { body } = await buy(account, { save_payment_method: true });
  await payAt(body.checkout);
  await becomes(account, body.purchase.id, 'completed');
  return account;
}

/** Purchases that nobody asked for, the newest first. */
async function autoOf(account: TestAccount): Promise<PurchaseTold[]> {
  const { body } = await callAs(account, '/api/me/purchases');
  const { data } = body as unknown as { data: PurchaseTold[] };
  return data.filter(({ kind }) => kind === 'auto');
}

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await look())) {
    assert.ok(performance.now() < deadline, what);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('what is spent below the threshold brings one charge, and its credits', async () => {
  const account = await withCard();
  const { status, told } = await settingsOf(account, { auto_top_up: wanted });
  assert.deepEqual(
    [status, told.auto_top_up.state, told.auto_top_up.card_last4],
    [200, 'active', '4242'],
  );
  const reply = await callResponses(account, '', responseBody('[[sim tokens=3]]'));
  assert.equal(reply.status, 200);
  await reply.arrayBuffer();
  await until('it is charged', async () => (await autoOf(account))[0]?.status === 'completed');
  assert.equal((await autoOf(account)).length, 1);
  assert.ok((await account.balance()).availableMicros > 1_900_000_000n);
});

test('a bank that wants its person pauses it, and a new decision ends the pause', async () => {
  const account = await withCard();
  await tellPayments(bed.dev.simulator_url, { fault: 'authentication_required', family: 'stripe' });
  await settingsOf(account, { auto_top_up: { ...wanted, threshold_microcredits: 9_000_000_000 } });
  await until('it is paused', async () => {
    const { told } = await settingsOf(account);
    return told.auto_top_up.state === 'paused';
  });
  const { told } = await settingsOf(account);
  assert.equal(told.auto_top_up.paused_reason, 'needs_person');
  const again = await settingsOf(account, { auto_top_up: { ...wanted, enabled: false } });
  assert.equal(again.told.auto_top_up.state, 'off');
});

test('without a saved card, or for what is not sold, it is refused', async () => {
  const account = await bed.account({ micros: 1n });
  assert.equal((await settingsOf(account, { auto_top_up: wanted })).status, 400);
  const other = await withCard();
  const unknown = { auto_top_up: { ...wanted, package_slug: 'none' } };
  assert.equal((await settingsOf(other, unknown)).status, 400);
  const profile = { name: 'Ada Lovelace', country: 'GB' };
  assert.equal((await settingsOf(account, { profile })).status, 200);
  assert.equal((await settingsOf(account, { profile: { country: 'Great Britain' } })).status, 400);
});
