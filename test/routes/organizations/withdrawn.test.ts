// A member is removed, demoted or its organization suspended while its calls run. Behind the answer
// no hold of its wallet is made, and what was made there is out of the person's reach.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { auditLedger } from '../../../db/audit.ts';
import { Contract } from '../../harness/contract.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { makePerson, type TestPerson } from '../me/person.ts';
import { type Company, join, type Members, makeCompany, rowOf } from './company.ts';

// slow: It waits for a video, whose provider is asked every five seconds.

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed({ own: 'it audits every wallet' });
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

console.log(`# seed ${testSeed}`);
const random = createRandom(testSeed);
const upTo = (most: number) => Math.floor(random() * (most + 1));
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const callersPerKey = 8;

interface Made {
  company: Company;
  walletId: string;
  person: TestPerson;
  accountId: string;
  keys: string[];
}

async function inCompany(made: Made, method: string, path: string, body?: Members) {
  const { person, company } = made;
  const headers = {
    'x-svc-session': person.session.token,
    'x-svc-organization': `${company.id}`,
    'content-type': 'application/json',
  };
  const reply = await fetch(bed.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, json: (await reply.json()) as Members };
}

async function made(role: 'member' | 'admin'): Promise<Made> {
  const company = await makeCompany(bed, contract);
  const { wallet_id: walletId } = await rowOf(bed, company);
  const reply = await bed.wallet(walletId, 'grant', {
    ...{ operationId: `test.${walletId}`, kind: 'promotion', amountMicros: 1_000_000_000_000n },
    ...{ note: 'test', expiresAtMs: null },
  });
  assert.equal(reply.status, 'granted');
  const person = await makePerson(bed, contract);
  await join(company, person, role);
  const cast: Made = { company, walletId, person, accountId: '', keys: [] };
  for (const label of ['one', 'two']) {
    const key = await inCompany(cast, 'POST', '/api/me/api-keys', {
      label,
      scopes: ['models:generate', 'models:read', 'video:generate'],
    });
    assert.equal(key.status, 201, JSON.stringify(key.json));
    cast.keys.push(key.json.raw_token as string);
  }
  const [row] = await bed.sql<{ account_id: string }[]>`
    SELECT account_id FROM organization_members
    WHERE organization_id = ${company.id} AND user_id = ${person.accountId}`;
  return { ...cast, accountId: row?.account_id ?? '' };
}

const headersOf = (key: string) => ({
  authorization: `Bearer ${key}`,
  'content-type': 'application/json',
});

/** One generation, read to its end; 0 where the connection was lost. */
async function generate(key: string, stream: boolean): Promise<number> {
  const content = `[[sim tokens=${10 + upTo(20)} gap_ms=${upTo(8)}]]`;
  const body = { model: 'svc-sim-chat', stream, messages: [{ role: 'user', content }] };
  const init = { method: 'POST', headers: headersOf(key), body: JSON.stringify(body) };
  const reply = await fetch(`${bed.url}/v1/chat/completions`, init).catch(() => null);
  await reply?.text().catch(() => '');
  return reply?.status ?? 0;
}

interface Begun {
  at: number;
  status: number;
}

/** Callers of both forms that go on until they are stopped. */
function startLoad(keys: readonly string[]) {
  const begun: Begun[] = [];
  let going = true;
  const one = async (key: string, stream: boolean) => {
    while (going) {
      const at = performance.now();
      const status = await generate(key, stream);
      begun.push({ at, status });
      if (status !== 200) await sleep(5);
    }
  };
  const all = Promise.all(
    keys.flatMap((key) =>
      Array.from({ length: callersPerKey }, (_, index) => one(key, index % 2 === 0)),
    ),
  );
  return {
    begun,
    async stop() {
      going = false;
      await all;
    },
  };
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, what);
    await sleep(10);
  }
}

/** Every hold that this account ever had of the wallet: its generations and jobs have their ids. */
async function holdsOf({ accountId, walletId }: Made): Promise<Set<string>> {
  const rows = await bed.sql<{ hold_id: string }[]>`
    SELECT hold_id FROM generations WHERE account_id = ${accountId} AND wallet_id = ${walletId}
    UNION SELECT id FROM holds WHERE wallet_id = ${walletId}`;
  return new Set(rows.map((row) => row.hold_id));
}

/** What the member made in the context, by the paths on which it is read. */
async function makeThings({ keys: [key = ''] }: Made, isFilmed: boolean): Promise<string[]> {
  const post = async (path: string, body: Members) => {
    const init = { method: 'POST', headers: headersOf(key), body: JSON.stringify(body) };
    const reply = await fetch(bed.url + path, init);
    const text = await reply.text();
    assert.ok(reply.ok, text);
    const requestId = reply.headers.get('x-svc-request-id') ?? '';
    return { json: JSON.parse(text) as Members, requestId };
  };
  const stored = await post('/v1/responses', { model: 'svc-sim-chat', input: 'Keep it.' });
  const spoken = await post('/v1/chat/completions', {
    model: 'svc-sim-chat',
    messages: [{ role: 'user', content: 'Count it.' }],
  });
  const paths = [
    `/v1/responses/${String(stored.json.id)}`,
    `/v1/responses/${String(stored.json.id)}/input_items`,
    `/v1/generations/${spoken.requestId}`,
  ];
  if (!isFilmed) return paths;
  const filmed = await post('/v1/video/generations', {
    prompt: 'A quiet road. [[sim render_ms=500]]',
    duration_seconds: 4,
  });
  const job = `/v1/video/generations/${(filmed.json.job as { id: string }).id}`;
  return [...paths, job, `${job}/content`];
}

const statusOf = async (path: string, key: string) =>
  (await fetch(bed.url + path, { headers: headersOf(key) })).status;

async function assertBooks(walletId: string): Promise<void> {
  await until('nothing is held', async () => {
    const rows = await bed.sql`SELECT 1 FROM holds WHERE wallet_id = ${walletId}`;
    return rows.length === 0;
  });
  const wrong = (await auditLedger(bed.sql)).filter(({ broken }) => broken > 0n);
  assert.deepEqual(wrong, []);
}

/** What ends it, and what its keys and its session are told then. */
const acts: readonly [string, number, number, (cast: Made) => Promise<{ status: number }>][] = [
  [
    'removed',
    401,
    403,
    ({ company, person }) =>
      company.owner.call('DELETE', `${company.path}/members/${person.accountId}`),
  ],
  [
    'suspended',
    403,
    403,
    ({ company }) => company.owner.call('POST', `${company.path}/suspend`, { reason: 'A test.' }),
  ],
];

for (const [name, keyStatus, sessionStatus, act] of acts) {
  test(`${name} under load: nothing is held behind the answer`, async () => {
    const cast = await made('member');
    const paths = await makeThings(cast, name === 'removed');
    const own = cast.person.apiKey;
    for (const path of paths) {
      assert.equal(await statusOf(path, own), 404, `with the person's own key: ${path}`);
    }
    const load = startLoad(cast.keys);
    await until('some answers', () => load.begun.filter(({ status }) => status === 200).length > 9);
    await sleep(upTo(60));
    const reply = await act(cast);
    assert.equal(reply.status, 200);
    const answeredAt = performance.now();
    const held = await holdsOf(cast);
    await sleep(250);
    await load.stop();
    const later = [...(await holdsOf(cast))].filter((id) => !held.has(id));
    assert.deepEqual(later, [], 'holds behind the answer');
    const behind = load.begun.filter(({ at }) => at > answeredAt);
    assert.ok(behind.length > 0);
    assert.deepEqual([...new Set(behind.map(({ status }) => status))], [keyStatus]);
    const ticket = await inCompany(cast, 'POST', '/v1/voice/tickets');
    assert.equal(ticket.status, sessionStatus);
    for (const path of paths) assert.equal(await statusOf(path, own), 404, path);
    assert.equal(await generate(own, false), 200, 'the person itself goes on');
    await assertBooks(cast.walletId);
  });
}

test('demoted under load: the cap of members holds behind the answer', async () => {
  const cast = await made('admin');
  const { company, person, accountId, walletId } = cast;
  const settings = { default_member_spend_limit_micros: 0 };
  const capped = await company.owner.call('PATCH', `${company.path}/settings`, { settings });
  assert.equal(capped.status, 200, capped.text);
  const load = startLoad(cast.keys);
  await until('some answers', () => load.begun.filter(({ status }) => status === 200).length > 9);
  await sleep(upTo(60));
  const place = `${company.path}/members/${person.accountId}`;
  const reply = await company.owner.call('PATCH', place, { role: 'member' });
  assert.equal(reply.status, 200, reply.text);
  const answeredAt = performance.now();
  const held = await holdsOf(cast);
  await sleep(250);
  await load.stop();
  assert.deepEqual(
    [...(await holdsOf(cast))].filter((id) => !held.has(id)),
    [],
  );
  const behind = load.begun.filter(({ at }) => at > answeredAt);
  assert.deepEqual([...new Set(behind.map(({ status }) => status))], [402]);
  await assertBooks(walletId);
  const [counter] = await bed.sql<{ held_micros: bigint }[]>`
    SELECT held_micros FROM spend WHERE wallet_id = ${walletId} AND spender = ${accountId}`;
  assert.equal(counter?.held_micros, 0n);
});
