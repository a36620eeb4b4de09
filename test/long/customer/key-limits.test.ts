// 1,000 requests at once on a limit for exactly 100, over HTTP. 100 are answered, and the counter
// is what the ledger says.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createDirectWallet } from '../../../actors/wallet/direct.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import { assertNothingHeld, limitKey, spentOf, withBooks } from '../../chaos/books.ts';
import { chat, openAgent } from '../../chaos/client.ts';
import { assertLedger, cleanUp, openGateway } from '../../chaos/reach.ts';
import { openChance } from '../../chaos/seed.ts';
import { makeAccount } from '../../harness/account.ts';

after(cleanUp);

const answered = 100;
const calls = 1_000;
/** Deciding 1,000 requests takes seconds alone; every answer starts after that. */
const firstMs = 20_000;

test('100 of 1,000 requests at once fit a limit for 100, 900 get 402', async () => {
  const chance = openChance('key limits');
  const gateway = await openGateway();
  const tokens = chance.integer(1, 30);
  const text = `[[sim tokens=${tokens} first_ms=${firstMs}]]`;
  const { apiKey, keyId } = await withBooks(gateway, (sql) => {
    const log = { warn: () => {}, error: () => {} };
    const wallet = createDirectWallet({ sql, clock: Date.now, limits: walletLimits, log });
    const services = { baseUrl: gateway.url, sql, wallet };
    return makeAccount(services, { requestsPerMinute: 1_000_000, concurrencyMax: 10_000 });
  });
  await limitKey(gateway, apiKey, 0n);
  const dry = await chat(gateway, { text, apiKey, maxTokens: 40 });
  assert.equal(dry.status, 402);
  const hold = BigInt(String(dry.headers['x-svc-required-microcredits']));
  await limitKey(gateway, apiKey, hold * BigInt(answered));
  const dispatcher = openAgent(calls);
  const told = await Promise.all(
    Array.from({ length: calls }, (_, index) =>
      chat(gateway, { text, apiKey, maxTokens: 40, stream: index % 2 === 0, dispatcher }),
    ),
  );
  await dispatcher.destroy();
  const count = (status: number) => told.filter((one) => one.status === status).length;
  assert.deepEqual([count(200), count(402)], [answered, calls - answered]);
  await assertNothingHeld(gateway, 5_000);
  const charged = told.reduce((sum, one) => sum + (one.usage?.charge_microcredits ?? 0), 0);
  assert.equal(await spentOf(gateway, keyId), BigInt(charged));
  await assertLedger(gateway);
});
