// Web search for models where its surface is offered for queries too. A provider that fails has
// another beside it, what is kept for the account asks nobody, and what is empty costs nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import type { TestAccount } from '../../harness/account.ts';
import { ask } from '../../harness/formats.ts';
import { Simulator } from '../../harness/simulator.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { searchCatalog } from './search-catalog.ts';

const sims: RunningSim[] = [];
let first: Simulator;
let second: Simulator;
let bed: Testbed;

before(async () => {
  const start = async (seed: number) => {
    const sim = await startSim({ port: 0, key: null, seed });
    sims.push(sim);
    return new Simulator(`http://127.0.0.1:${sim.port}`);
  };
  const models = await start(1);
  [first, second] = [await start(2), await start(3)];
  const catalog = searchCatalog(models.url, first.url) as {
    providers: object[];
    surfaces: object[];
  };
  catalog.providers.push({ name: 'finder-2', family: 'serper', base_url: second.url });
  catalog.surfaces = [
    {
      name: 'web_search',
      display_name: 'Web search',
      targets: [{ provider: 'finder' }, { provider: 'finder-2' }],
      price: { credits_per_query: '1' },
    },
  ];
  bed = await openTestbed({ shards: 2, catalog: { ...catalog } });
});
after(async () => {
  await bed?.close();
  for (const sim of sims) sim.close();
});

const search = (account: TestAccount, text: string) =>
  ask('chat', account, { model: 'plain', text, members: { web_search: true } });
const started = async () => [(await first.stats()).started, (await second.stats()).started];

test('what is kept for the account asks nobody, and is a search all the same', async () => {
  await Promise.all([first.reset(), second.reset()]);
  const account = await bed.account();
  const text = 'penguins [[sim tokens=1]]';
  const calls: (number | undefined)[] = [];
  for (let round = 0; round < 3; round += 1) {
    const before = (await account.quiet()).availableMicros;
    const told = await search(account, text);
    assert.equal(told.status, 200, told.raw);
    calls.push(told.svcUsage?.search_calls);
    const charge = BigInt(told.svcUsage?.charge_microcredits ?? 0);
    assert.equal(before - (await account.quiet()).availableMicros, charge);
  }
  assert.deepEqual(calls, [1, 1, 1]);
  assert.deepEqual(await started(), [1, 0]);
  assert.equal((await search(await bed.account(), text)).svcUsage?.search_calls, 1);
  assert.deepEqual(await started(), [2, 0]);
});

test('an empty search is looked at twice, and is free', async () => {
  await Promise.all([first.reset(), second.reset()]);
  const told = await search(await bed.account(), 'hi [[search empty=1]] [[sim tokens=1]]');
  assert.deepEqual([told.status, told.svcUsage?.search_calls], [200, 0], told.raw);
  assert.deepEqual(await started(), [1, 1]);
});

test('where one provider fails the other searches', async () => {
  await Promise.all([first.reset(), second.reset()]);
  const body = JSON.stringify({ status: 500, for_ms: 60_000 });
  await fetch(`${first.url}/sim/outage`, { method: 'POST', body });
  const account = await bed.account();
  for (let round = 0; round < 3; round += 1) {
    const told = await search(account, `walrus ${round} [[sim tokens=1]]`);
    assert.equal(told.svcUsage?.search_calls, 1, told.raw);
  }
  assert.equal((await second.stats()).started, 3);
});
