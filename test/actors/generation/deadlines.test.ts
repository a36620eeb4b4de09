// Providers that fall silent and wallets that do not answer: every wait ends, money is right
// afterwards, and no actor stays behind.
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Limits } from '../../../actors/limits.ts';
import type { WalletProtocol } from '../../../actors/wallet/protocol.ts';
import { answerText } from '../../../media/model/answer.ts';
import type { ActorRef } from '../../../runtime/actor/contract.ts';
import { afterOthers } from '../../../runtime/turns.ts';
import type { TestAccount } from '../../harness/account.ts';
import { openStage, type Stage } from './stage.ts';

// slow: It waits for the deadlines of a generation in real time.

/** Messages that the wallet gets but whose answers are lost; counted down. */
const lost = new Map<string, number>();
/** Messages that never reach the wallet. */
const refused = new Map<string, number>();
/** Messages whose hold others release just before. */
const overtaken = new Map<string, number>();
const steps: number[] = [];

function unreliable(real: ActorRef<WalletProtocol>): ActorRef<WalletProtocol> {
  return {
    kind: real.kind,
    id: real.id,
    tell: (message, payload) => real.tell(message, payload),
    async ask(message, payload, timeoutMs) {
      if (message === 'extend') steps.push((payload as { step: number }).step);
      if (take(overtaken, message)) {
        const { holdId } = payload as { holdId: string };
        await real.ask('release', { holdId, reason: 'recovered', finish: null }, timeoutMs);
      }
      if (take(refused, message)) return { ok: false, reason: 'unreachable' };
      const answer = await real.ask(message, payload, timeoutMs);
      return take(lost, message) ? { ok: false, reason: 'timeout' } : answer;
    },
  };
}

function take(faults: Map<string, number>, message: string): boolean {
  const left = faults.get(message) ?? 0;
  if (left > 0) faults.set(message, left - 1);
  return left > 0;
}

let stage: Stage;
before(async () => {
  stage = await openStage({ sliceTokens: 16, wallet: unreliable });
});
after(() => stage?.close());

async function spent(account: TestAccount): Promise<bigint> {
  return 1_000_000_000n - (await account.quiet()).availableMicros;
}

async function assertNobodyLeft(stage: Stage): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (stage.alive() > 0) {
    assert.ok(performance.now() < deadline, `${stage.alive()} actors are left`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Only this one deadline can be over while the test runs. */
async function openShort(t: TestContext, upstream: Partial<Limits['upstream']>): Promise<Stage> {
  const stage = await openStage({ upstream, sliceTokens: 16 });
  t.after(() => stage.close());
  return stage;
}

test('silence before the first event is a timeout, and free', async (t) => {
  const stage = await openShort(t, { firstEventMs: 1_500 });
  const account = await stage.account();
  const end = await stage.ask(account, '[[sim fault=stall]]');
  assert.ok(end.status === 'failed');
  assert.equal(end.problem.code, 'upstream_timeout');
  assert.equal(await spent(account), 0n);
  await stage.simulator.expect({ started: 1, aborted: 1, open: 0 });
  await assertNobodyLeft(stage);
});

test('an answer that waits too long for our own encoding is overload, and free', async (t) => {
  const stage = await openStage({ upstream: { queueMs: 100 }, before: ['http://127.0.0.1:9/v1'] });
  t.after(() => stage.close());
  let leave = () => {};
  void afterOthers('', () => new Promise<void>((resolve) => (leave = resolve)));
  t.after(() => leave());
  const account = await stage.account();
  const end = await stage.ask(account, 'long '.repeat(20_000));
  assert.ok(end.status === 'failed');
  assert.equal(end.problem.code, 'overloaded');
  assert.equal(await spent(account), 0n);
  await stage.simulator.expect({ started: 0 });
});

test('silence after some deltas is a timeout, charged for what was delivered', async (t) => {
  const stage = await openShort(t, { idleMs: 1_500 });
  const account = await stage.account();
  const end = await stage.ask(account, '[[sim fault=stall at=6]]');
  assert.ok(end.status === 'failed');
  assert.equal(end.problem.code, 'upstream_timeout');
  assert.equal(end.problem.headers['x-should-retry'], 'false');
  assert.equal(answerText(end.answer), ' t0 t1 t2 t3 t4');
  assert.equal(end.svcUsage?.source, 'estimated');
  assert.equal(await spent(account), BigInt(end.svcUsage?.charge_microcredits ?? 0));
  await stage.simulator.expect({ started: 1, aborted: 1, open: 0 });
  await assertNobodyLeft(stage);
});

test('an answer that never ends is cut by the total deadline', async (t) => {
  const stage = await openShort(t, { totalMs: 3_000 });
  const account = await stage.account();
  const end = await stage.ask(account, '[[sim tokens=4000 gap_ms=50]]');
  assert.ok(end.status === 'failed');
  assert.equal(end.problem.code, 'upstream_timeout');
  assert.ok(answerText(end.answer).startsWith(' t0 t1 '));
  assert.equal(await spent(account), BigInt(end.svcUsage?.charge_microcredits ?? 0));
});

test('a lost answer to an extension is asked for again with the same step', async () => {
  const account = await stage.account();
  await stage.simulator.reset();
  steps.length = 0;
  lost.set('extend', 2);
  const end = await stage.ask(account, '[[sim tokens=40]]');
  assert.ok(end.status === 'completed');
  assert.equal(end.receipt.svcUsage.output_tokens, 40);
  assert.equal(answerText(end.answer).split(' ').length, 41);
  assert.deepEqual(steps.slice(0, 3), [1, 1, 1]);
  assert.equal(await spent(account), BigInt(end.receipt.svcUsage.charge_microcredits));
  await assertNobodyLeft(stage);
});

test('a wallet that cannot be reached pauses the answer and does not end it', async () => {
  const account = await stage.account();
  refused.set('extend', 3);
  const end = await stage.ask(account, '[[sim tokens=60 gap_ms=2]]');
  assert.ok(end.status === 'completed');
  assert.equal(end.receipt.svcUsage.output_tokens, 60);
});

test('a hold that others released ends the answer as a fault, not for want of money', async () => {
  const account = await stage.account();
  overtaken.set('extend', 1);
  const end = await stage.ask(account, '[[sim tokens=60 gap_ms=2]]');
  assert.ok(end.status === 'failed');
  assert.equal(end.problem.code, 'internal');
  assert.equal(end.problem.headers['x-should-retry'], 'false');
  assert.equal(end.svcUsage?.credits_exhausted, false);
  const charge = BigInt(end.svcUsage?.charge_microcredits ?? 0);
  assert.ok(charge > 0n);
  assert.equal(await spent(account), charge, 'settled late, once');
  await assertNobodyLeft(stage);
});

test('a settlement whose answer is lost is repeated, and charged once', async () => {
  const account = await stage.account();
  lost.set('settle', 3);
  const end = await stage.ask(account, '[[sim tokens=5]]');
  assert.ok(end.status === 'completed');
  assert.equal(await spent(account), BigInt(end.receipt.svcUsage.charge_microcredits));
  await assertNobodyLeft(stage);
});

test('a hold whose answer is lost is released, and its key may run again', async () => {
  const account = await stage.account();
  await stage.simulator.reset();
  lost.set('hold', 1);
  const end = await stage.ask(account, '[[sim tokens=5]]', 'lost-hold');
  assert.ok(end.status === 'failed');
  assert.equal(end.problem.code, 'dependency_unavailable');
  assert.equal(await spent(account), 0n);
  await assertNobodyLeft(stage);
  await stage.simulator.expect({ started: 0 });
  const again = await stage.ask(account, '[[sim tokens=5]]', 'lost-hold');
  assert.equal(again.status, 'completed');
});

test('a release that does not arrive is repeated after the client has its answer', async () => {
  const account = await stage.account();
  refused.set('release', 4);
  const end = await stage.ask(account, '[[sim status=500]]');
  assert.ok(end.status === 'failed');
  assert.equal(end.problem.code, 'upstream_error');
  assert.equal(await spent(account), 0n);
  await assertNobodyLeft(stage);
});

test('clients that come and leave while the hold is under way end in peace', async () => {
  const account = await stage.account();
  await stage.simulator.reset();
  const first = stage.open(account, '[[sim tokens=3 first_ms=100]]', 'visit');
  const opened = await Promise.all([first, stage.open(account, '[[sim tokens=3]]', 'visit')]);
  for (const { opening } of opened) {
    assert.ok(opening.kind === 'end' && opening.end.status === 'completed');
  }
  assert.equal(opened[0].requestId, opened[1].requestId);
  await stage.simulator.expect({ started: 1 });
  await assertNobodyLeft(stage);
});
