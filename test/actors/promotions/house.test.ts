// The house that runs out of credits is told of, if it has something to pay.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as v from 'valibot';
import { billingRecordSchema } from '../../../actors/catalog/document.ts';
import { createHouseLook } from '../../../actors/promotions/house.ts';
import { promotionLimits } from '../../../actors/promotions/limits.ts';
import { createDirectWallet } from '../../../actors/wallet/direct.ts';
import { walletLimits } from '../../../actors/wallet/limits.ts';
import { findHouse } from '../../../db/accounts/house.ts';
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database?.close());

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

test('low credits are a metric and a line, for a house that pays', async () => {
  const sql = database.pool('general', 2);
  const lines: unknown[] = [];
  let rewards: object | null = null;
  let available = () => -1;
  const look = createHouseLook({
    sql,
    billing: () => v.parse(billingRecordSchema, { rewards }),
    limits: promotionLimits,
    registry: {
      watch([gauge]: [string, string, () => number][]) {
        available = gauge?.[2] ?? available;
      },
    } as never,
    log: { warn: (fields: unknown) => lines.push(fields) } as never,
  });
  await look();
  assert.deepEqual([lines.length, available()], [0, 0]);
  rewards = { model: 'some', auto_credits_per_day: 1 };
  await look();
  assert.equal(lines.length, 1);
  const { walletId } = await findHouse(sql);
  const wallet = createDirectWallet({ sql, clock: Date.now, limits: walletLimits, log: silent });
  const amountMicros = promotionLimits.houseLowMicros;
  const credits = { kind: 'promotion', amountMicros, expiresAtMs: null, note: 'fund' } as const;
  await wallet(walletId, 'grant', { operationId: 'test.house', ...credits });
  await look();
  assert.deepEqual([lines.length, available()], [1, Number(amountMicros)]);
});

test('there is one house', async () => {
  const sql = database.pool('general', 1);
  const another = sql`INSERT INTO accounts (id, kind) VALUES ('acc_other', 'house')`;
  await assert.rejects(async () => await another, /accounts_house/);
  const person = sql`UPDATE accounts SET email = 'a@example.com' WHERE kind = 'house'`;
  await assert.rejects(async () => await person, /house_is_nobody/);
});
