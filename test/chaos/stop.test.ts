// Stops under load: asked for, forced by the death of the parent, and followed by a start on the
// same data.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Gateway } from '../harness/gateway.ts';
import { startStopwatch } from '../harness/stopwatch.ts';
import { assertChargesTold, assertNothingHeld } from './books.ts';
import { chat, type Told } from './client.ts';
import { isGood, progress, startLoad } from './load.ts';
import { openRaw, rawHead } from './raw.ts';
import { assertLedger, cleanUp, isAlive, openGateway, simulatorPid, tail, until } from './reach.ts';
import { openChance } from './seed.ts';

// slow: It stops gateways under load, and waits until they have drained.

after(cleanUp);

const DRAIN_SECONDS = 6;

/** Streams that have begun; the simulator's directive says how long they take. */
async function open(gateway: Gateway, count: number, directive: string) {
  let begun = 0;
  const answers = Array.from({ length: count }, (_, index) => {
    let first = true;
    const onDelta = () => {
      if (first) begun += 1;
      first = false;
    };
    const text = `stream ${index} ${directive}`;
    return chat(gateway, { text, stream: true, key: `stop-${directive.length}-${index}`, onDelta });
  });
  await until('every stream has begun', 10_000, () => begun === count);
  return answers;
}

/** Whole, or ended by an error that says what was used; never just cut. */
function assertEnded(told: readonly Told[], gateway: Gateway): void {
  for (const one of told) {
    assert.ok(one.complete, `not cut: ${JSON.stringify(one)}\n${tail(gateway)}`);
    assert.ok(isGood(one) || (one.code === 'overloaded' && one.usage !== null), one.code ?? '');
  }
}

/** A thread that ends with its app open aborts the process: nothing after that is orderly. */
function assertNoAbort(gateway: Gateway): void {
  const line = gateway.logs.find((each) => /Assertion failed|is terminated/.test(each));
  assert.equal(line, undefined, tail(gateway));
}

test('SIGTERM under load: streams finish or end with an error, exit 0, books right', async () => {
  const chance = openChance('graceful stop');
  const env = { TOLLGATE_DRAIN_SECONDS: String(DRAIN_SECONDS) };
  const gateway = await openGateway({ env });
  const { dev } = gateway;
  const load = startLoad(gateway, chance, 12);
  await progress(load, 20, 15_000);
  const short = await open(gateway, 20, '[[sim tokens=60 gap_ms=25]]');
  const long = await open(gateway, 20, '[[sim tokens=2000 gap_ms=25]]');
  await sleep(chance.integer(0, 200));
  const watch = startStopwatch();
  const stopping = gateway.stop();
  const shortTold = await Promise.all(short);
  const longTold = await Promise.all(long);
  assert.equal(await stopping, 0, tail(gateway));
  assertNoAbort(gateway);
  const tookMs = watch.assertWithin((DRAIN_SECONDS + 4) * 1_000, 'stopped');
  await load.stop();
  for (const one of shortTold) assert.ok(isGood(one), `finished: ${JSON.stringify(one)}`);
  assertEnded(longTold, gateway);
  assert.ok(
    longTold.some((one) => one.code !== null),
    'some were too long for the drain',
  );
  // Nothing of it may wait for the next start.
  await assertLedger(gateway);
  await assertNothingHeld(gateway, 100);
  const all = [...shortTold, ...longTold, ...load.spoken.map(({ told }) => told)];
  const cut = load.spoken.filter(({ told }) => told.status === 200 && !told.complete);
  assert.deepEqual(cut, [], 'no call was cut in the middle');
  const receipts = await assertChargesTold(gateway, all);
  console.log(`# stopped after ${tookMs} ms, ${receipts} receipts`);

  await gateway.start();
  assert.deepEqual(gateway.dev, { ...dev, simulator_url: gateway.dev.simulator_url });
  const again = await chat(gateway, { text: 'again' });
  assert.ok(isGood(again));
});

test('SIGTERM while a request is still arriving: it is answered, and paid', async () => {
  const gateway = await openGateway({ env: { TOLLGATE_DRAIN_SECONDS: String(DRAIN_SECONDS) } });
  const body = JSON.stringify({
    model: 'svc-sim-chat',
    messages: [{ role: 'user', content: 'late [[sim tokens=3]]' }],
  });
  const slow = await openRaw(gateway);
  slow.socket.write(rawHead(gateway, body.length) + body.slice(0, 20));
  // The second one is answered when the first one's head has been read, or its shard is as far.
  assert.ok(isGood(await chat(gateway, { text: 'before' })));
  const stopping = gateway.stop();
  await until('nobody is admitted', 5_000, async () => (await openRaw(gateway)).closed);
  await sleep(300);
  slow.socket.write(body.slice(20));
  await until('it is answered', 5_000, () => slow.closed);
  assert.match(slow.text, /^HTTP\/1\.1 200 /, slow.text);
  assert.match(slow.text, /"charge_microcredits":[1-9]/);
  assert.equal(await stopping, 0, tail(gateway));
  await gateway.start();
  await assertLedger(gateway);
  await assertNothingHeld(gateway, 100);
});

test('kill -9 of the parent under load: its children end by themselves', async () => {
  const chance = openChance('parent killed');
  const gateway = await openGateway({ env: { TOLLGATE_DRAIN_SECONDS: '2' } });
  const { dev } = gateway;
  const load = startLoad(gateway, chance, 12);
  await progress(load, 20, 15_000);
  await open(gateway, 5, '[[sim tokens=2000 gap_ms=25]]');
  const pids = {
    main: await gateway.mainPid(),
    simulator: simulatorPid(gateway),
    database: await gateway.postmasterPid(),
  };
  for (const [name, pid] of Object.entries(pids)) assert.ok(isAlive(pid), name);
  await gateway.killParent();
  for (const [name, pid] of Object.entries(pids)) {
    const tookMs = await until(`${name} ends`, 15_000, () => !isAlive(pid), 20);
    console.log(`# ${name} gone ${Math.round(tookMs)} ms later`);
  }
  await load.stop();
  assertNoAbort(gateway);
  await gateway.start();
  assert.equal(gateway.dev.api_key, dev.api_key);
  await assertNothingHeld(gateway, 3_000);
  await assertChargesTold(
    gateway,
    load.spoken.map(({ told }) => told),
  );
  await assertLedger(gateway);
});
