// A wallet for exactly 100 requests and 1,000 of them at once, decided before the first settles.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createDirectWallet } from '../../actors/wallet/direct.ts';
import { walletLimits } from '../../actors/wallet/limits.ts';
import { makeAccount } from '../harness/account.ts';
import { assertNothingHeld, withBooks } from './books.ts';
import { chat, openAgent } from './client.ts';
import { assertLedger, cleanUp, openGateway } from './reach.ts';
import { openChance } from './seed.ts';

// slow: It sends a thousand requests to one wallet.

after(cleanUp);

const FUNDED = 100;
const CALLS = 1_000;
/** Deciding 1,000 requests takes a second or two alone; every answer starts after that. */
const FIRST_MS = 15_000;

test('100 of 1,000 concurrent requests fit a wallet of 100 holds, 900 get 402', async () => {
  const chance = openChance('overdraw');
  const gateway = await openGateway();
  const maxTokens = chance.integer(1, 2_000);
  const tokens = chance.integer(1, Math.min(maxTokens, 30));
  const text = `[[sim tokens=${tokens} first_ms=${FIRST_MS}]]`;
  await withBooks(gateway, async (sql) => {
    const log = { warn: () => {}, error: () => {} };
    const wallet = createDirectWallet({ sql, clock: Date.now, limits: walletLimits, log });
    const { apiKey, walletId } = await makeAccount(
      { baseUrl: gateway.url, sql, wallet },
      { micros: 0n, requestsPerMinute: 1_000_000, concurrencyMax: 10_000 },
    );
    const dry = await chat(gateway, { text, apiKey, maxTokens });
    assert.equal(dry.status, 402);
    const hold = BigInt(String(dry.headers['x-svc-required-microcredits']));
    const granted = await wallet(walletId, 'grant', {
      operationId: `chaos.${walletId}`,
      kind: 'purchase',
      amountMicros: hold * BigInt(FUNDED),
      expiresAtMs: null,
      note: 'chaos',
    });
    assert.equal(granted.status, 'granted');

    const samples: bigint[] = [];
    const timer = setInterval(() => {
      void sql<{ wallet_micros: bigint }[]>`
        SELECT wallet_micros FROM wallets WHERE id = ${walletId}`.then(([row]) => {
        if (row !== undefined) samples.push(row.wallet_micros);
      });
    }, 50);
    const dispatcher = openAgent(CALLS);
    const ends: { status: number; at: number }[] = [];
    const told = await Promise.all(
      Array.from({ length: CALLS }, async (_, index) => {
        const stream = index % 2 === 0;
        const one = await chat(gateway, { text, apiKey, maxTokens, stream, dispatcher });
        ends.push({ status: one.status, at: performance.now() });
        return one;
      }),
    );
    clearInterval(timer);
    await dispatcher.destroy();

    const count = (status: number) => told.filter((one) => one.status === status).length;
    assert.deepEqual({ ok: count(200), refused: count(402) }, { ok: FUNDED, refused: 900 });
    const good = told.filter((one) => one.usage !== null && one.complete && one.code === null);
    assert.equal(good.length, FUNDED, 'every admitted request got its whole answer');
    const firstGood = Math.min(...ends.filter(({ status }) => status === 200).map(({ at }) => at));
    const lastRefused = Math.max(
      ...ends.filter(({ status }) => status === 402).map(({ at }) => at),
    );
    assert.ok(lastRefused < firstGood, 'all were decided before the first settled');
    assert.ok(samples.length > 20, 'the balance was watched');
    assert.ok(
      samples.some((sample) => sample === 0n),
      'at some moment everything was held',
    );
    assert.ok(
      samples.every((sample) => sample >= 0n),
      'the balance is never below zero',
    );
    const charged = good.reduce((sum, one) => sum + (one.usage?.charge_microcredits ?? 0), 0);
    await assertNothingHeld(gateway, 5_000);
    const [row] = await sql<{ wallet_micros: bigint }[]>`
      SELECT wallet_micros FROM wallets WHERE id = ${walletId}`;
    assert.equal(row?.wallet_micros, hold * BigInt(FUNDED) - BigInt(charged));
  });
  await assertLedger(gateway);
});
