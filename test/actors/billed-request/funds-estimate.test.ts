// A rich wallet's upstream is called while its hold is still under way: sooner, but never delivered
// without the hold, and given up when the hold is refused after all.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createFundsEstimate } from '../../../actors/billed-request/funds-estimate.ts';
import type { HoldReply, WalletProtocol } from '../../../actors/wallet/protocol.ts';
import { answerText } from '../../../media/model/answer.ts';
import type { ActorRef, Answer } from '../../../runtime/actor/contract.ts';
import { openStage, type Stage } from '../generation/stage.ts';

/** Runs before the answer to a hold is given; may replace it. */
let onHold: ((answer: Answer<HoldReply>) => Promise<Answer<HoldReply>>) | null = null;

/** Runs when a hold is asked for, behind the batch that it joins. */
let onGathered: (() => void) | null = null;

function watched(real: ActorRef<WalletProtocol>): ActorRef<WalletProtocol> {
  return {
    kind: real.kind,
    id: real.id,
    tell: (message, payload) => real.tell(message, payload),
    async ask(message, payload, timeoutMs) {
      const asked = real.ask(message, payload, timeoutMs);
      if (message === 'hold') setImmediate(() => onGathered?.());
      const answer = await asked;
      if (message !== 'hold' || onHold === null) return answer;
      return (await onHold(answer as Answer<HoldReply>)) as typeof answer;
    },
  };
}

/** Thousands of holds. */
const rich = 100_000_000_000n;

/** Runs when a provider is called. */
let onCall: (() => void) | null = null;

let stage: Stage;
before(async () => {
  stage = await openStage({ wallet: watched, onCall: () => onCall?.() });
});
after(() => stage?.close());

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The calls that were begun while a hold waits: long enough to see one that should not be. */
async function startedMeanwhile(wanted: number): Promise<number> {
  await pause(200);
  const deadline = performance.now() + 30_000;
  for (;;) {
    const { started } = await stage.simulator.stats();
    if (started >= wanted || performance.now() > deadline) return started;
    await pause(10);
  }
}

test('the first request of a wallet waits for its hold, the next one does not', async () => {
  const account = await stage.account(rich);
  await stage.simulator.reset();
  const startedAtHold: number[] = [];
  onHold = async (answer) => {
    startedAtHold.push(await startedMeanwhile(2 * startedAtHold.length));
    return answer;
  };
  const first = await stage.ask(account, '[[sim tokens=3]]');
  const second = await stage.ask(account, '[[sim tokens=3]]');
  onHold = null;
  assert.deepEqual(startedAtHold, [0, 2]);
  assert.equal(first.status, 'completed');
  assert.ok(second.status === 'completed');
  assert.equal(answerText(second.answer), ' t0 t1 t2');
  const charged = second.receipt.svcUsage.charge_microcredits;
  assert.equal((await account.quiet()).availableMicros, rich - 2n * BigInt(charged));
});

test('the call is made behind the batch of the hold, which a first event waits for', async () => {
  const account = await stage.account(rich);
  await stage.ask(account, '[[sim tokens=1]]');
  const order: string[] = [];
  onCall = () => order.push('call');
  onGathered = () => order.push('hold');
  await stage.ask(account, '[[sim tokens=1]]');
  onCall = null;
  onGathered = null;
  assert.deepEqual(order, ['hold', 'call']);
});

test('nothing is delivered before the hold is there', async () => {
  const account = await stage.account(rich);
  await stage.ask(account, '[[sim tokens=1]]');
  let isHeld = false;
  onHold = async (answer) => {
    await pause(300);
    isHeld = true;
    return answer;
  };
  const { opening } = await stage.open(account, '[[sim tokens=500]]');
  onHold = null;
  assert.equal(isHeld, true);
  assert.ok(opening.kind === 'end' && opening.end.status === 'completed');
  assert.equal(opening.end.receipt.usage.outputTokens, 500);
  await account.quiet();
});

test('a hold that is refused after all gives the call up, and the next one waits', async () => {
  const account = await stage.account(rich);
  await stage.ask(account, '[[sim tokens=1]]');
  const before = (await account.quiet()).availableMicros;
  await stage.simulator.reset();
  const startedAtHold: number[] = [];
  onHold = async () => {
    startedAtHold.push(await startedMeanwhile(1));
    return { ok: false, reason: 'timeout' };
  };
  for (let round = 0; round < 2; round += 1) {
    const end = await stage.ask(account, '[[sim tokens=200 gap_ms=20]]');
    assert.ok(end.status === 'failed');
    assert.equal(end.problem.code, 'dependency_unavailable');
  }
  onHold = null;
  assert.deepEqual(startedAtHold, [1, 1], 'only the first one was called ahead');
  await stage.simulator.expect({ started: 1, aborted: 1, open: 0 });
  assert.equal((await account.quiet()).availableMicros, before);
});

test('with an idempotency key nobody calls ahead: many clients, one call', async () => {
  const account = await stage.account(rich);
  await stage.ask(account, '[[sim tokens=1]]');
  await stage.simulator.reset();
  const clients = Array.from({ length: 20 }, () => stage.ask(account, '[[sim tokens=5]]', 'one'));
  for (const end of await Promise.all(clients)) assert.equal(end.status, 'completed');
  await stage.simulator.expect({ started: 1, finished: 1, aborted: 0 });
  await account.quiet();
});

test('a wallet that is not far above one hold is never trusted ahead', () => {
  const fundsEstimate = createFundsEstimate();
  assert.equal(
    fundsEstimate.expectsFunds({ walletId: 'wal', accountId: 'acc', apiKeyId: null }, 1n, 0),
    false,
  );
  fundsEstimate.saw({ walletId: 'wal', accountId: 'acc', apiKeyId: null }, 999_999n, 0);
  assert.equal(
    fundsEstimate.expectsFunds({ walletId: 'wal', accountId: 'acc', apiKeyId: null }, 1_000n, 0),
    false,
  );
  fundsEstimate.saw({ walletId: 'wal', accountId: 'acc', apiKeyId: null }, 1_000_000n, 0);
  assert.equal(
    fundsEstimate.expectsFunds(
      { walletId: 'wal', accountId: 'acc', apiKeyId: null },
      1_000n,
      9_999,
    ),
    true,
  );
  assert.equal(
    fundsEstimate.expectsFunds(
      { walletId: 'wal', accountId: 'acc', apiKeyId: null },
      1_000n,
      10_001,
    ),
    false,
    'what was seen grows old',
  );
  fundsEstimate.saw({ walletId: 'wal', accountId: 'acc', apiKeyId: null }, 1_000_000n, 20_000);
  fundsEstimate.forget({ walletId: 'wal', accountId: 'acc', apiKeyId: null });
  assert.equal(
    fundsEstimate.expectsFunds(
      { walletId: 'wal', accountId: 'acc', apiKeyId: null },
      1_000n,
      20_000,
    ),
    false,
  );
});
