// Each surface goes through each outcome, with one target and with two. The status is the one that
// is documented, the reply is of its schema, and a charge needs an item.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { auditLedger } from '../../../db/audit.ts';
import { surfaceNames } from '../../../media/search/surfaces.ts';
import { Contract, type Reply } from '../../harness/contract.ts';
import { sampled } from '../../harness/sample.ts';
import { testSeed } from '../../harness/seed.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { openAdminApi } from '../admin/admin-api.ts';
import { availableOf, exampleOf, openSearchStage, type SearchStage } from './stage.ts';

// slow: It waits for the deadlines of providers that never answer.

let bed: Testbed;
let contract: Contract;
let stage: SearchStage;
before(async () => {
  bed = await openTestbed({ own: 'it changes the catalog', shards: 1 });
  contract = await Contract.load(bed.url);
  stage = await openSearchStage(await openAdminApi(bed));
  console.log(`# seed ${testSeed}`);
});
after(() => bed?.close());

/** What becomes of all targets, and what the client is told then. */
interface Case {
  name: string;
  orders: string;
  status: number;
  /** A 200 without an item. */
  empty?: boolean;
  /** A deadline of seconds: a few surfaces say enough. */
  isSlow?: boolean;
  /** Its targets rest at once. A cited answer has those of another surface, and is asked later. */
  rests?: boolean;
}

const cases: readonly Case[] = [
  { name: 'found', orders: 'results=3', status: 200 },
  { name: 'empty', orders: 'empty=1', status: 200, empty: true },
  { name: 'partial', orders: 'partial=1', status: 200 },
  { name: 'refused', orders: 'status=400', status: 400 },
  { name: 'credential', orders: 'status=401', status: 502, rests: true },
  { name: 'busy', orders: 'status=429 retry_after=1', status: 503 },
  { name: 'exhausted', orders: 'exhausted=1', status: 502, rests: true },
  { name: 'failed', orders: 'status=500', status: 502 },
  { name: 'cut', orders: 'fault=cut', status: 502 },
  { name: 'malformed', orders: 'fault=garbage', status: 502 },
  { name: 'too large', orders: 'bytes=5000000', status: 502 },
  { name: 'stalled', orders: 'fault=stall', status: 504, isSlow: true },
];

async function ask(surface: string, orders: string): Promise<Reply> {
  const headers = { authorization: `Bearer ${bed.dev.api_key}` };
  const query = `${exampleOf(surface)} [[search ${orders}]]`;
  const params = paramsOf(surface, `[[search ${orders}]]`);
  const body = { surface, query, params, max_age_seconds: 0 };
  return await contract.call('POST', '/api/v1/query', { headers, body });
}

async function askAll(surfaces: readonly string[], { orders, rests }: Case): Promise<Reply[]> {
  const isLater = (name: string) => rests === true && name === 'web_answer';
  const now = surfaces.filter((name) => !isLater(name));
  const replies = await Promise.all(now.map((name) => ask(name, orders)));
  const answers = new Map(now.map((name, at) => [name, replies[at]]));
  for (const name of surfaces.filter(isLater)) {
    await stage.renew();
    answers.set(name, await ask(name, orders));
  }
  return surfaces.flatMap((name) => answers.get(name) ?? []);
}

/** Words beside the directive would be airports and places, so it stands in parameters. */
function paramsOf(surface: string, directive: string): Record<string, unknown> {
  if (surface === 'engine_flights') {
    return { departure_id: 'ZRH', arrival_id: 'JFK', include_airlines: directive };
  }
  if (surface === 'engine_routes') return { origin: `Bern ${directive}`, destination: 'Zurich' };
  return {};
}

function assertReply({ status, text, json }: Reply, wanted: Case, where: string): void {
  assert.equal(status, wanted.status, `${where}: ${text.slice(0, 400)}`);
  if (status !== 200) return;
  const normalized = json.normalized as { items: unknown[]; empty: boolean };
  assert.equal(normalized.empty, wanted.empty === true, where);
  assert.equal(normalized.items.length > 0, wanted.empty !== true, where);
  const charged = json.charge_microcredits as number;
  assert.equal(charged > 0, normalized.items.length > 0, `${where}: ${charged}`);
}

for (const targets of [2, 1]) {
  for (const [number, wanted] of cases.entries()) {
    test(`${wanted.name}, ${targets === 1 ? 'one target' : 'all targets'}`, async () => {
      await stage.setTargets(targets);
      await stage.renew();
      const before = await availableOf(bed);
      const surfaces = sampled(surfaceNames, wanted.isSlow ? 2 : 8, testSeed + number);
      const replies = await askAll(surfaces, wanted);
      let charged = 0;
      for (const [at, reply] of replies.entries()) {
        assertReply(reply, wanted, `${surfaces[at]} ${wanted.name}`);
        if (reply.status === 200) charged += reply.json.charge_microcredits as number;
      }
      assert.equal(
        before - (await availableOf(bed)),
        BigInt(charged),
        'what was told is what left',
      );
    });
  }
}

test('where the first target fails, the second one answers, and is what is paid for', async () => {
  for (const orders of ['status=500', 'fault=garbage', 'empty=1', 'status=401', 'exhausted=1']) {
    await stage.setTargets(2);
    await stage.renew();
    const reply = await ask('web_search', `only=serper ${orders}`);
    assert.equal(reply.status, 200, `${orders}: ${reply.text}`);
    const { engines, items } = reply.json.normalized as {
      engines: { name: string; state: string }[];
      items: unknown[];
    };
    assert.deepEqual(
      engines.map(({ name }) => name),
      ['r1', 'r2'],
      orders,
    );
    assert.equal(engines[1]?.state, 'found', orders);
    assert.ok(items.length > 0 && (reply.json.charge_microcredits as number) > 0, orders);
  }
});

test('items without an address are left out, and all of them are a failure', async () => {
  await stage.setTargets(2);
  await stage.renew();
  const some = await ask('web_search', 'results=5 bad_items=2');
  assert.equal(some.status, 200, some.text);
  const { items } = some.json.normalized as { items: { position: number; url: string }[] };
  assert.equal(items.length, 3);
  assert.deepEqual(
    items.map(({ position }) => position),
    [1, 2, 3],
  );
  assert.ok(items.every(({ url }) => url.startsWith('http')));
  const none = await ask('web_search', 'results=5 bad_items=5');
  assert.equal(none.status, 502, none.text);
});

test('the books are right after all of it, and nothing is held', async () => {
  const wrong = (await auditLedger(bed.sql)).filter(({ broken }) => broken > 0n);
  assert.deepEqual(wrong, []);
  const holds = await bed.sql`SELECT 1 FROM holds WHERE wallet_id = ${bed.dev.wallet_id}`;
  assert.equal(holds.length, 0);
});
