// The texts of the ledger's statement, held as digests: PostgreSQL plans each text once, and an old
// plan must go on fitting. A digest changes only together with a measured reason.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { noLegs } from '../../actors/wallet/funds.ts';
import type { Queryable } from '../../db/driver/sql.ts';
import { creditParts } from '../../db/ledger/credits.ts';
import { holderRows } from '../../db/ledger/holders.ts';
import { emptyWrite, type WalletWrite } from '../../db/ledger/write.ts';
import { createLedger } from '../../db/ledger.ts';
import { ledger } from '../harness/ledger.ts';

/** Adds a row of a holder's part. */
function own(write: WalletWrite, part: string, row: object): void {
  write.owned = { ...write.owned, [part]: [...(write.owned[part] ?? []), row] };
}

/** Parts by name, in the order of the statement, each with how it adds one row to a write. */
const rowsOf: readonly (readonly [name: string, add: (write: WalletWrite) => void])[] = [
  ['entries', (write) => write.entries.push(entry)],
  ['new_holds', (write) => write.newHolds.push(hold)],
  ['changed_holds', (write) => write.changedHolds.push(hold)],
  ['ended_holds', (write) => write.endedHolds.push('hold')],
  ['new_grants', (write) => write.newGrants.push(grant)],
  ['changed_grants', (write) => write.changedGrants.push(grant)],
  ['freed_keys', (write) => own(write, 'freed_keys', { generationId: 'gen', old: false })],
  ['claims', (write) => own(write, 'claims', claim)],
  ['finishes', (write) => own(write, 'finishes', { ...finish, routingJson: null })],
  ['routed_finishes', (write) => own(write, 'finishes', { ...finish, routingJson: '{}' })],
  ['session_claims', (write) => own(write, 'session_claims', sessionClaim)],
  ['session_dues', (write) => own(write, 'session_dues', due)],
  ['session_finishes', (write) => own(write, 'session_finishes', sessionFinish)],
];
const entry = { operationId: 'op', kind: 'hold' as const, reason: null, legs: noLegs() };
const hold = {
  id: 'hold',
  amountMicros: 1n,
  legs: [],
  ownerKind: 'generation',
  ownerId: 'gen',
  instanceId: 'ins',
  claimed: true,
  attempt: 1n,
  step: 0,
  stepMicros: 0n,
  expiresAtMs: 1,
  expired: false,
};
const grant = {
  id: 'grant',
  operationId: 'op',
  kind: 'promotion' as const,
  note: '',
  amountMicros: 1n,
  remainingMicros: 1n,
  heldMicros: 0n,
  expiresAtMs: null,
  expired: false,
  createdAtMs: 1,
};
const event = {
  id: 'aud',
  accountId: 'acc',
  actor: 'acc',
  action: 'wallet.debit',
  subject: 'wallet:wal',
  details: {},
  operationId: 'op',
};
const owner = { accountId: 'acc', apiKeyId: null, model: 'm', instanceId: 'ins', holdId: 'hold' };
const claim = { ...owner, id: 'gen', route: '/', idempotencyKey: null, fingerprint: '' };
const finish = {
  id: 'gen',
  status: 'completed' as const,
  answerJson: null,
  usageJson: null,
  problemJson: null,
  chargeMicros: 1n,
  late: false,
};
const usage = {
  inputSpeechTokens: 0,
  inputTextTokens: 0,
  outputSpeechTokens: 0,
  outputTextTokens: 0,
  searchCalls: 0,
};
const sessionClaim = { ...owner, id: 'vs', voiceId: 'voice' };
const due = { id: 'vs', usage, dueMicros: 1n, dueProviderMicros: 1n };
const sessionFinish = {
  id: 'vs',
  reason: 'ended',
  source: 'reported' as const,
  usage,
  chargeMicros: 1n,
  late: false,
};

function writeOf(bits: number, times: number): WalletWrite {
  const head = { walletId: 'wal', version: 1n, nextVersion: 2n, balances: noLegs() };
  const write = emptyWrite(head);
  rowsOf.forEach(([, add], index) => {
    for (let n = 0; n < times; n += 1) if ((bits & (1 << index)) !== 0) add(write);
  });
  return write;
}

/** The text that these writes make. */
async function textOf(writes: readonly WalletWrite[]): Promise<string> {
  let text = '';
  const unsafe = (statement: string) => {
    text = statement;
    return Promise.resolve([]);
  };
  await ledger.applyWrites({ unsafe } as unknown as Queryable, writes);
  return text;
}

/** A digest of the texts of every set of parts, in order. */
async function digestOf(writesOf: (bits: number) => WalletWrite[]): Promise<string> {
  const hash = createHash('sha256');
  const sets = 2 ** rowsOf.length;
  for (let bits = 0; bits < sets; bits += 1) hash.update(`${await textOf(writesOf(bits))}\n\n`);
  return hash.digest('hex');
}

test('every text of the statement is the one that was measured', async () => {
  const made = {
    row: await digestOf((bits) => [writeOf(bits, 1)]),
    rows: await digestOf((bits) => [writeOf(bits, 2)]),
    writes: await digestOf((bits) => [writeOf(bits, 1), writeOf(bits, 1)]),
  };
  assert.deepEqual(made, {
    row: 'cebdbd5f24ef2b3db92ad61fccf958ef0f8e32d94ef13eecfceb7158875b86c2',
    rows: 'b536aa8cce776cbb90651dd01f21a132f45fe3e2def2c122fac66ea14ce08e34',
    writes: 'c95d016edd3b96b94e260c44025b8ab6a0f4566873e60828b4656a639821bf74',
  });
});

test('an audit event is a part of its own, which no other text has', async () => {
  const events = (write: WalletWrite) => own(write, 'audit_rows', event);
  const bare = writeOf(0b10_0001, 1);
  const audited = writeOf(0b10_0001, 1);
  events(audited);
  assert.doesNotMatch(await textOf([bare]), /audit/);
  const text = await textOf([audited]);
  assert.equal(text.match(/INSERT INTO audit_events/g)?.length, 1);
  // What stands before it is what was measured.
  const [before] = text.split(',\naudit_rows AS (');
  const [same] = (await textOf([bare])).split('\nSELECT id FROM moved');
  assert.equal(before, same);
});

test('counters stand behind all others: a hold without a cap has none of them', async () => {
  const counter = { spender: 'key', period: 'day', startsMs: 0 };
  const bare = writeOf(0b1000_0011, 1);
  const counted = writeOf(0b1000_0011, 1);
  own(counted, 'counters', { ...counter, endsMs: 1, spentMicros: 0n, heldMicros: 1n });
  assert.doesNotMatch(await textOf([bare]), /spend/);
  const text = await textOf([counted]);
  const [before] = text.split(',\ncounters AS (');
  const [same] = (await textOf([bare])).split('\nSELECT id FROM moved');
  assert.equal(before, same, 'what stands before them is what was measured');
  assert.equal(text.match(/INSERT INTO spend/g)?.length, 1);
});

test('the texts hold the parts that a batch needs, and no other', async () => {
  for (const [index, [name]] of rowsOf.entries()) {
    const text = await textOf([writeOf(1 << index, 1)]);
    const named = rowsOf
      .map(([other]) => other)
      .filter((other) => text.includes(`\n${other} AS (`));
    assert.deepEqual(named, [name]);
  }
});

test('a statement has at most 32 parts: one more would stand for the first', () => {
  const [first] = holderRows;
  assert.ok(first !== undefined);
  const [part] = first.parts;
  assert.ok(part !== undefined);
  // The ledger has seven of its own, those of owners of credits, and counters.
  const free = 32 - 7 - creditParts.length - 1;
  const holder = (count: number) => ({
    ...first,
    parts: Array.from({ length: count }, () => part),
  });
  assert.ok(createLedger([holder(free)]));
  assert.throws(() => createLedger([holder(free + 1)]), /32 parts at most/);
});
