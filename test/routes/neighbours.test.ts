// One account that keeps the pool busy is served in turn with the others. Who asks for one thing
// does not wait for all that it has sent. Counting tokens is free, so no wallet stands before it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../harness/account.ts';
import { chatBody, postChat } from '../harness/chat.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

let bed: Testbed;
before(async () => {
  bed = await openTestbed();
});
after(() => bed?.close());

/** A task of a twentieth of a second or more. */
async function count(account: TestAccount, words: number): Promise<number> {
  const text = Array.from({ length: words }, (_, index) => `w${index} `).join('');
  const options = { path: '/v1/messages/count_tokens' };
  const reply = await postChat(account, chatBody(text), options);
  await reply.arrayBuffer();
  return reply.status;
}

test('a neighbour’s count does not wait behind all that one account has sent', async () => {
  const [busy, neighbour, third] = await Promise.all([1, 2, 3].map(() => bed.account()));
  assert.ok(busy !== undefined && neighbour !== undefined && third !== undefined);
  // Every thread has loaded its tokenizer before.
  const warm = await Promise.all([busy, neighbour, third].map((each) => count(each, 60_000)));
  assert.deepEqual(warm, [200, 200, 200]);
  let served = 0;
  const sent = 16;
  const all = Array.from({ length: sent }, async () => {
    const status = await count(busy, 60_000);
    served += 1;
    return status;
  });
  while (served < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  const before = served;
  assert.equal(await count(neighbour, 10), 200);
  const meanwhile = served - before;
  console.log(`# ${meanwhile} of ${sent} were served while the neighbour waited`);
  assert.ok(meanwhile < sent / 2, `${meanwhile} of ${sent} were first`);
  assert.deepEqual(
    await Promise.all(all),
    Array.from({ length: sent }, () => 200),
  );
});
