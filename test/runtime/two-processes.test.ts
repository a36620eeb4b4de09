// Two processes on one database: neither ends what the other does, in its whole life, but what a
// dead one has left. Then the books are right.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../db/audit.ts';
import type { TestAccount } from '../harness/account.ts';
import { type ChatStream, openChat, streamChat } from '../harness/chat.ts';
import { type Gateway, startGateway } from '../harness/gateway.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

// slow: It waits for the deadlines by which one process notices the end of another.

/** The lease, the round that looks at leases, and as much again for a busy machine. */
const RECOVERY_MS = 90_000;
/** Longer than this test waits for anything; ended by a cancel. */
const ENDLESS = '[[sim tokens=4000 gap_ms=100]]';

let bed: Testbed;
let other: Gateway;
let account: TestAccount;
const secret = randomBytes(32).toString('base64url');
before(async () => {
  bed = await openTestbed({ shards: 1, env: { TOLLGATE_SECRET: secret } });
  account = await bed.account();
});
after(async () => {
  await other?.close();
  await bed?.close();
});

async function rowOf(stream: ChatStream): Promise<{ status: string; charge: bigint | null }> {
  const id = stream.headers.get('x-svc-request-id') ?? '';
  const [row] = await bed.sql<{ status: string; charge: bigint | null }[]>`
    SELECT status, charge_micros AS charge FROM generations WHERE id = ${id}`;
  assert.ok(row !== undefined, id);
  return row;
}

/** As after an outage: its process has not renewed its lease yet. Returns what ends that. */
async function lapsedLeaseOf(stream: ChatStream): Promise<() => Promise<void>> {
  const id = stream.headers.get('x-svc-request-id') ?? '';
  let isOver = false;
  const lapse = () => bed.sql`UPDATE instances SET lease_expires_at = now() - interval '1 s'
    WHERE id = (SELECT instance_id FROM generations WHERE id = ${id})`;
  await lapse();
  const lapsing = (async () => {
    for (; !isOver; await sleep(5)) await lapse();
  })();
  return () => {
    isOver = true;
    return lapsing;
  };
}

async function cancel(stream: ChatStream): Promise<Record<string, unknown>> {
  const id = stream.headers.get('x-svc-request-id') ?? '';
  const reply = await fetch(`${bed.url}/v1/generations/${id}/cancel`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}` },
  });
  const body = (await reply.json()) as Record<string, unknown>;
  assert.equal(reply.status, 200, JSON.stringify(body));
  return body;
}

test('a second process that starts, dies and stops leaves the first one alone', async () => {
  const here = await (await openChat(account, ENDLESS, {}, { key: 'here' })).read(3);
  const env = { DATABASE_URL: bed.database.url, TOLLGATE_MODE: 'dev', TOLLGATE_SECRET: secret };
  other = await startGateway({ env, shards: 1 });
  assert.equal((await rowOf(here)).status, 'running', 'it has started');

  const there = { ...account, baseUrl: other.url };
  const whole = await streamChat(there, '[[sim tokens=8]]');
  assert.equal(whole.finishReason, 'stop');
  const lost = await (await openChat(there, ENDLESS, {}, { key: 'there' })).read(3);
  await other.killAll();
  await lost.read().catch(() => undefined);
  assert.equal((await rowOf(lost)).status, 'running', 'its lease has not passed yet');
  const deadline = performance.now() + RECOVERY_MS;
  while ((await rowOf(lost)).status === 'running') {
    assert.ok(performance.now() < deadline, 'what a dead process left is ended by the other one');
    await sleep(100);
  }
  assert.deepEqual(await rowOf(lost), { status: 'failed', charge: null });
  assert.equal((await rowOf(here)).status, 'running', 'leases were looked at');

  const renewing = await lapsedLeaseOf(here);
  await other.start();
  assert.equal((await rowOf(here)).status, 'running', 'it has started, right after an outage');
  assert.equal(await other.stop(), 0);
  assert.equal((await rowOf(here)).status, 'running', 'it has stopped');
  await renewing();

  const usage = (await cancel(here)).svc_usage as { charge_microcredits: number };
  assert.ok(usage.charge_microcredits > 0);
  await here.read();
  assert.equal(here.svcUsage?.charge_microcredits, usage.charge_microcredits);
  const charge = BigInt(usage.charge_microcredits);
  assert.deepEqual(await rowOf(here), { status: 'cancelled', charge });
  const wholeCharge = BigInt(whole.svcUsage?.charge_microcredits ?? 0);
  const availableMicros = 1_000_000_000n - charge - wholeCharge;
  assert.deepEqual(await account.quiet(), { availableMicros, heldMicros: 0n });
  const late = await bed.sql`SELECT 1 FROM ledger
    WHERE wallet_id = ${account.walletId} AND kind = 'late'`;
  assert.equal(late.length, 0, 'every hold was there when it was settled');
  assert.deepEqual(
    (await auditLedger(bed.sql)).filter((finding) => finding.broken > 0n),
    [],
  );
});
