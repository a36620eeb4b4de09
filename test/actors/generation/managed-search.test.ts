// Web search for models, through a real gateway: when it runs, what the model is sent, what is
// cited, what it costs, and that who requires it never gets an answer without.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { ask, formats, post } from '../../harness/formats.ts';
import { Simulator } from '../../harness/simulator.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { searchCatalog } from './search-catalog.ts';

const secret = 'xylophone';
let sim: RunningSim;
let simulator: Simulator;
let found: RunningSim;
let finder: Simulator;
let bed: Testbed;

before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
  found = await startSim({ port: 0, key: null, seed: 2 });
  simulator = new Simulator(`http://127.0.0.1:${sim.port}`);
  finder = new Simulator(`http://127.0.0.1:${found.port}`);
  bed = await openTestbed({
    shards: 1,
    env: { TOLLGATE_LOG_LEVEL: 'debug' },
    catalog: searchCatalog(simulator.url, finder.url),
  });
});
after(async () => {
  await bed?.close();
  sim?.close();
  found?.close();
});

async function reset(): Promise<void> {
  await Promise.all([simulator.reset(), finder.reset()]);
}

const searches = async () => (await finder.stats()).started;

for (const format of formats) {
  test(`${format}: a search stands before the question, is cited, told and paid`, async () => {
    await reset();
    const account = await bed.account();
    const { availableMicros } = await account.balance();
    const question = {
      model: 'm-plain',
      text: `${secret} penguins [[sim text=See_[1]_and_[3].]]`,
      members: { web_search: true, client_context: { locale: 'de-CH' } },
      stream: true,
    };
    const told = await ask(format, account, question);
    assert.equal(told.text, 'See [1] and [3].', told.raw);
    assert.deepEqual(
      told.progress.map(({ stage, state }) => `${stage} ${state}`),
      ['routing completed', 'search started', 'search completed'],
    );
    assert.ok(told.progressFirst);
    assert.equal(await searches(), 1);
    const query = await finder.lastBody();
    assert.equal(query.gl, 'ch');
    assert.equal(query.hl, 'de');
    const sent = JSON.stringify(await simulator.lastBody());
    assert.match(sent, /Results of a web search/);
    assert.match(sent, /\[8\] /);
    if (format !== 'legacy') {
      assert.equal(told.citations.length, 2, told.raw);
      for (const { url } of told.citations) {
        assert.match(url, /^https:\/\/www\./);
        assert.ok(sent.includes(url));
      }
    }
    const usage = told.svcUsage;
    assert.ok(usage !== null);
    assert.equal(usage.search_calls, 1);
    const charge = Math.ceil(
      usage.input_tokens * 105 + usage.output_tokens * 210 + 0.001 * 105_000_000,
    );
    assert.equal(usage.charge_microcredits, charge);
    assert.equal(availableMicros - (await account.quiet()).availableMicros, BigInt(charge));
    const whole = await ask(format, account, { ...question, stream: false });
    assert.equal(whole.svcUsage?.search_calls, 1);
    if (format !== 'legacy') assert.equal(whole.citations.length, 2, whole.raw);
  });
}

test('searched or not: asked for, forbidden, decided', async () => {
  const account = await bed.account();
  const news = 'What is the latest news on the election today? [[sim tokens=1]]';
  const cases: [string, string, object, number][] = [
    ['plain', news, {}, 0],
    ['plain', news, { web_search: true }, 1],
    ['plain', news, { metadata: { require_web_search: true } }, 1],
    ['m-plain', news, {}, 1],
    ['m-plain', 'Write a haiku. [[sim tokens=1]]', {}, 0],
    ['m-plain', news, { web_search: false }, 0],
  ];
  for (const [model, text, members, expected] of cases) {
    await reset();
    const told = await ask('chat', account, { model, text, members: { ...members } });
    assert.equal(told.status, 200, told.raw);
    assert.equal(await searches(), expected, `${model} ${JSON.stringify(members)}`);
    assert.equal(told.svcUsage?.search_calls, expected);
  }
  const members = { web_search: false, metadata: { require_web_search: true } };
  const both = await ask('chat', account, { model: 'plain', text: news, members });
  assert.equal(both.status, 400);
  assert.equal(both.error?.param, 'metadata.require_web_search');
});

for (const [name, directive] of [
  ['fails', '[[search status=500]]'],
  ['finds nothing', '[[search empty=1]]'],
  ['answers nonsense', '[[search fault=garbage]]'],
  ['hangs up', '[[search fault=cut]]'],
] as const) {
  test(`a search provider that ${name}: no answer where it is required`, async () => {
    for (const format of formats) {
      await reset();
      const account = await bed.account();
      const { availableMicros } = await account.balance();
      const text = `hi ${directive} [[sim tokens=1]]`;
      const required = { metadata: { require_web_search: true } };
      for (const stream of [false, true]) {
        const question = { model: 'm-plain', text, members: required, stream };
        const told = await ask(format, account, question);
        assert.equal(told.status, stream ? 200 : 503, told.raw);
        assert.ok(told.error !== null, told.raw);
        assert.equal(told.text, '');
      }
      assert.equal((await simulator.stats()).started, 0);
      assert.equal((await account.quiet()).availableMicros, availableMicros);
      const wanted = { web_search: true };
      const told = await ask(format, account, { model: 'm-plain', text, members: wanted });
      assert.equal(told.text, ' t0', told.raw);
    }
  });
}

test('the query is the end of what was asked, bounded; nothing of it is in the log', async () => {
  await reset();
  const account = await bed.account();
  const text = `${'padding '.repeat(50_000)} who won ${secret}? [[sim tokens=1]]`;
  const members = { web_search: true };
  const told = await ask('chat', account, { model: 'plain', text, members });
  assert.equal(told.status, 200, told.raw);
  const { q } = (await finder.lastBody()) as { q: string };
  assert.ok(q.length <= 300);
  assert.match(q, new RegExp(`who won ${secret}`));
  await ask('chat', account, { model: 'plain', text: `${secret} [[search status=500]]`, members });
  assert.ok(bed.gateway.logs.some((line) => line.includes('web search failed')));
  assert.ok(!bed.gateway.logs.some((line) => line.includes(secret)));
});

test('after a tool result: searched again only where that is required', async () => {
  const account = await bed.account();
  const messages = [
    { role: 'user', content: 'penguins [[sim tokens=1]]' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'seen' },
  ];
  for (const [members, expected] of [
    [{ web_search: true }, 0],
    [{ metadata: { require_web_search: true } }, 1],
  ] as const) {
    await reset();
    const question = { model: 'plain', text: '', members: { ...members, messages } };
    const told = await ask('chat', account, question);
    assert.equal(told.status, 200, told.raw);
    assert.equal(await searches(), expected);
    if (expected === 1) assert.match(String((await finder.lastBody()).q), /^penguins/);
  }
});

test('who leaves or cancels during the search pays nothing and stops it', async () => {
  for (const how of ['leave', 'cancel'] as const) {
    await reset();
    const account = await bed.account();
    const { availableMicros } = await account.balance();
    const control = new AbortController();
    const response = await post('chat', account, {
      model: 'm-plain',
      text: 'hi [[search fault=stall]] [[sim tokens=1]]',
      members: { web_search: true },
      stream: true,
      signal: control.signal,
    });
    await finder.expect({ open: 1 });
    if (how === 'leave') control.abort();
    else {
      const id = response.headers.get('x-svc-request-id');
      const cancelled = await fetch(`${bed.url}/v1/generations/${id}/cancel`, {
        method: 'POST',
        headers: { authorization: `Bearer ${account.apiKey}` },
      });
      assert.ok(cancelled.ok, await cancelled.text());
    }
    await response.text().catch(() => '');
    await finder.expect({ open: 0, aborted: 1 });
    assert.equal((await account.quiet()).availableMicros, availableMicros);
    assert.equal((await simulator.stats()).started, 0);
  }
});

test('a search that does not answer is given up, and the answer comes without', async () => {
  const account = await bed.account();
  const begunAt = performance.now();
  const told = await ask('chat', account, {
    model: 'm-plain',
    text: 'hi [[search fault=stall]] [[sim tokens=1]]',
    members: { web_search: true },
  });
  const elapsedMs = performance.now() - begunAt;
  assert.equal(told.text, ' t0', told.raw);
  assert.ok(elapsedMs < 60_000, `${elapsedMs} ms`);
  assert.equal(told.svcUsage?.search_calls, 0);
});
