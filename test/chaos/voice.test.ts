// Voice under chaos: crowds that storm and vanish, shards that fail, processes that die.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sampled, sampledRuns } from '../harness/sample.ts';
import { VoiceClient } from '../harness/voice-client.ts';
import { assertNothingHeld } from './books.ts';
import { type Faults, startFaulty } from './fault.ts';
import { assertLedger, cleanUp, openGateway, tail, until } from './reach.ts';
import { openChance } from './seed.ts';
import { assertCheckpoints, readCheckpoints } from './voice-checkpoints.ts';
import { assertSessions, gather } from './voice-crowd.ts';

// slow: It kills gateways under crowds of sessions, and waits for each to recover.

const faulty: Faults[] = [];

/** A crowd that is killed or stopped has so many sessions. */
const people = sampledRuns(40, 16);
const waves = sampledRuns(10, 3);
const victims = sampled(['main', 'everything'] as const, 1);
const others = sampled(['everything', 'main'] as const, 1);

after(async () => {
  await cleanUp();
  for (const faults of faulty) await faults.close();
});

test(`a storm of ${waves * 100} that come and vanish leaves nothing and hurts no one`, async () => {
  const chance = openChance('voice storm');
  const gateway = await openGateway();
  const apiKey = gateway.dev.api_key;
  const crowd = await gather(gateway, chance, 5);
  const begun = performance.now();
  let ready = 0;
  const comeAndGo = async () => {
    const client = await VoiceClient.connect(gateway.url, { apiKey });
    const patienceMs = chance.integer(0, 200);
    if (chance.integer(0, 3) > 0) client.start();
    await sleep(patienceMs);
    if (client.ofType('session.ready').length > 0) ready += 1;
    client.socket.terminate();
  };
  for (let wave = 0; wave < waves; wave += 1) {
    await Promise.all(Array.from({ length: 100 }, comeAndGo));
  }
  const tookMs = Math.round(performance.now() - begun);
  console.log(`# ${waves * 100} in ${tookMs} ms, ${ready} became ready in time`);
  assert.equal(crowd.live(), 5, 'those who talked still do');
  assert.deepEqual(crowd.endings, []);
  const before = crowd.spoken();
  await until('they are answered', 10_000, () => crowd.spoken() > before + 4, 50);
  crowd.stop();
  await assertNothingHeld(gateway, 8_000);
  await assertSessions(gateway, crowd);
  await assertLedger(gateway);
});

test('an error thrown in a shard ends its sessions renewable, the others go on', async () => {
  const chance = openChance('voice shard error');
  const faults = await startFaulty();
  faulty.push(faults);
  const { gateway, throwIn } = faults;
  const main = await gateway.mainPid();
  const crowd = await gather(gateway, chance, people);
  await until('they are answered', 10_000, () => crowd.spoken() > people, 50);
  await throwIn(1);
  const areBack = () => crowd.endings.length > 0 && crowd.live() === people;
  await until('all are back', 10_000, areBack, 20);
  assert.ok(crowd.endings.length < people, 'one shard failed, not both');
  for (const ending of crowd.endings) {
    assert.deepEqual(ending, { reason: 'server_draining', renewable: true, code: 1012 });
  }
  assert.equal(await gateway.mainPid(), main, 'the process is the same');
  const before = crowd.spoken();
  await until('they are answered', 10_000, () => crowd.spoken() > before + people, 50);
  crowd.stop();
  await assertNothingHeld(gateway, 8_000);
  const figures = await assertSessions(gateway, crowd);
  assert.ok(figures.charged > 0n);
  await assertLedger(gateway);
});

test('SIGTERM: every client is told to come back, everything is settled, exit 0', async () => {
  const chance = openChance('voice stop');
  const gateway = await openGateway({ env: { TOLLGATE_DRAIN_SECONDS: '10' } });
  const crowd = await gather(gateway, chance, people);
  await until('they are answered', 10_000, () => crowd.spoken() > people, 50);
  crowd.tired();
  const begun = performance.now();
  assert.equal(await gateway.stop(), 0, tail(gateway));
  const tookMs = Math.round(performance.now() - begun);
  await until('all were told', 2_000, () => crowd.endings.length === people);
  for (const ending of crowd.endings) {
    assert.deepEqual(ending, { reason: 'server_draining', renewable: true, code: 1012 });
  }
  console.log(`# stopped after ${tookMs} ms`);
  crowd.stop();
  await assertLedger(gateway);
  await assertNothingHeld(gateway, 100);
  await assertSessions(gateway, crowd);
});

test('kill -9 under sessions: what was written is charged, the rest is given back', async () => {
  const chance = openChance('voice kill -9');
  const gateway = await openGateway();
  for (const victim of victims) {
    const crowd = await gather(gateway, chance, people);
    await until('they are answered', 10_000, () => crowd.spoken() > people, 50);
    await sleep(1_500 + chance.integer(0, 500));
    crowd.tired();
    if (victim === 'main') await gateway.killMain();
    else {
      await gateway.killAll();
      await gateway.start();
    }
    crowd.stop();
    await assertNothingHeld(gateway, 5_000);
    const figures = await assertSessions(gateway, crowd);
    assert.ok(figures.charged > 0n, 'what was reported is charged');
    await assertLedger(gateway);
    console.log(`# ${victim} killed: ${figures.sessions} sessions, ${figures.charged} charged`);
  }
});

test('kill -9: all go on with their tokens, and each session pays its own checkpoint', async () => {
  const chance = openChance('voice kill -9, back again');
  const gateway = await openGateway();
  for (const victim of others) {
    const crowd = await gather(gateway, chance, people);
    await until('they are answered', 10_000, () => crowd.spoken() > people, 50);
    await sleep(1_000 + chance.integer(0, 1_000));
    const checkpoints = await readCheckpoints(gateway);
    assert.equal(checkpoints.size, people);
    const killed = new Set(crowd.sessions);
    if (victim === 'main') await gateway.killMain();
    else {
      await gateway.killAll();
      await gateway.start();
    }
    // Nobody is let in again with a token that is not good.
    await until('all are back', 20_000, () => crowd.sessions.size === 2 * killed.size, 20);
    const before = crowd.spoken();
    await until('they are answered', 10_000, () => crowd.spoken() > before + people, 50);
    crowd.stop();
    await assertNothingHeld(gateway, 8_000);
    await assertCheckpoints(gateway, checkpoints);
    await assertSessions(gateway, crowd);
    await assertLedger(gateway);
  }
});
