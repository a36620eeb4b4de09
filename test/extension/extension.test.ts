// A new domain takes its place while shard, wallet and ledger stay as they are. It has its actor,
// its rows in the statement, its route, its part of a drain, and its way to end left holds.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildSnapshot } from '../../actors/catalog/snapshot.ts';
import { nodeActorId } from '../../actors/node/node.ts';
import { createProcessKinds } from '../../actors/tree.ts';
import { createDirectWallet } from '../../actors/wallet/direct.ts';
import { walletLimits } from '../../actors/wallet/limits.ts';
import { reconcile } from '../../actors/wallet/reconcile.ts';
import { endsThrough, recoverDead } from '../../actors/wallet/recovery.ts';
import { auditLedger } from '../../db/audit.ts';
import { emptyCatalog } from '../../db/catalog.ts';
import type { Sql } from '../../db/driver/sql.ts';
import { listHoldsOfInstances } from '../../db/holds.ts';
import { registerInstance } from '../../db/instances.ts';
import { createBudgetCounters } from '../../media/audio/budget.ts';
import { createActorSystem } from '../../runtime/actor/system.ts';
import type { ShardBoot } from '../../runtime/boot.ts';
import { readConfig } from '../../runtime/config.ts';
import { createFailureBuffers } from '../../runtime/failure-limiter.ts';
import { createAnswerBuffers } from '../../runtime/limiter/answers.ts';
import { createGiveawayBuffers } from '../../runtime/limiter/giveaways.ts';
import { createLimiterBuffers } from '../../runtime/limiter.ts';
import { Mesh } from '../../runtime/shard/mesh.ts';
import { startThreads, type Threads } from '../../runtime/shard/threads.ts';
import { makeAccount, type TestAccount } from '../harness/account.ts';
import { openTestDatabase, type TestDatabase } from '../harness/database.ts';
import { freePort } from '../harness/port.ts';
import { allHolders, parcelRows, parcelTable } from './parcels.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const instanceId = 'i-extended';
const rows = allHolders.all.map((holder) => holder.rows);

let database: TestDatabase;
let sql: Sql;
let threads: Threads;
let account: TestAccount;
let lost: (ownerIds: string[]) => Promise<string[] | null>;
let wallet: ReturnType<typeof createDirectWallet>;

before(async () => {
  database = await openTestDatabase();
  sql = database.pool('general', 2);
  await sql.unsafe(parcelTable);
  await registerInstance(sql, instanceId, 60_000);
  const port = await freePort();
  const config = readConfig({ DATABASE_URL: database.url, PORT: `${port}`, TOLLGATE_SHARDS: '1' });
  const limits = walletLimits;
  wallet = createDirectWallet({ sql, clock: Date.now, limits, log: silent, holders: allHolders });
  await startMain(port, config);
  account = await makeAccount({ baseUrl: `http://127.0.0.1:${port}`, sql, wallet }, {});
});
after(async () => {
  await threads.stop(2_000, 5_000);
  await database.close();
});

/** What the main thread is to one shard: it gives the launch order, and asks what was lost. */
async function startMain(port: number, config: ShardBoot['config']): Promise<void> {
  const mesh = new Mesh(0, silent);
  let serving = () => {};
  const isServing = new Promise<void>((resolve) => {
    serving = resolve;
  });
  const snapshot = buildSnapshot({ ...emptyCatalog, creditsPerUsd: 100 } as never, () => 0);
  const board = { revision: 0, notices: [], releases: [], social: { revision: 0, profiles: [] } };
  const order = { catalog: { sequence: 1, snapshot }, board, port, unboundSealsUntilMs: 0 };
  const kinds = createProcessKinds({
    director: { order: async () => order, serving: () => serving() },
    catalog: null as never,
    monitor: null as never,
    tasks: null as never,
    videoDesk: null as never,
    analysisDesk: null as never,
    mailDesk: null as never,
    personalDataDesk: null as never,
    rewardDesk: null as never,
    paymentDesk: null as never,
  });
  const { director, node } = kinds;
  const system = createActorSystem({
    node: 0,
    kinds: [director, node],
    log: silent,
    transport: mesh,
  });
  lost = async (ownerIds) => {
    const actor = system.at(node, { node: 1, kind: node.name, id: nodeActorId });
    const answer = await actor.ask('lost', ownerIds, 2_000);
    return answer.ok ? answer.value : null;
  };
  const data: ShardBoot = {
    config,
    databaseUrl: database.url,
    simulatorUrl: null,
    instanceId,
    limiter: createLimiterBuffers(Date.now(), 1, 1_000),
    failures: createFailureBuffers(Date.now()),
    giveaways: createGiveawayBuffers(Date.now()),
    answers: createAnswerBuffers(Date.now()),
    masterKey: Buffer.alloc(32).toString('base64url'),
    soundCounters: createBudgetCounters(1),
    version: 'test',
  };
  threads = await startThreads({
    mesh,
    entry: new URL('./parcels-thread.js', import.meta.url),
    shardCount: 1,
    data,
    readyTimeoutMs: 30_000,
    failingTimeoutMs: 5_000,
    restartsMax: 1,
    restartsWithinMs: 60_000,
    onGivenUp: () => assert.fail('the shard cannot be kept alive'),
    log: silent,
  });
  await isServing;
}

async function send(label: string, micros: number, slow = false): Promise<Response> {
  return await fetch(`${account.baseUrl}/v1/parcels`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ label, micros, slow }),
  });
}

async function parcel(id: string) {
  const [row] = await sql<{ state: string; charge_micros: bigint | null }[]>`
    SELECT state, charge_micros FROM parcels WHERE id = ${id}`;
  return row === undefined ? null : { ...row };
}

async function assertBooks(): Promise<void> {
  const findings = await auditLedger(sql, undefined, rows);
  assert.ok(
    findings.some(({ rule }) => rule.includes('parcel')),
    'its rules are among them',
  );
  assert.deepEqual(
    findings.filter(({ broken }) => broken > 0n),
    [],
  );
}

test('its route holds, writes its row and settles through the shard as it is', async () => {
  const before = await account.balance();
  const reply = await send('books', 700);
  assert.equal(reply.status, 200);
  const { id } = (await reply.json()) as { id: string };
  assert.deepEqual(await parcel(id), { state: 'arrived', charge_micros: 700n });
  const { availableMicros, heldMicros } = await account.balance();
  assert.deepEqual([before.availableMicros - availableMicros, heldMicros], [700n, 0n]);
  await assertBooks();
});

test('a wallet that does not cover it refuses it, and nothing is written', async () => {
  const reply = await send('gold', Number(2n ** 52n));
  assert.equal(reply.status, 402);
  await assertBooks();
});

test('reconciliation asks its component, and ends what runs nowhere by its holder', async () => {
  const reply = await send('slow', 300, true);
  const { id } = (await reply.json()) as { id: string };
  const ends = { ...endsThrough(wallet, silent), holders: allHolders };
  const options = { instanceId, ageMs: 0, ...ends };
  const pass = (isGone: boolean) =>
    reconcile(sql, {
      ...options,
      lost: async (_node, ids) => (isGone ? ids : lost(ids)),
    });
  // Ids are of the millisecond: only older ones are looked at.
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(await pass(false), 0, 'it runs on its shard');
  assert.deepEqual(await parcel(id), { state: 'under_way', charge_micros: null });
  assert.equal(await pass(true), 1);
  assert.deepEqual(await parcel(id), { state: 'lost: slow', charge_micros: null });
  await assertBooks();
});

test('recovery ends it with its process, unless its hold outlives that', async () => {
  const reply = await send('late', 200, true);
  const { id } = (await reply.json()) as { id: string };
  const outliving = rows.map((each) =>
    each.kind === parcelRows.kind ? { ...each, outlivesProcess: true } : each,
  );
  const left = (which: typeof rows) => listHoldsOfInstances(sql, which, [instanceId], null, 10);
  assert.deepEqual(await left(outliving), []);
  assert.deepEqual(
    (await left(rows)).map(({ ownerId, left: facts }) => [ownerId, { ...facts }]),
    [[id, { label: 'late' }]],
  );
  const ends = { ...endsThrough(wallet, silent), holders: allHolders };
  const previousInstanceIds = [instanceId];
  await recoverDead(sql, { instanceId: 'i-next', others: 'none', previousInstanceIds, ...ends });
  assert.deepEqual(await parcel(id), { state: 'lost: late', charge_micros: null });
  await assertBooks();
});

test('a kind that nobody declared is a bug, not a generation', () => {
  assert.throws(() => allHolders.of('letter'), /no holder of the kind letter/);
});
