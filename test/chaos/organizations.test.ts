// kill -9 under a crowd of members with a cap of each kind, while caps are changed. None is passed,
// the books are right, and the audit has every act that was answered.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../db/audit.ts';
import { exportOf, verifyLines, vkeysOf } from '../actors/audit/stage.ts';
import { Contract } from '../harness/contract.ts';
import { sampledRuns } from '../harness/sample.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { makePerson, type TestPerson } from '../routes/me/person.ts';
import {
  type Company,
  join,
  type Members,
  makeCompany,
  rowOf,
} from '../routes/organizations/company.ts';
import { chat, openAgent, type Told } from './client.ts';
import { isGood } from './load.ts';
import { assertLedger, cleanUp, onCleanUp, until } from './reach.ts';
import { type Chance, openChance } from './seed.ts';

// slow: It kills and restarts a real process under load.

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed({ own: 'it is killed' });
  contract = await Contract.load(bed.url);
});
after(async () => {
  await cleanUp();
  await bed?.close();
});

const clientsPerKey = 4;
const funds = 1_000_000_000_000n;
const killApartMs = 10_000;

/** Who calls, and what counts for it beside the organization. */
interface Caller {
  name: 'default' | 'own' | 'exempt' | 'key' | 'organization';
  token: string;
  /** The counter that its cap is on; null: the one of the organization alone. */
  spender: string | null;
  person: TestPerson | null;
  keyId: string;
}

interface Cast {
  company: Company;
  walletId: string;
  callers: Caller[];
  /** What one call holds: caps are some of them above what is spent. */
  callMicros: number;
}

const maxTokens = 60;

async function keyOf({ id }: Company, person: TestPerson): Promise<{ id: string; token: string }> {
  const headers = { 'x-svc-session': person.session.token, 'x-svc-organization': `${id}` };
  const body = { label: 'crowd', scopes: ['models:generate'] };
  const made = await contract.call('POST', '/api/me/api-keys', { headers, body });
  assert.equal(made.status, 201, made.text);
  const key = made.json.api_key as { id: string };
  return { id: key.id, token: made.json.raw_token as string };
}

async function castOf(): Promise<Cast> {
  const company = await makeCompany(bed, contract);
  const { wallet_id: walletId } = await rowOf(bed, company);
  const grant = {
    kind: 'promotion',
    amountMicros: funds,
    note: 'test',
    expiresAtMs: null,
  } as const;
  await bed.wallet(walletId, 'grant', { ...grant, operationId: `test.${walletId}` });
  const callers: Caller[] = [];
  for (const name of ['default', 'own', 'exempt', 'key'] as const) {
    const person = await makePerson(bed, contract);
    await join(company, person, name === 'exempt' ? 'admin' : 'member');
    const { id: keyId, token } = await keyOf(company, person);
    const [row] = await bed.sql<{ account_id: string }[]>`
      SELECT account_id FROM api_keys WHERE id = ${keyId}`;
    const spender = { default: row?.account_id, own: row?.account_id, key: keyId, exempt: null };
    callers.push({ name, token, spender: spender[name] ?? null, person, keyId });
  }
  const body = { label: 'house', scopes: ['models:generate'] };
  const house = await company.owner.call('POST', `${company.path}/keys`, body);
  assert.equal(house.status, 201, house.text);
  const { id: keyId } = house.json.api_key as { id: string };
  const token = house.json.raw_token as string;
  callers.push({ name: 'organization', token, spender: null, person: null, keyId });
  return { company, walletId, callers, callMicros: await heldByCall(company, token) };
}

/** As its refusal says. */
async function heldByCall({ owner, path }: Company, apiKey: string): Promise<number> {
  const settings = { monthly_spend_limit_micros: 0 };
  assert.equal((await owner.call('PATCH', `${path}/settings`, { settings })).status, 200);
  const { status, headers } = await chat(bed.gateway, { text: 'How much?', apiKey, maxTokens });
  assert.equal(status, 402);
  return Number(headers['x-svc-required-microcredits']);
}

async function spentBy(
  walletId: string,
  spender: string,
): Promise<{ spent: number; held: number }> {
  const [row] = await bed.sql<{ spent: number; held: number }[]>`
    SELECT coalesce(sum(spent_micros), 0)::float8 AS spent,
      coalesce(sum(held_micros), 0)::float8 AS held
    FROM spend WHERE wallet_id = ${walletId} AND spender = ${spender}`;
  assert.ok(row !== undefined);
  return { ...row };
}

/** Caps for a round: the counter of each, and how far it may go. */
type Caps = Map<string, number>;

function capOf(caps: Caps, spender: string | null): number {
  const cap = caps.get(spender ?? '');
  assert.ok(cap !== undefined);
  return cap;
}

async function setCaps({ company, walletId, callers, callMicros }: Cast): Promise<Caps> {
  const caps: Caps = new Map();
  const more = async (spender: string, calls: number) => {
    caps.set(spender, (await spentBy(walletId, spender)).spent + calls * callMicros);
  };
  await more(walletId, 60);
  for (const { spender } of callers) if (spender !== null) await more(spender, 10);
  const of = (name: Caller['name']) => {
    const caller = callers.find((each) => each.name === name);
    assert.ok(caller !== undefined);
    return { caller, cap: capOf(caps, caller.spender) };
  };
  const { owner, path } = company;
  const settings = {
    monthly_spend_limit_micros: capOf(caps, walletId),
    default_member_spend_limit_micros: of('default').cap,
  };
  const own = { monthly_spend_limit_micros: of('own').cap };
  const { keyId, person } = of('key').caller;
  const limit = { amount_microcredits: of('key').cap, period: 'month' };
  const acts: [string, string, Members][] = [
    ['PATCH', `${path}/settings`, { settings }],
    ['PATCH', `${path}/members/${of('own').caller.person?.accountId}`, own],
    // The cap of its person stands out of its way.
    ['PATCH', `${path}/members/${person?.accountId}`, { monthly_spend_limit_micros: 1e12 }],
  ];
  for (const [method, where, body] of acts) {
    const reply = await owner.call(method, where, body);
    assert.equal(reply.status, 200, reply.text);
  }
  const headers = {
    'x-svc-session': person?.session.token ?? '',
    'x-svc-organization': `${company.id}`,
  };
  const body = { api_key_id: keyId, spend_limit: limit };
  const limited = await contract.call('POST', '/api/me/api-keys/update', { headers, body });
  assert.equal(limited.status, 200, limited.text);
  return caps;
}

interface Crowd {
  told: Told[];
  /** How often each caller was refused for a cap since the last `forget`. */
  refused: Map<string, number>;
  /** Changes of caps that were answered. */
  changed(): number;
  stop(): Promise<void>;
}

function startCrowd(cast: Cast, caps: Caps, chance: Chance, name: string): Crowd {
  const { company, callers, callMicros } = cast;
  const agent = openAgent(callers.length * clientsPerKey);
  const told: Told[] = [];
  const refused = new Map<string, number>();
  let going = true;
  let changed = 0;
  onCleanUp(() => {
    going = false;
  });
  const one = async (caller: Caller, client: number) => {
    for (let number = 0; going; number += 1) {
      const key = `${name}-${caller.name}-${client}-${number}`;
      const directive = `[[sim tokens=${chance.integer(1, 40)} gap_ms=${chance.pick([0, 2, 5])}]]`;
      const call = { text: `${key} ${directive}`, key, apiKey: caller.token, maxTokens };
      const stream = chance.integer(0, 1) === 0;
      const reply = await chat(bed.gateway, { ...call, stream, dispatcher: agent });
      told.push(reply);
      if (reply.status === 402) refused.set(caller.name, (refused.get(caller.name) ?? 0) + 1);
      if (!isGood(reply)) await sleep(reply.status === 402 ? 20 : 200);
    }
  };
  const capped = callers.find((caller) => caller.name === 'own');
  /** The own cap goes down and up again, never above the one of the round. */
  const changing = async () => {
    for (let number = 0; going; number += 1) {
      const cap = capOf(caps, capped?.spender ?? null) - (number % 2 === 0 ? callMicros : 0);
      const where = `${company.path}/members/${capped?.person?.accountId}`;
      const body = { monthly_spend_limit_micros: cap };
      const reply = await company.owner.call('PATCH', where, body).catch(() => null);
      if (reply?.status === 200) changed += 1;
      await sleep(30);
    }
  };
  const all = Promise.all([
    changing(),
    ...callers.flatMap((caller) =>
      Array.from({ length: clientsPerKey }, (_, client) => one(caller, client)),
    ),
  ]);
  return {
    told,
    refused,
    changed: () => changed,
    async stop() {
      going = false;
      await all;
      await agent.destroy();
    },
  };
}

async function assertCaps({ walletId }: Cast, caps: Caps, when: string): Promise<void> {
  for (const [spender, cap] of caps) {
    const { spent, held } = await spentBy(walletId, spender);
    assert.ok(spent + held <= cap, `${when}: ${spender} has ${spent} + ${held} of ${cap}`);
  }
}

async function assertBooks({ walletId }: Cast, told: readonly Told[]): Promise<void> {
  const wrong = (await auditLedger(bed.sql)).filter(({ broken }) => broken > 0n);
  assert.deepEqual(wrong, []);
  await assertLedger(bed.gateway, { DATABASE_URL: bed.database.url });
  // A client that was cut off was told nothing, so more may be spent than was told.
  const sum = told.reduce((all, { usage }) => all + (usage?.charge_microcredits ?? 0), 0);
  assert.ok(sum > 0 && sum <= (await spentBy(walletId, walletId)).spent);
}

/** The whole audit verifies, with every checkpoint that was ever told; all acts are in it. */
async function assertAudit({ company }: Cast, notes: string[], changes: number): Promise<void> {
  const made = await company.owner.call('POST', `${company.path}/audit/checkpoints`);
  assert.equal(made.status, 201, made.text);
  notes.push((made.json.checkpoint as { note: string }).note);
  const audited = { id: company.id, ownerId: company.owner.accountId };
  const lines = await exportOf(bed.sql, audited);
  for (const note of notes) {
    const report = verifyLines(lines, await vkeysOf(bed.sql, audited), [note]);
    assert.deepEqual([report.exit, report.completeness], [0, 'ok'], JSON.stringify(report));
  }
  const found = lines.filter((line) => line.includes('member.update')).length;
  assert.ok(found >= changes, `${found} records of ${changes} changes`);
}

test('killed under a crowd with caps: none is passed, books and audit are whole', async () => {
  const chance = openChance('organizations');
  const cast = await castOf();
  const { walletId } = cast;
  const told: Told[] = [];
  const notes: string[] = [];
  const rounds = sampledRuns(10, 2);
  let changes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const begunMs = performance.now();
    const caps = await setCaps(cast);
    const crowd = startCrowd(cast, caps, chance, `${chance.seed}-${round}`);
    await until('some answers', 15_000, () => crowd.told.filter(isGood).length >= 10);
    await sleep(chance.integer(0, 300));
    await bed.gateway.killMain();
    await assertCaps(cast, caps, 'just killed');
    crowd.refused.clear();
    const names = cast.callers.map(({ name }) => name);
    await until('each cap is met', 15_000, () => names.every((name) => crowd.refused.has(name)));
    await crowd.stop();
    await until('nothing is held', 15_000, async () => {
      const rows = await bed.sql`SELECT 1 FROM holds WHERE wallet_id = ${walletId}`;
      return rows.length === 0;
    });
    told.push(...crowd.told);
    changes += crowd.changed();
    await assertCaps(cast, caps, 'quiet');
    await assertBooks(cast, told);
    await assertAudit(cast, notes, changes);
    const good = crowd.told.filter(isGood).length;
    console.log(`# ${good} answers of ${crowd.told.length} calls, ${crowd.changed()} caps changed`);
    // A process that ends more often is given up.
    if (rounds > 4) await sleep(Math.max(0, begunMs + killApartMs - performance.now()));
  }
});
