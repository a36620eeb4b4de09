// `web_search_options` of the Chat format at models of every family: forwarded where a model of the
// same format was named, and elsewhere what `web_search: true` is.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { ask, type Told } from '../../harness/formats.ts';
import { Simulator } from '../../harness/simulator.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { searchCatalog } from './search-catalog.ts';

let sim: RunningSim;
let found: RunningSim;
let simulator: Simulator;
let finder: Simulator;
const beds: Testbed[] = [];

before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
  found = await startSim({ port: 0, key: null, seed: 2 });
  simulator = new Simulator(`http://127.0.0.1:${sim.port}`);
  finder = new Simulator(`http://127.0.0.1:${found.port}`);
  for (const url of [finder.url, null]) {
    beds.push(await openTestbed({ shards: 1, catalog: searchCatalog(simulator.url, url) }));
  }
});
after(async () => {
  for (const bed of beds) await bed.close();
  sim?.close();
  found?.close();
});

async function told(bed: Testbed | undefined, model: string, members: object): Promise<Told> {
  await Promise.all([simulator.reset(), finder.reset()]);
  assert.ok(bed !== undefined);
  const text = 'penguins [[sim text=So_[1].]]';
  return ask('chat', await bed.account(), { model, text, members: { ...members } });
}

const options = { web_search_options: { search_context_size: 'low' } };

test('a model of the same format that is named gets what the client wrote', async () => {
  const answer = await told(beds[0], 'plain', options);
  assert.equal(answer.status, 200, answer.raw);
  const sent = (await simulator.lastBody()) as Record<string, unknown>;
  assert.deepEqual(sent.web_search_options, options.web_search_options);
  assert.equal((await finder.stats()).started, 0);
});

test('of the routes of such a model those of the format are asked', async () => {
  const answer = await told(beds[0], 'both', options);
  assert.equal(answer.status, 200, answer.raw);
  const sent = (await simulator.lastBody()) as Record<string, unknown>;
  assert.deepEqual(sent.web_search_options, options.web_search_options);
});

test('who asks in both ways is searched for once, and pays once', async () => {
  for (const asked of [{ web_search: true }, { metadata: { require_web_search: true } }]) {
    const answer = await told(beds[0], 'plain', { ...options, ...asked });
    assert.equal(answer.status, 200, answer.raw);
    assert.equal(answer.svcUsage?.search_calls, 1);
    assert.equal((await finder.stats()).started, 1);
    assert.doesNotMatch(JSON.stringify(await simulator.lastBody()), /web_search_options/);
  }
});

test('a managed route searches, and its models get no member that they may not know', async () => {
  const answer = await told(beds[0], 'm-plain', options);
  assert.equal(answer.svcUsage?.search_calls, 1, answer.raw);
  const sent = JSON.stringify(await simulator.lastBody());
  assert.match(sent, /Results of a web search/);
  assert.doesNotMatch(sent, /web_search_options/);
  const forbidden = await told(beds[0], 'm-plain', { ...options, web_search: false });
  assert.equal(forbidden.svcUsage?.search_calls, 0, forbidden.raw);
});

test('a model of another family searches by itself, or it is said that nobody does', async () => {
  for (const kind of ['responses', 'messages', 'gemini']) {
    const answer = await told(beds[1], `native-${kind}`, options);
    assert.equal(answer.status, 200, answer.raw);
    assert.match(JSON.stringify(await simulator.lastBody()), /web_search|google_?search/i, kind);
  }
  const nobody = await told(beds[1], 'm-plain', options);
  assert.equal(nobody.status, 503, nobody.raw);
});
