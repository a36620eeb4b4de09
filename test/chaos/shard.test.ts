// An error that escapes in a shard, a heap that is exhausted, and a bug in one actor: who notices.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeOfId } from '../../runtime/ids.ts';
import type { Gateway } from '../harness/gateway.ts';
import { startStopwatch } from '../harness/stopwatch.ts';
import { assertChargesTold, assertNothingHeld } from './books.ts';
import { chat, openAgent, type Told } from './client.ts';
import { type FaultOptions, type Faults, startFaulty } from './fault.ts';
import { isGood, progress, repeatLost, startLoad } from './load.ts';
import { openRaw, rawHead } from './raw.ts';
import { assertLedger, cleanUp, isAlive, readyCount, until } from './reach.ts';
import { openChance } from './seed.ts';

// slow: It breaks shards under load, and waits for each to recover.

const faulty: Faults[] = [];

after(async () => {
  await cleanUp();
  for (const faults of faulty) await faults.close();
});

async function start(options: FaultOptions = {}): Promise<Faults> {
  const faults = await startFaulty(options);
  faulty.push(faults);
  return faults;
}

/** Long streams, each on a connection of its own: the kernel spreads them over the shards. */
async function openStreams(gateway: Gateway, count: number, directive: string) {
  let begun = 0;
  const answers = Array.from({ length: count }, (_, index) => {
    let first = true;
    // The first event has no text yet: what ends then has used nothing.
    const onDelta = (told: Told) => {
      if (!first || told.text === '') return;
      begun += 1;
      first = false;
    };
    return chat(gateway, { text: `stream ${index} ${directive}`, stream: true, onDelta });
  });
  await until('every stream has begun', 10_000, () => begun === count);
  return answers;
}

const nodeOf = (told: Told): number => (told.requestId === null ? 0 : nodeOfId(told.requestId));

/** How long until a new connection is served by this shard. */
async function servedBy(gateway: Gateway, node: number): Promise<number> {
  return until(
    `shard ${node} serves`,
    10_000,
    async () => nodeOf(await chat(gateway, { text: 'who [[sim tokens=1]]' })) === node,
    1,
  );
}

test('an error thrown in a shard ends its own streams only, and it is back in 2 s', async () => {
  const chance = openChance('shard error');
  const { gateway, throwIn } = await start();
  const main = await gateway.mainPid();
  const seen: Told[] = [];
  // Both: one of them has the wallet that all these streams spend from.
  for (const node of [1, 2]) {
    const load = startLoad(gateway, chance, 8);
    const answers = await openStreams(gateway, 40, '[[sim tokens=300 gap_ms=20]]');
    await sleep(chance.integer(0, 300));
    await throwIn(node);
    const watch = startStopwatch();
    await sleep(20);
    await servedBy(gateway, node);
    const backMs = watch.assertWithin(2_000, `shard ${node} is back`);
    const told = await Promise.all(answers);
    const lastMs = Math.round(watch.elapsedMs());
    await load.stop();
    const mine = told.filter((one) => nodeOf(one) === node);
    const others = told.filter((one) => nodeOf(one) !== node);
    assert.ok(mine.length > 0 && others.length > 0, 'both shards had streams');
    for (const one of others) assert.ok(isGood(one), `undisturbed: ${JSON.stringify(one)}`);
    for (const one of mine) {
      assert.equal(one.status, 200);
      assert.ok(one.complete && one.code !== null, `ended by an error: ${JSON.stringify(one)}`);
      assert.ok((one.usage?.charge_microcredits ?? 0) > 0, 'what was used is settled');
    }
    const bad = load.spoken.filter(({ told: one }) => ![0, 200, 502, 503].includes(one.status));
    assert.deepEqual(
      bad.map((one) => one.told),
      [],
      'only errors that say: try again',
    );
    const again = await repeatLost(gateway, load.spoken);
    seen.push(...told, ...[...load.spoken, ...again].map((one) => one.told));
    console.log(
      `# shard ${node} back after ${backMs} ms; ${mine.length} streams ended, ` +
        `${others.length} went on (${lastMs} ms), ${again.length} calls repeated`,
    );
  }
  assert.equal(await gateway.mainPid(), main, 'the process is the same');
  await assertNothingHeld(gateway, 3_000);
  await assertChargesTold(gateway, seen);
  await assertLedger(gateway);
});

/** A client whose body never comes to its end, and the shard that waits for it. */
async function openEndless(gateway: Gateway) {
  const raw = await openRaw(gateway);
  const body = JSON.stringify({
    model: 'svc-sim-chat',
    messages: [{ role: 'user', content: 'hello [[sim tokens=1]]' }],
  });
  raw.socket.write(rawHead(gateway, body.length) + body);
  await until('an answer', 10_000, () => raw.text.endsWith('}'), 1);
  const id = /^x-svc-request-id: (\S+)/im.exec(raw.text)?.[1];
  assert.ok(id !== undefined, raw.text);
  raw.socket.write(`${rawHead(gateway, 1_000_000)}{`);
  const drip = setInterval(() => raw.socket.write(' '), 50);
  raw.socket.on('close', () => clearInterval(drip));
  return { raw, node: nodeOfId(id) };
}

test('clients that never finish do not hold back the successor of a failing shard', async () => {
  const { gateway, throwIn } = await start();
  const clients = await Promise.all(Array.from({ length: 16 }, () => openEndless(gateway)));
  const [{ node } = { node: 0 }] = clients;
  await throwIn(node);
  const watch = startStopwatch();
  await sleep(20);
  await servedBy(gateway, node);
  watch.assertWithin(2_000, `shard ${node} is back`);
  for (const client of clients) {
    if (client.node === node) await until('it is closed', 2_000, () => client.raw.closed);
    else assert.ok(!client.raw.closed, 'the other shard goes on reading');
    client.raw.socket.destroy();
  }
  assert.ok(isGood(await chat(gateway, { text: 'hello' })));
});

test('a crash in one generation is told to its client and to nobody else', async () => {
  const { gateway } = await start({ isPoisoned: true });
  const neighbours = await openStreams(gateway, 20, '[[sim tokens=60 gap_ms=20]]');
  const dispatcher = openAgent();
  const watch = startStopwatch();
  const bad = await Promise.all(
    [true, false, true, false].map((stream) =>
      chat(gateway, { text: '[[sim text=some_poison_here]]', stream, dispatcher }),
    ),
  );
  watch.assertWithin(2_000, 'told');
  await dispatcher.destroy();
  for (const one of bad) {
    assert.equal(one.code, 'internal', JSON.stringify(one));
    assert.ok(one.complete);
    assert.equal(one.usage, null, 'nothing was charged');
  }
  for (const one of await Promise.all(neighbours)) assert.ok(isGood(one), JSON.stringify(one));
  await assertNothingHeld(gateway, 3_000);
  await assertLedger(gateway);
});

test('a shard with an exhausted heap: ready again in 3 s, recovered as after kill -9', async () => {
  const chance = openChance('shard heap');
  const { gateway, exhaustHeapOf } = await start({ heapMb: 160 });
  const load = startLoad(gateway, chance, 16);
  await progress(load, 20, 15_000);
  const main = await gateway.mainPid();
  const before = readyCount(gateway);
  await exhaustHeapOf(chance.integer(1, 2));
  const dyingMs = await until('the process aborts', 15_000, () => !isAlive(main), 5);
  const watch = startStopwatch();
  await until('ready again', 10_000, () => readyCount(gateway) > before, 2);
  const readyMs = watch.assertWithin(3_000, 'ready again');
  console.log(`# aborted after ${Math.round(dyingMs)} ms, ready ${readyMs} ms later`);
  await progress(load, 20, 10_000);
  await load.stop();
  await assertNothingHeld(gateway, 5_000);
  const again = await repeatLost(gateway, load.spoken);
  await assertChargesTold(
    gateway,
    [...load.spoken, ...again].map((one) => one.told),
  );
  await assertLedger(gateway);
});
