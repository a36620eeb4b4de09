// A cancel that comes between the end of a generation and the moment when that end is written.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { askChat } from '../../harness/chat.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ shards: 1 });
});
after(() => bed?.close());

test('a generation that has just failed is failed for who cancels it', async () => {
  const account = await bed.account();
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const asked = askChat(account, 'hi [[sim status=500 first_ms=400]]', {}, { key: 'late' });
  const running = async () => {
    const [row] = await bed.sql`SELECT 1 FROM holds WHERE wallet_id = ${account.walletId}`;
    return row !== undefined;
  };
  while (!(await running())) await sleep(5);
  const { status } = await bed.sql.begin(async (transaction) => {
    // What the failed generation held cannot go back while this row is locked.
    await transaction`SELECT 1 FROM wallets WHERE id = ${account.walletId} FOR UPDATE`;
    assert.equal((await asked).status, 502);
    const path = `${bed.url}/v1/generations/late/cancel`;
    const cancelled = fetch(path, { method: 'POST', headers });
    await sleep(300);
    return { status: cancelled.then((reply) => reply.status) };
  });
  assert.equal(await status, 409);
});
