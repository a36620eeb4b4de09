// The rules of money against a plain model that is written the slow and obvious way, over random
// operations and their repetitions. No database: `crash.test.ts` has that.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noUsage } from '../../../actors/voice/tariff.ts';
import {
  expireGrants,
  noLegs,
  openWallet,
  takeWrite,
  type Wallet,
} from '../../../actors/wallet/funds.ts';
import { holders } from '../../../actors/wallet/holders.ts';
import {
  extend,
  grant,
  grantIdOf,
  hold,
  nothingKnown,
  reduce,
  release,
  settle,
} from '../../../actors/wallet/ledger.ts';
import { debit, revoke } from '../../../actors/wallet/revocation.ts';
import { fc } from '../../harness/properties.ts';
import { auditEvent } from './bank.ts';
import { type Step, step } from './steps.ts';

const startMs = 1_000_000;

/** One coin is one microcredit, with the grant it came from: nothing is ever added up wrongly. */
interface Coin {
  grant: number;
  holder: string | null;
}

interface ModelGrant {
  purchase: boolean;
  expiresAtMs: number;
  madeAtMs: number;
  number: number;
  /** Nothing of it is free again. */
  revoked: boolean;
}

interface ModelHold {
  state: 'active' | 'expired' | 'settled' | 'released';
  reason: string;
  expiresAtMs: number;
  claimed: boolean;
  steps: Map<number, number>;
  lastStep: number;
  settled: { charge: number; shortfall: number } | null;
}

class Model {
  nowMs = startMs;
  coins: Coin[] = [];
  readonly grants: ModelGrant[] = [];
  readonly holds = new Map<string, ModelHold>();
  charged = 0;
  shortfall = 0;

  isExpired(coin: Coin): boolean {
    const from = this.grants[coin.grant];
    return from !== undefined && (from.revoked || from.expiresAtMs <= this.nowMs);
  }

  /** Free coins in spending order; expired ones are thrown away first. */
  free(): Coin[] {
    this.coins = this.coins.filter((coin) => coin.holder !== null || !this.isExpired(coin));
    return this.coins.filter((coin) => coin.holder === null).sort((a, b) => this.order(a, b));
  }

  order(a: Coin, b: Coin): number {
    const [left, right] = [this.grants[a.grant], this.grants[b.grant]];
    assert.ok(left !== undefined && right !== undefined);
    if (left.purchase !== right.purchase) return left.purchase ? 1 : -1;
    if (left.expiresAtMs !== right.expiresAtMs)
      return left.expiresAtMs < right.expiresAtMs ? -1 : 1;
    return left.madeAtMs - right.madeAtMs || left.number - right.number;
  }

  held(holdId: string): Coin[] {
    return this.coins.filter((coin) => coin.holder === holdId).sort((a, b) => this.order(a, b));
  }

  giveBack(holdId: string): void {
    for (const coin of this.held(holdId)) coin.holder = null;
    this.free();
  }

  spend(coins: Coin[]): void {
    const spent = new Set(coins);
    this.coins = this.coins.filter((coin) => !spent.has(coin));
  }
}

interface World {
  model: Model;
  wallet: Wallet;
  holdIds: string[];
  /** Replays an operation; its answer must be the first one. */
  done: (() => void)[];
  debits: number;
}

function newWorld(): World {
  const balances = noLegs();
  const row = { id: 'wal_model', version: 0n, balances, grants: [], debts: [], holds: [] };
  const wallet = openWallet(row, 1n, holders);
  return { model: new Model(), wallet, holdIds: [], done: [], debits: 0 };
}

function apply(world: World, step: Step): void {
  const { model, wallet } = world;
  expireGrants(wallet, model.nowMs);
  switch (step.do) {
    case 'grant':
      applyGrant(world, step);
      return;
    case 'hold':
      applyHold(world, step);
      return;
    case 'extend':
      applyExtend(world, step);
      return;
    case 'reduce':
      applyReduce(world, step);
      return;
    case 'settle':
      applySettle(world, step);
      return;
    case 'release':
      applyRelease(world, step);
      return;
    case 'revoke':
      applyRevoke(world, step);
      return;
    case 'debit':
      applyDebit(world, step);
      return;
    case 'wait':
      model.nowMs += step.ms;
      expireGrants(wallet, model.nowMs);
      return;
    case 'repeat': {
      const repeat = world.done[step.which % Math.max(1, world.done.length)];
      repeat?.();
    }
  }
}

function applyGrant(world: World, step: Step & { do: 'grant' }): void {
  const { model, wallet } = world;
  const number = model.grants.length;
  const expiresAtMs = step.purchase || step.lastsMs === null ? null : model.nowMs + step.lastsMs;
  const request = {
    operationId: `grant-${number}`,
    kind: step.purchase ? ('purchase' as const) : ('promotion' as const),
    amountMicros: BigInt(step.amount),
    expiresAtMs,
    note: '',
  };
  const reply = grant(wallet, request, nothingKnown(), model.nowMs);
  model.grants.push({
    purchase: step.purchase,
    expiresAtMs: expiresAtMs ?? Number.MAX_VALUE,
    madeAtMs: model.nowMs,
    number,
    revoked: false,
  });
  for (let coin = 0; coin < step.amount; coin += 1) {
    model.coins.push({ grant: number, holder: null });
  }
  assert.equal(reply.status, 'granted');
  // Two grants of the same millisecond are ordered by id, which the model cannot know.
  model.nowMs += 1;
  expireGrants(wallet, model.nowMs);
}

function applyHold(world: World, step: Step & { do: 'hold' }): void {
  const { model, wallet } = world;
  const holdId = `hold-${world.holdIds.length}`;
  world.holdIds.push(holdId);
  const claimed = step.amount % 2 === 0;
  const ownerId = `req-${holdId}`;
  const request = {
    holdId,
    amountMicros: BigInt(step.amount),
    owner: { kind: 'generation' as const, id: ownerId, instanceId: 'i' },
    expiresAtMs: model.nowMs + step.lastsMs,
    claim: claimed
      ? {
          id: ownerId,
          accountId: 'a',
          apiKeyId: null,
          route: 'r',
          idempotencyKey: null,
          fingerprint: 'f',
          model: 'm',
        }
      : null,
  };
  const free = model.free();
  const reply = hold(wallet, request, nothingKnown());
  if (free.length < step.amount) {
    assert.deepEqual(reply, {
      status: 'insufficient',
      requiredMicros: BigInt(step.amount),
      availableMicros: BigInt(free.length),
    });
    return;
  }
  assert.equal(reply.status, 'held');
  for (const coin of free.slice(0, step.amount)) coin.holder = holdId;
  model.holds.set(holdId, {
    state: 'active',
    reason: '',
    expiresAtMs: request.expiresAtMs,
    claimed,
    steps: new Map(),
    lastStep: 0,
    settled: null,
  });
  world.done.push(() => {
    const ended = model.holds.get(holdId)?.state === 'released';
    const again = hold(wallet, request, nothingKnown());
    assert.equal(again.status, ended ? 'unavailable' : 'held', 'a repeated hold');
  });
}

function pick(world: World, which: number): string {
  return world.holdIds[which % Math.max(1, world.holdIds.length)] ?? 'hold-none';
}

function applyExtend(world: World, step: Step & { do: 'extend' }): void {
  const { model, wallet } = world;
  const holdId = pick(world, step.which);
  const before = model.holds.get(holdId);
  const minimum = Math.min(step.minimum, step.amount);
  const number = (before?.lastStep ?? 0) + 1;
  const request = {
    holdId,
    step: number,
    amountMicros: BigInt(step.amount),
    minimumMicros: BigInt(minimum),
    expiresAtMs: 0,
  };
  const reply = extend(wallet, request, nothingKnown());
  if (before === undefined || before.state !== 'active') {
    assert.deepEqual(reply, { status: 'hold_not_active' });
    return;
  }
  const free = model.free();
  if (free.length < minimum) {
    assert.deepEqual(reply, { status: 'insufficient', availableMicros: BigInt(free.length) });
    return;
  }
  const added = Math.min(step.amount, free.length);
  assert.deepEqual(reply, { status: 'extended', addedMicros: BigInt(added) });
  for (const coin of free.slice(0, added)) coin.holder = holdId;
  before.lastStep = number;
  world.done.push(() => {
    if (before.state !== 'active' || before.lastStep !== number) return;
    assert.deepEqual(extend(wallet, request, nothingKnown()), reply, 'a repeated extension');
  });
}

function applyReduce(world: World, step: Step & { do: 'reduce' }): void {
  const { model, wallet } = world;
  const holdId = pick(world, step.which);
  const before = model.holds.get(holdId);
  const number = (before?.lastStep ?? 0) + 2;
  const request = {
    holdId,
    step: number,
    keepMicros: BigInt(step.keep),
    checkpoint: { id: 'vs', usage: noUsage, dueMicros: 0n, dueProviderMicros: 0n },
  };
  const reply = reduce(wallet, request);
  if (before === undefined || before.state !== 'active') {
    assert.deepEqual(reply, { status: 'hold_not_active' });
    return;
  }
  assert.deepEqual(reply, { status: 'reduced' });
  const given = model.held(holdId).slice(step.keep);
  for (const coin of given) coin.holder = null;
  model.free();
  if (given.length > 0) before.lastStep = number;
  world.done.push(() => {
    if (before.lastStep < number) return;
    const status = before.state === 'active' ? 'reduced' : 'hold_not_active';
    assert.deepEqual(reduce(wallet, request), { status }, 'a repeated reduction');
  });
}

function applySettle(world: World, step: Step & { do: 'settle' }): void {
  const { model, wallet } = world;
  const holdId = pick(world, step.which);
  const before = model.holds.get(holdId);
  const request = {
    holdId,
    chargeMicros: BigInt(step.charge),
    providerCostMicros: BigInt(Math.min(step.cost, step.charge)),
    finish: null,
  };
  const reply = settle(wallet, request, nothingKnown());
  if (before?.settled) {
    const { charge, shortfall } = before.settled;
    const first = { chargedMicros: BigInt(charge), shortfallMicros: BigInt(shortfall) };
    assert.deepEqual(reply, { status: 'settled', ...first }, 'the figures of the first one');
    return;
  }
  const mayBeLate = before?.reason === 'expired' || before?.reason === 'recovered';
  if (before === undefined || (before.state === 'released' && !mayBeLate)) {
    assert.deepEqual(reply, { status: 'hold_unknown' });
    return;
  }
  const own = model.held(holdId);
  const fromHold = own.slice(0, step.charge);
  model.spend(fromHold);
  model.giveBack(holdId);
  const fromFree = model.free().slice(0, step.charge - fromHold.length);
  model.spend(own.length >= step.charge ? [] : fromFree);
  const paid = fromHold.length + (own.length >= step.charge ? 0 : fromFree.length);
  const shortfall = step.charge - paid;
  model.charged += step.charge;
  model.shortfall += shortfall;
  before.state = 'settled';
  before.settled = { charge: step.charge, shortfall };
  assert.deepEqual(reply, {
    status: 'settled',
    chargedMicros: BigInt(step.charge),
    shortfallMicros: BigInt(shortfall),
  });
}

function applyRelease(world: World, step: Step & { do: 'release' }): void {
  const { model, wallet } = world;
  const holdId = pick(world, step.which);
  const before = model.holds.get(holdId);
  const request = { holdId, reason: step.reason, finish: null };
  const reply = release(wallet, request, model.nowMs);
  const isActive = before?.state === 'active';
  const isDue = step.reason !== 'expired' || (before?.expiresAtMs ?? 0) <= model.nowMs;
  if (before === undefined || !isDue || !(isActive || before.state === 'expired')) {
    assert.deepEqual(reply, { status: 'not_active' });
    return;
  }
  if (!isActive) {
    assert.deepEqual(reply, { status: 'not_active' });
    // The owner of an expired hold ends it: nothing to give back, but it is over.
    if (step.reason !== 'expired') before.state = 'released';
    return;
  }
  assert.deepEqual(reply, { status: 'released' });
  model.giveBack(holdId);
  before.reason = step.reason;
  before.state = step.reason === 'expired' && before.claimed ? 'expired' : 'released';
}

function applyRevoke(world: World, step: Step & { do: 'revoke' }): void {
  const { model, wallet } = world;
  const number = step.which % Math.max(1, model.grants.length);
  const from = model.grants[number];
  if (from === undefined || from.purchase || from.revoked) return;
  const freeNow = model.free().filter((coin) => coin.grant === number).length;
  from.revoked = true;
  model.free();
  const request = { grantId: grantIdOf(`grant-${number}`), event: auditEvent() };
  const reply = revoke(wallet, request, nothingKnown());
  assert.deepEqual(reply, { status: 'revoked', revokedMicros: BigInt(freeNow) });
  world.done.push(() => {
    const again = revoke(wallet, { ...request, event: auditEvent() }, nothingKnown());
    assert.deepEqual(again, reply, 'a repeated revocation');
  });
}

function applyDebit(world: World, step: Step & { do: 'debit' }): void {
  const { model, wallet } = world;
  const madeAt = ({ grant: number }: Coin) => model.grants[number]?.madeAtMs ?? 0;
  const promoted = model
    .free()
    .filter((coin) => model.grants[coin.grant]?.purchase === false)
    .sort((a, b) => madeAt(b) - madeAt(a));
  const operationId = `debit-${world.debits}`;
  world.debits += 1;
  const request = { operationId, amountMicros: BigInt(step.amount), event: auditEvent() };
  const reply = debit(wallet, request, nothingKnown());
  const availableMicros = BigInt(model.free().length);
  if (promoted.length < step.amount) {
    const freeMicros = BigInt(promoted.length);
    assert.deepEqual(reply, { status: 'insufficient', freeMicros, availableMicros });
    return;
  }
  model.spend(promoted.slice(0, step.amount));
  assert.equal(reply.status, 'debited');
  world.done.push(() => {
    const again = debit(wallet, { ...request, event: auditEvent() }, nothingKnown());
    assert.equal(again.status, 'debited', 'a repeated debit');
  });
}

function assertSame({ model, wallet }: World): void {
  const free = model.free();
  const { balances } = wallet;
  assert.equal(balances.walletMicros, BigInt(free.length), 'available');
  const held = model.coins.length - free.length;
  assert.equal(balances.heldMicros, BigInt(held), 'held');
  assert.equal(balances.revenueMicros + balances.providerCostMicros, BigInt(model.charged));
  assert.equal(balances.shortfallMicros, BigInt(-model.shortfall));
  assert.equal(
    Object.values(balances).reduce((sum, value) => sum + value, 0n),
    0n,
    'the sum over all accounts',
  );
  let freeMicros = 0n;
  let heldMicros = 0n;
  for (const each of wallet.grants) {
    assert.ok(each.heldMicros >= 0n && each.heldMicros <= each.remainingMicros);
    freeMicros += each.remainingMicros - each.heldMicros;
    heldMicros += each.heldMicros;
  }
  assert.equal(freeMicros, balances.walletMicros, 'grants have free what is available');
  assert.equal(heldMicros, balances.heldMicros, 'grants have held what is held');
  for (const each of wallet.holds.values()) {
    const sum = each.legs.reduce((total, leg) => total + leg.micros, 0n);
    assert.equal(sum, each.amountMicros, 'legs add up to the hold');
    assert.equal(model.held(each.id).length, Number(each.amountMicros), each.id);
  }
}

test('any run of operations leaves the wallet as a plain model says', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const world = newWorld();
      for (const each of steps) {
        apply(world, each);
        assertSame(world);
      }
      const write = takeWrite(world.wallet);
      if (write === null) return;
      const total = noLegs();
      for (const entry of write.entries) {
        for (const name of Object.keys(noLegs()) as (keyof typeof total)[]) {
          total[name] += entry.legs[name];
        }
      }
      assert.deepEqual(total, write.balances, 'the journal adds up to the balances');
      const ids = write.entries.map((entry) => entry.operationId);
      assert.equal(new Set(ids).size, ids.length, 'no operation is applied twice');
    }),
    // fast-check prints seed and path of a failure.
    { numRuns: 3_000 },
  );
});
