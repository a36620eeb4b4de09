// Voice for longer: ten rounds of kill -9 under 300 sessions, and clients that fall silent.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientOptions, WebSocket } from 'ws';
import { assertNothingHeld, withBooks } from '../chaos/books.ts';
import { assertLedger, cleanUp, openGateway, until } from '../chaos/reach.ts';
import { openChance } from '../chaos/seed.ts';
import { assertSessions, gather } from '../chaos/voice-crowd.ts';
import { roundsOf } from './record.ts';

const ROUNDS = 10;
const PEOPLE = 300;

after(cleanUp);

test('kill -9 under 300 sessions leaves right books and no hold', async () => {
  const chance = openChance('voice rounds');
  const gateway = await openGateway();
  for (let round = 0; round < roundsOf(ROUNDS); round += 1) {
    const crowd = await gather(gateway, chance, PEOPLE);
    await until('they are answered', 30_000, () => crowd.spoken() > PEOPLE / 2, 50);
    await sleep(chance.integer(500, 2_500));
    crowd.tired();
    if (round % 3 === 2) {
      await gateway.killAll();
      await gateway.start();
    } else await gateway.killMain();
    crowd.stop();
    await assertNothingHeld(gateway, 20_000);
    const figures = await assertSessions(gateway, crowd);
    assert.ok(figures.charged > 0n);
    await assertLedger(gateway);
    console.log(`# round ${round}: ${figures.sessions} sessions, ${figures.charged} charged`);
  }
});

/** A client whose machine has gone: it neither reads nor answers pings, and nothing says so. */
async function fallSilent(url: string, apiKey: string): Promise<WebSocket> {
  const options: ClientOptions & { autoPong: boolean } = {
    headers: { 'x-api-key': apiKey },
    autoPong: false,
  };
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/voice/sessions`, options);
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.send('{"type":"start","mode":"full","voice_id":"alloy"}');
  await new Promise((resolve) => socket.once('message', resolve));
  socket.pause();
  return socket;
}

test('a client that falls silent without a word is given up, and pays what was used', async () => {
  const chance = openChance('voice silence');
  const gateway = await openGateway({ env: { TOLLGATE_VOICE_IDLE_SECONDS: '300' } });
  const crowd = await gather(gateway, chance, 3);
  const silent = await Promise.all(
    Array.from({ length: 20 }, () => fallSilent(gateway.url, gateway.dev.api_key)),
  );
  const live = () =>
    withBooks(gateway, async (sql) => {
      const [row] = await sql<{ live: bigint }[]>`
        SELECT count(*) AS live FROM voice_sessions WHERE state = 'live'`;
      return row?.live ?? 0n;
    });
  await until('all are known', 5_000, async () => (await live()) === 23n, 200);
  const tookMs = await until('they are given up', 40_000, async () => (await live()) === 3n, 500);
  console.log(`# given up after ${Math.round(tookMs)} ms`);
  assert.equal(crowd.live(), 3);
  for (const socket of silent) socket.terminate();
  crowd.stop();
  await assertNothingHeld(gateway, 8_000);
  await assertLedger(gateway);
});
