// A wrong key of a search provider, through a real gateway with two shards. The administrator alone
// hears of it, nobody is asked with it again, and another key is used at once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { ask } from '../../harness/formats.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { searchCatalog } from '../generation/search-catalog.ts';

const goodKey = 'key-that-is-good';
const badKey = 'key-that-is-refused';
let sim: RunningSim;
let finder: RunningSim;
let bed: Testbed;

before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
  finder = await startSim({ port: 0, key: goodKey, seed: 2 });
  const catalog = searchCatalog(
    `http://127.0.0.1:${sim.port}`,
    `http://127.0.0.1:${finder.port}`,
  ) as { providers: Record<string, unknown>[] };
  const finding = catalog.providers.find(({ name }) => name === 'finder') ?? {};
  finding.api_key = badKey;
  bed = await openTestbed({ shards: 2, catalog: { ...catalog } });
});
after(async () => {
  await bed?.close();
  sim?.close();
  finder?.close();
});

async function admin(
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const reply = await fetch(`${bed.url}${path}`, {
    method,
    headers: {
      'x-svc-session': bed.dev.admin_session_token,
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  assert.ok(reply.ok, text);
  return JSON.parse(text) as Record<string, unknown>;
}

async function downRoutes(): Promise<{ route: string; since: string }[]> {
  const { down_routes } = await admin('GET', '/api/admin/status');
  return down_routes as { route: string; since: string }[];
}

const lines = (message: string) =>
  bed.gateway.logs.filter((line) => line.includes(`"${message}"`) && line.includes('"finder/'));

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < 600; look += 1) {
    if (await isSo()) return;
    await sleep(50);
  }
  assert.fail(what);
}

test('a refused key rests its route and is told to administrators until renewed', async () => {
  const account = await bed.account();
  const search = async (words: string) =>
    ask('chat', account, {
      model: 'plain',
      text: `${words} [[sim tokens=1]]`,
      members: { web_search: true },
    });
  const told = await search('penguins');
  assert.equal(told.status, 200, told.raw);
  assert.equal(told.svcUsage?.search_calls, 0);
  assert.doesNotMatch(told.raw, /Unauthorized|finder|refused/);
  await until('the route is down', async () => (await downRoutes()).length === 1);
  const [down] = await downRoutes();
  assert.equal(down?.route, 'finder/web_search');
  assert.ok(Math.abs(Date.parse(down?.since ?? '') - Date.now()) < 60_000);
  await until('it is logged', async () => lines('provider.down').length > 0);
  // On both shards nobody is asked any more, so that nothing is refused again.
  const refusals = () => lines('search attempt failed').length;
  const before = refusals();
  for (let round = 0; round < 8; round += 1) {
    assert.equal((await search(`penguins ${round}`)).svcUsage?.search_calls, 0);
  }
  await sleep(100);
  assert.equal(refusals(), before);
  assert.equal(lines('provider.down').length, 1);
  await admin('PATCH', '/api/admin/providers/finder', { api_key: goodKey });
  assert.deepEqual(await downRoutes(), []);
  for (let round = 0; round < 4; round += 1) {
    const found = await search(`penguins ${round}`);
    assert.equal(found.svcUsage?.search_calls, 1, found.raw);
  }
  for (const line of bed.gateway.logs) {
    assert.ok(!line.includes(badKey) && !line.includes(goodKey), 'a key is in the log');
  }
});
