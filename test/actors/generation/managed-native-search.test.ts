// Web search where nobody searches for the models: those that can do it themselves, and the others.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { ask } from '../../harness/formats.ts';
import { Simulator } from '../../harness/simulator.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { searchCatalog } from './search-catalog.ts';

const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

let sim: RunningSim;
let found: RunningSim;
let simulator: Simulator;
let finder: Simulator;
/** With a search provider, and without one. */
let bed: Testbed;
let bare: Testbed;

before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
  found = await startSim({ port: 0, key: null, seed: 2 });
  simulator = new Simulator(`http://127.0.0.1:${sim.port}`);
  finder = new Simulator(`http://127.0.0.1:${found.port}`);
  const searching = searchCatalog(simulator.url, finder.url);
  bed = await openTestbed({ shards: 1, catalog: searching });
  bare = await openTestbed({ shards: 1, catalog: searchCatalog(simulator.url, null) });
});
after(async () => {
  await bed?.close();
  await bare?.close();
  sim?.close();
  found?.close();
});

test('where nothing searches, who requires or asks for it is refused', async () => {
  const account = await bare.account();
  for (const model of ['plain', 'm-plain']) {
    for (const members of [{ web_search: true }, { metadata: { require_web_search: true } }]) {
      const told = await ask('chat', account, { model, text: 'hi', members });
      assert.equal(told.status, 503, told.raw);
      assert.equal(told.error?.code, 'no_route_available');
    }
    const news = 'What is the latest news on the election today? [[sim tokens=1]]';
    assert.equal((await ask('chat', account, { model, text: news })).status, 200);
  }
});

for (const kind of ['responses', 'messages', 'gemini']) {
  test(`${kind}: the provider's own search is used where it has one`, async () => {
    await Promise.all([simulator.reset(), finder.reset()]);
    for (const place of [bed, bare]) {
      const account = await place.account();
      const text = 'penguins [[sim search=2 tokens=3]]';
      const members = { web_search: true };
      const question = { model: `native-${kind}`, text, members, stream: true };
      const told = await ask('chat', account, question);
      assert.equal(told.status, 200, told.raw);
      assert.match(told.text, /t2/);
      assert.ok((told.svcUsage?.search_calls ?? 0) >= 1, told.raw);
      assert.ok(told.citations.length >= 1, told.raw);
      assert.equal((await finder.stats()).started, 0);
    }
  });

  test(`${kind}: its own search required: shown when it searched, refused when not`, async () => {
    const account = await bare.account();
    const members = { metadata: { require_web_search: true } };
    for (const stream of [true, false]) {
      const good = await ask('chat', account, {
        model: `native-${kind}`,
        text: 'penguins [[sim search=1 tokens=3]]',
        members,
        stream,
      });
      assert.equal(good.error, null, good.raw);
      assert.match(good.text, /t0.*t2/);
      const { availableMicros } = await account.quiet();
      const question = {
        model: `native-${kind}`,
        text: '[[sim search=0 tokens=3]]',
        members,
        stream,
      };
      const bad = await ask('chat', account, question);
      assert.ok(bad.error !== null, bad.raw);
      assert.equal(bad.text, '');
      assert.equal((await account.quiet()).availableMicros, availableMicros);
    }
  });
}

for (const kind of ['responses', 'messages', 'gemini']) {
  test(`${kind}: its own search required: the format is kept to, and mended`, async () => {
    const members = {
      metadata: { require_web_search: true },
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    };
    const first = 'penguins [[sim search=1 text={"b":1}]]';
    const cases: [string, string, string | null][] = [
      ['penguins [[sim search=1 text=```json_{"a":"b"}_```]]', '{"a":"b"}', null],
      [first, '', 'upstream_error'],
    ];
    for (const [text, said, code] of cases) {
      for (const stream of [true, false]) {
        const account = await bare.account();
        const { availableMicros: before } = await account.balance();
        await simulator.reset();
        const told = await ask('chat', account, { model: `native-${kind}`, text, members, stream });
        assert.equal(told.text, said, told.raw);
        assert.equal(told.error?.code ?? null, code, told.raw);
        assert.equal((await simulator.stats()).started, text === first ? 2 : 1);
        const { availableMicros } = await account.quiet();
        if (told.svcUsage === null) continue;
        assert.equal(Number(before - availableMicros), told.svcUsage.charge_microcredits);
      }
    }
  });
}

test('a managed route goes to who searches where nobody else does', async () => {
  const account = await bare.account();
  const members = { web_search: true };
  const question = { model: 'm-mixed', text: '[[sim search=1 tokens=1]]', members };
  const told = await ask('chat', account, question);
  assert.equal(told.svcRouting?.selected_model, 'native-messages');
  assert.equal(told.svcRouting?.decision_category, 'capability');
});

test('nor does it go to who searches, but not beside the tools of this request', async () => {
  const account = await bare.account();
  const called = (name: string) => ({ type: 'function', function: { name } });
  const members = { web_search: true, tools: [called('f')] };
  const text = '[[sim search=1 tokens=1]]';
  const told = await ask('chat', account, { model: 'm-native', text, members });
  assert.equal(told.svcRouting?.selected_model, 'native-messages', told.raw);
  assert.ok((told.svcUsage?.search_calls ?? 0) >= 1, told.raw);
  const taken = { ...members, tools: [called('web_search')] };
  const refused = await ask('chat', account, { model: 'm-native', text, members: taken });
  assert.deepEqual([refused.status, refused.error?.code], [503, 'no_route_available']);
});
