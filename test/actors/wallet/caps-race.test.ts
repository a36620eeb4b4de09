// Caps change while three systems hold, extend and settle: none that stands is passed. And the
// books find whatever of the counters is wrong.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { auditLedger } from '../../../db/audit.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { type Bank, type Branch, openBank } from './bank.ts';
import { type Company, change, companyKey, holdBy, newCompany } from './company.ts';
import { limitOf, settlement } from './limited-keys.ts';

let bank: Bank;
let branches: [Branch, Branch, Branch];
before(async () => {
  bank = await openBank();
  branches = [bank.branch(), bank.branch(), bank.branch()];
});
after(() => bank.close());

const random = createRandom(testSeed);
const below = (most: number) => Math.floor(random() * most);

/** Holds, and ends it in one of the ways. */
async function work(branch: Branch, walletId: string, accountId: string): Promise<void> {
  const hold = holdBy(accountId, below(30));
  const reply = await branch.ask(walletId, 'hold', hold);
  if (reply.status !== 'held') return;
  const { holdId, expiresAtMs } = hold;
  if (below(3) === 0) {
    const most = { amountMicros: 20n, minimumMicros: 0n, expiresAtMs };
    await branch.ask(walletId, 'extend', { holdId, step: 1, ...most });
  }
  if (below(4) === 0) {
    await branch.ask(walletId, 'release', { holdId, reason: 'failed', finish: null });
  } else await branch.ask(walletId, 'settle', settlement(hold, below(60)));
}

interface Bounded {
  /** What a spender had when its cap was changed last. */
  before: number;
  cap: number;
}

/** Sets a cap, and holds what was spent and held meanwhile against the one before. */
async function changeCap(
  company: Company,
  spender: string,
  { before: had, cap }: Bounded,
): Promise<Bounded> {
  const next = below(1_500);
  return change(bank, company, async (sql) => {
    const [row] = await sql<{ total: number }[]>`
      SELECT (spent_micros + held_micros)::float8 AS total FROM spend
      WHERE wallet_id = ${company.walletId} AND spender = ${spender}`;
    const total = row?.total ?? 0;
    assert.ok(total <= Math.max(had, cap), `${total} of ${cap}, and ${had} before`);
    if (spender === company.walletId) {
      await sql`UPDATE organizations SET settings = settings
          || jsonb_build_object('monthly_spend_limit_micros', ${total + next}::integer)
        WHERE id = ${company.id}`;
    } else {
      await sql`UPDATE organization_members SET cap_micros = ${total - 100 + next}::integer
        WHERE account_id = ${spender} AND ${total} > 100`;
    }
    const [after] = await sql<{ cap: number }[]>`
      SELECT cap_micros::float8 AS cap FROM organization_members WHERE account_id = ${spender}`;
    return { before: total, cap: after?.cap ?? total + next };
  });
}

test(`caps change 50 times meanwhile, and none is passed (seed ${testSeed})`, async () => {
  const company = await newCompany(bank, { cap: 500, members: [{ cap: 300 }, { cap: 400 }] });
  const { walletId, members } = company;
  const [first = '', second = ''] = members;
  const bounds = new Map<string, Bounded>([
    [walletId, { before: 0, cap: 500 }],
    [first, { before: 0, cap: 300 }],
    [second, { before: 0, cap: 400 }],
  ]);
  let running = true;
  const worked = Array.from({ length: 18 }, async (_, index) => {
    while (running) {
      const branch = branches[index % 3];
      if (branch !== undefined) await work(branch, walletId, members[below(2)] ?? '');
    }
  });
  try {
    for (let times = 0; times < 50; times += 1) {
      const [spender, bounded] = [...bounds][times % 3] ?? [walletId, { before: 0, cap: 0 }];
      bounds.set(spender, await changeCap(company, spender, bounded));
      await new Promise((resolve) => setTimeout(resolve, below(20)));
      if (times % 25 === 10) await bank.assertBooks();
    }
  } finally {
    running = false;
    await Promise.all(worked);
  }
  const [sums] = await bank.sql<{ all: bigint; each: bigint; count: bigint }[]>`
    SELECT sum(spent_micros) FILTER (WHERE spender = ${walletId}) AS all, count(*) AS count,
      sum(spent_micros) FILTER (WHERE spender <> ${walletId}) AS each
    FROM spend WHERE wallet_id = ${walletId}`;
  assert.ok(sums !== undefined && sums.all > 500n, 'caps grew, and much was spent');
  assert.deepEqual([sums.all, sums.count], [sums.each, 3n]);
  await bank.assertBooks();
  assert.deepEqual(bank.errors, []);
});

/** Takes a fault back. */
class Found extends Error {
  readonly rules: string[];
  constructor(rules: string[]) {
    super('found');
    this.rules = rules;
  }
}

async function rulesBrokenBy(fault: string): Promise<string[]> {
  try {
    await bank.sql.begin(async (transaction) => {
      await transaction.unsafe(fault);
      const asIt = { begin: (_how: string, run: (sql: unknown) => unknown) => run(transaction) };
      const findings = await auditLedger(asIt as never);
      throw new Found(findings.filter(({ broken }) => broken > 0n).map(({ rule }) => rule));
    });
  } catch (error) {
    if (error instanceof Found) return error.rules;
    throw error;
  }
  return [];
}

test('whatever of the counters is wrong is found', async () => {
  const company = await newCompany(bank, { members: [{ cap: 100 }] });
  const { walletId, members } = company;
  const [accountId = ''] = members;
  const keyId = await companyKey(bank, company, accountId, limitOf(100, 'month'));
  const [settled, held] = [holdBy(accountId, 10, keyId), holdBy(accountId, 20)];
  for (const hold of [settled, held]) await branches[0].ask(walletId, 'hold', hold);
  await branches[0].ask(walletId, 'settle', settlement(settled, 10));
  await bank.assertBooks();
  const [spent, journal, holds, period] = [
    /^what a spender has spent/,
    /^what an organization has spent/,
    /^what a spender has held/,
    /^a counter is of the period/,
  ];
  const of = (spender: string) => `WHERE wallet_id = '${walletId}' AND spender = '${spender}'`;
  const owner = `WHERE id = '${settled.owner.id}'`;
  const faults: readonly (readonly [fault: string, ...rules: RegExp[]])[] = [
    [`UPDATE spend SET spent_micros = spent_micros + 1 ${of(accountId)}`, spent],
    [`UPDATE spend SET spent_micros = spent_micros - 1 ${of(keyId)}`, spent],
    [`UPDATE spend SET brought_micros = 1 ${of(keyId)}`, spent],
    [`UPDATE spend SET spent_micros = spent_micros + 1 ${of(walletId)}`, journal],
    [`UPDATE spend SET held_micros = held_micros - 1 ${of(accountId)}`, holds],
    [`UPDATE spend SET held_micros = held_micros + 1 ${of(walletId)}`, holds],
    [`UPDATE spend SET held_micros = held_micros + 1 ${of(keyId)}`, holds],
    [`UPDATE holds SET amount_micros = 21 WHERE id = '${held.holdId}'`, holds],
    [`DELETE FROM spend ${of(accountId)}`, spent, holds],
    [`DELETE FROM spend ${of(walletId)}`, journal, holds],
    [`UPDATE spend SET period = 'day' ${of(walletId)}`, period],
    [`UPDATE spend SET spender = 'acc_stranger' ${of(accountId)}`, period, spent, holds],
    [`UPDATE generations SET charge_micros = 9 ${owner}`, spent],
    [`UPDATE generations SET account_id = '${company.accountId}' ${owner}`, spent],
    [`UPDATE generations SET api_key_id = NULL ${owner}`, spent],
  ];
  for (const [fault, ...rules] of faults) {
    const broken = await rulesBrokenBy(fault);
    for (const rule of rules) {
      const isFound = broken.some((name) => rule.test(name));
      assert.ok(isFound, `${fault}: ${rule} is not of ${broken.join(', ')}`);
    }
  }
  await bank.assertBooks();
});

test('a wallet of an organization counts from its beginning', async () => {
  const { walletId } = await newCompany(bank);
  await assert.rejects(
    bank.sql`UPDATE wallets SET counts = false WHERE id = ${walletId}`.execute(),
    /organization_counts/,
  );
});
