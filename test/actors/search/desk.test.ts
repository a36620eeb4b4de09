// The desk on real actors: what is kept and for whom, and equal searches that share one call.
// Callers leave, and a place is lost.
import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelRules } from '../../../actors/catalog/ruled/rules.ts';
import type { CatalogSurface } from '../../../actors/catalog/surface.ts';
import type { Found, SearchOrder } from '../../../actors/search/contract.ts';
import { keyOf, placeOf } from '../../../actors/search/key.ts';
import type { SearchMetrics } from '../../../actors/search/metrics.ts';
import { openPolicy } from '../../../media/model/choose/policy.ts';
import type { SearchOutcome } from '../../../media/search/contract.ts';
import { deskOf, searchAsk, searchSurface, searchTarget } from '../../harness/search-surface.ts';
import { fakeClient, fakeClock, outcome, type State } from './fakes.ts';

const target = searchTarget('one/web_search');
const { signal } = new AbortController();
setMaxListeners(0, signal);
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function orderOf(members: Partial<SearchOrder> = {}, surface: Partial<CatalogSurface> = {}) {
  const order: SearchOrder = {
    surface: searchSurface([target], surface),
    ask: searchAsk('penguins'),
    accountId: 'acc_1',
    maxAgeSeconds: 300,
    answer: null,
    ...members,
  };
  return order;
}

interface Call {
  signal: AbortSignal;
  query: string;
  end(state: State): void;
}

/** A desk whose provider answers when it is told to; at once without `isHeld`. */
function stage(isHeld = false) {
  const calls: Call[] = [];
  const counted: string[] = [];
  const clock = fakeClock();
  const metrics: SearchMetrics = {
    attempt: () => {},
    found: (_surface, how) => void counted.push(how),
  };
  const client = fakeClient((_routeId, call, bounds, query) => {
    clock.pass(10);
    if (!isHeld) return outcome(answers[call - 1] ?? 'found');
    return new Promise<SearchOutcome>((resolve) => {
      bounds.signal.addEventListener('abort', () => resolve(outcome('aborted')));
      calls.push({ signal: bounds.signal, query, end: (state) => resolve(outcome(state)) });
    });
  });
  const answers: State[] = [];
  const made = deskOf({ client, clock, metrics });
  stops.push(made.stop);
  return { ...made, client, clock, calls, counted, answers };
}

const toldOf = ({ result, cache }: Found) =>
  `${result.failure?.kind ?? result.state}${cache.hit ? ` hit ${cache.ageSeconds}` : ''}`;

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let look = 0; look < 500; look += 1) {
    if (isSo()) return;
    await sleep(2);
  }
  assert.fail(what);
}

test('a kept answer is told with its age, up to the age that the caller takes', async () => {
  const { desk, client, clock, counted } = stage();
  assert.equal(toldOf(await desk.find(orderOf(), signal)), 'found');
  clock.pass(61_900);
  assert.equal(toldOf(await desk.find(orderOf(), signal)), 'found hit 61');
  assert.equal(toldOf(await desk.find(orderOf({ maxAgeSeconds: 61 }), signal)), 'found');
  clock.pass(200_000);
  const older = orderOf({ maxAgeSeconds: 200 });
  assert.equal(toldOf((await desk.look(older, signal)) as Found), 'found hit 200');
  clock.pass(100_001);
  assert.equal(await desk.look(orderOf(), signal), null);
  assert.equal(toldOf(await desk.find(orderOf(), signal)), 'found');
  assert.equal(client.asked.length, 3);
  assert.deepEqual(counted, ['miss', 'hit', 'miss', 'hit', 'miss']);
});

test('the cache of one account answers no other, a shared one all of them', async () => {
  const { desk, client } = stage();
  await desk.find(orderOf(), signal);
  assert.equal(await desk.look(orderOf({ accountId: 'acc_2' }), signal), null);
  assert.equal(toldOf(await desk.find(orderOf({ accountId: 'acc_2' }), signal)), 'found');
  assert.equal(client.asked.length, 2);
  const shared = { isShared: true };
  assert.equal(toldOf(await desk.find(orderOf({}, shared), signal)), 'found');
  const other = await desk.find(orderOf({ accountId: 'acc_3' }, shared), signal);
  assert.equal(toldOf(other), 'found hit 0');
});

const denying = (model: string): ModelRules => ({
  routing: { ...openPolicy, deniedModels: new Set([model]) },
  region: null,
});

test('a search that differs in anything is another one', async () => {
  const { desk, client } = stage();
  const ask = searchAsk('penguins');
  const answer = { model: 'm', rules: null };
  const others: SearchOrder[] = [
    orderOf(),
    orderOf({}, { version: 'v2' }),
    orderOf({}, { name: 'engine_search' }),
    orderOf({}, { targets: [searchTarget('two/web_search')] }),
    orderOf({ ask: searchAsk('Penguins') }),
    orderOf({ ask: { ...ask, parameters: { ...ask.parameters, page: 2 } } }),
    orderOf({ ask: { ...ask, extra: { nfpr: 1 } } }),
    orderOf({ ask: { ...ask, extra: { nfpr: '1' } } }),
    orderOf({ answer }),
    orderOf({ answer: { ...answer, model: 'n' } }),
    orderOf({ answer: { ...answer, rules: denying('a') } }),
    orderOf({ answer: { ...answer, rules: denying('b') } }),
  ];
  assert.equal(new Set(others.map(keyOf)).size, others.length);
  for (const order of others) assert.equal(await desk.look(order, signal), null);
  for (const order of others) await desk.find(order, signal);
  assert.equal(client.asked.length, others.length);
  const [left, right] = [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
  ].map((extra) => {
    return keyOf(orderOf({ ask: { ...ask, extra } }));
  });
  assert.equal(left, right, 'the order of parameters says nothing');
  const places = Array.from({ length: 400 }, (_, index) =>
    placeOf(keyOf(orderOf({ ask: searchAsk(String(index)) }))),
  );
  assert.equal(new Set(places).size, 16);
});

test('what is asked anew is kept for others, unless its surface keeps nothing', async () => {
  const { desk, client } = stage();
  const anew = orderOf({ maxAgeSeconds: 0 });
  assert.equal(await desk.look(anew, signal), null);
  assert.equal(toldOf(await desk.find(anew, signal)), 'found');
  assert.equal(toldOf(await desk.find(anew, signal)), 'found');
  assert.equal(toldOf(await desk.find(orderOf(), signal)), 'found hit 0');
  assert.equal(client.asked.length, 2);
  const never = orderOf({ maxAgeSeconds: 60 }, { maxAgeSeconds: 0, version: 'v3' });
  for (let round = 0; round < 2; round += 1) {
    assert.equal(toldOf(await desk.find(never, signal)), 'found');
  }
});

test('what is empty, partial or failed is asked for again', async () => {
  const { desk, client, answers } = stage();
  answers.push('empty', 'empty', 'partial', 'failed');
  const told: string[] = [];
  for (let round = 0; round < 5; round += 1) told.push(toldOf(await desk.find(orderOf(), signal)));
  assert.deepEqual(told, ['empty', 'partial', 'failed', 'found', 'found hit 0']);
  assert.equal(client.asked.length, 5);
});

test('fifty equal searches are one call; one of them is no hit', async () => {
  const { desk, calls, counted } = stage(true);
  const found = Array.from({ length: 50 }, () => desk.find(orderOf(), signal));
  const looked = Promise.all([sleep(5), desk.look(orderOf(), signal)]);
  const other = desk.find(orderOf({ accountId: 'acc_2' }), signal);
  await until('both accounts ask', () => calls.length === 2);
  await sleep(20);
  for (const call of calls) call.end('found');
  const told = (await Promise.all(found)).map(toldOf);
  assert.equal(told.filter((each) => each === 'found').length, 1);
  assert.equal(told.filter((each) => each === 'found hit 0').length, 49);
  assert.equal(toldOf((await looked)[1] as Found), 'found hit 0');
  assert.equal(toldOf(await other), 'found');
  assert.equal(calls.length, 2);
  assert.equal(counted.filter((how) => how === 'shared').length, 50);
});

test('those that take no kept answer share no call', async () => {
  const { desk, calls } = stage(true);
  const anew = orderOf({ maxAgeSeconds: 0 });
  const found = Array.from({ length: 3 }, () => desk.find(anew, signal));
  await until('all ask', () => calls.length === 3);
  for (const call of calls) call.end('found');
  assert.deepEqual((await Promise.all(found)).map(toldOf), ['found', 'found', 'found']);
});

test('who leaves is told at once and cancels nothing for others; the next one pays', async () => {
  const { desk, calls } = stage(true);
  const controls = Array.from({ length: 3 }, () => new AbortController());
  const found = controls.map((control) => desk.find(orderOf(), control.signal));
  await until('it is asked', () => calls.length === 1);
  controls[0]?.abort();
  const left = (await found[0]) as Found;
  assert.deepEqual([toldOf(left), left.result.isAsked], ['aborted', true]);
  controls[2]?.abort();
  const joined = (await found[2]) as Found;
  assert.deepEqual([toldOf(joined), joined.result.isAsked], ['aborted', false]);
  assert.equal(calls[0]?.signal.aborted, false);
  calls[0]?.end('found');
  assert.equal(toldOf((await found[1]) as Found), 'found', 'no hit: it pays');
});

test('the last one to leave ends the call, and whoever comes then asks anew', async () => {
  for (const maxAgeSeconds of [300, 0]) {
    const { desk, calls } = stage(true);
    const control = new AbortController();
    const found = desk.find(orderOf({ maxAgeSeconds }), control.signal);
    await until('it is asked', () => calls.length === 1);
    control.abort();
    const left = await found;
    assert.deepEqual([toldOf(left), left.result.isAsked], ['aborted', true]);
    assert.equal(calls[0]?.signal.aborted, true);
    const next = desk.find(orderOf({ maxAgeSeconds }), signal);
    await until('it is asked again', () => calls.length === 2);
    calls[1]?.end('found');
    assert.equal(toldOf(await next), 'found');
  }
  const { desk, calls } = stage(true);
  const gone = await desk.find(orderOf(), AbortSignal.abort());
  assert.deepEqual([toldOf(gone), gone.result.isAsked, calls.length], ['aborted', false, 0]);
});

test('looking pays nothing: without one who pays, lookers are told nothing', async () => {
  const { desk, calls } = stage(true);
  const control = new AbortController();
  const payer = desk.find(orderOf(), control.signal);
  await until('it is asked', () => calls.length === 1);
  const looked = desk.look(orderOf(), signal);
  await sleep(10);
  control.abort();
  assert.equal(await looked, null);
  await payer;
  assert.equal(await desk.look(orderOf(), signal), null);
  // Within a second somebody may ask for the same: it is the call that is under way.
  const next = desk.find(orderOf(), signal);
  await sleep(1_100);
  assert.equal(calls.length, 1);
  calls[0]?.end('found');
  assert.equal(toldOf(await next), 'found');
});

test('a call that nobody pays for ends, and what it finds is not kept', async () => {
  for (const isLate of [true, false]) {
    const { desk, calls } = stage(true);
    const control = new AbortController();
    const payer = desk.find(orderOf(), control.signal);
    await until('it is asked', () => calls.length === 1);
    const looked = desk.look(orderOf(), signal);
    await sleep(10);
    control.abort();
    await Promise.all([payer, looked]);
    if (isLate) await until('it ends', () => calls[0]?.signal.aborted === true);
    else calls[0]?.end('found');
    await sleep(10);
    assert.equal(await desk.look(orderOf(), signal), null);
  }
});

test('lookers hear of what was found, and of no failure', async () => {
  for (const [state, told] of [
    ['found', 'found hit 0'],
    ['partial', 'partial hit 0'],
    ['failed', null],
  ] as const) {
    const { desk, calls } = stage(true);
    const found = desk.find(orderOf(), signal);
    await until('it is asked', () => calls.length === 1);
    const looked = desk.look(orderOf(), signal);
    await sleep(10);
    calls[0]?.end(state);
    await found;
    const seen = await looked;
    assert.equal(seen === null ? null : toldOf(seen), told);
  }
});

test('a place that crashes answers all that wait there: they ask for themselves', async () => {
  const { desk, calls, system, kind } = stage(true);
  const found = Array.from({ length: 4 }, () => desk.find(orderOf(), signal));
  await until('it is asked', () => calls.length === 1);
  const looked = desk.look(orderOf(), signal);
  await sleep(10);
  const place = system.ref(kind, placeOf(keyOf(orderOf())));
  place.tell('keep', null as never);
  await until('all ask', () => calls.length === 5);
  assert.equal(calls[0]?.signal.aborted, true);
  assert.equal(await looked, null);
  for (const call of calls.slice(1)) call.end('found');
  assert.deepEqual((await Promise.all(found)).map(toldOf), Array(4).fill('found'));
  // The place is there again, with what was found meanwhile.
  assert.equal(toldOf(await desk.find(orderOf(), signal)), 'found hit 0');
});

test('without its place a search runs where it was asked for', async () => {
  const { desk, system } = stage();
  await system.stop(0);
  assert.equal(toldOf(await desk.find(orderOf(), signal)), 'found');
  assert.equal(await desk.look(orderOf(), signal), null);
});
