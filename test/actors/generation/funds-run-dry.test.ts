// Wallets that do not cover an answer: refused before it begins, or cut where the money ends; never
// negative, whatever runs at once. Slices are small here, so that short answers need several.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { askChat, streamChat } from '../../harness/chat.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_SLICE_TOKENS: '16' } });
});
after(() => bed?.close());

/** `[[sim tokens=N]]` is 16 to 18 bytes: estimated as this many input tokens (2 by the report). */
const estimatedInput = 9;
const outputMicros = 1_050n;

/** What the first hold of a short prompt costs. */
function firstHold(outputTokens: bigint): bigint {
  return (BigInt(estimatedInput) * 2_625n + outputTokens * 10_500n + 9n) / 10n;
}

test('a hold that does not fit is a 402 with both amounts, and is not retried', async () => {
  const account = await bed.account({ micros: 10_000n });
  await bed.simulator.reset();
  for (const stream of [false, true]) {
    const reply = await askChat(account, '[[sim tokens=10]]', { stream });
    assert.equal(reply.status, 402);
    assert.equal(reply.body.error?.code, 'insufficient_credits');
    assert.equal(reply.body.error?.type, 'insufficient_quota');
    assert.equal(reply.headers.get('x-should-retry'), 'false');
    assert.equal(reply.headers.get('x-svc-available-microcredits'), '10000');
    const required = BigInt(reply.headers.get('x-svc-required-microcredits') ?? '0');
    assert.equal(required, firstHold(16n));
  }
  await bed.simulator.expect({ started: 0 });
  assert.deepEqual(await account.balance(), { availableMicros: 10_000n, heldMicros: 0n });
});

test('a document is held for by its contents, and not read for a nearly empty wallet', async () => {
  const account = await bed.account({ micros: 100_000n });
  await bed.simulator.reset();
  const data = 'A word. '.repeat(50_000);
  const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data } };
  const found = [{ type: 'text', text: data }];
  const result = { type: 'search_result', source: 'notes', title: 'Notes', content: found };
  for (const block of [document, result]) {
    const reply = await fetch(`${account.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'svc-sim-messages',
        max_tokens: 8,
        messages: [{ role: 'user', content: [block, { type: 'text', text: '[[sim tokens=1]]' }] }],
      }),
    });
    assert.equal(reply.status, 402, `${block.type}: ${await reply.text()}`);
  }
  await bed.simulator.expect({ started: 0 });
});

test('the ceiling that was asked for bounds the hold', async () => {
  const account = await bed.account({ micros: 10_000n });
  for (const name of ['max_tokens', 'max_completion_tokens', 'max_output_tokens']) {
    const reply = await askChat(account, '[[sim tokens=10]]', { [name]: 1 });
    assert.equal(reply.status, 200, name);
    assert.equal(reply.body.choices[0]?.finish_reason, 'length');
    assert.equal(reply.body.svc_usage.output_tokens, 1);
  }
  const { availableMicros } = await account.quiet();
  assert.equal(availableMicros, 10_000n - 3n * 1_575n);
});

test('a long answer is held slice by slice, and settled to the token', async () => {
  const account = await bed.account({ micros: 1_000_000n });
  const stream = await streamChat(account, '[[sim tokens=500]]');
  assert.equal(stream.finishReason, 'stop');
  assert.equal(stream.svcUsage?.charge_microcredits, 525 + 500 * 1_050);
  assert.equal(stream.svcUsage?.credits_exhausted, false);
  const { availableMicros } = await account.quiet();
  assert.equal(availableMicros, 1_000_000n - 525_525n);
});

for (const gap of ['', ' gap_ms=4']) {
  for (const stream of [true, false]) {
    const name = `${stream ? 'stream' : 'whole'}${gap === '' ? ' at full speed' : ' paced'}`;
    test(`a wallet that runs dry ends the answer as length: ${name}`, async () => {
      const micros = firstHold(50n) + 500n;
      const account = await bed.account({ micros });
      await bed.simulator.reset();
      const prompt = `[[sim tokens=400${gap}]]`;
      const reply = stream
        ? await streamChat(account, prompt, {}, { key: 'dry' })
        : await askChat(account, prompt, {}, { key: 'dry' });
      assert.equal(reply.status, 200);
      const [text, reason, usage] =
        'chunks' in reply
          ? [reply.text, reply.finishReason, reply.svcUsage]
          : [
              reply.body.choices[0]?.message.content ?? '',
              reply.body.choices[0]?.finish_reason,
              reply.body.svc_usage,
            ];
      assert.equal(reason, 'length');
      assert.equal(usage?.credits_exhausted, true);
      const { availableMicros, heldMicros } = await account.quiet();
      assert.ok(availableMicros >= 0n);
      assert.equal(heldMicros, 0n);
      const charge = BigInt(usage?.charge_microcredits ?? 0);
      assert.equal(micros - availableMicros, charge);
      assert.ok(charge > 40n * outputMicros, `only ${charge} of ${micros} was used`);
      const delivered = text.split(' t').length - 1;
      assert.ok(delivered > 40 && delivered <= 50, `${delivered} tokens were delivered`);
      // At full speed the provider may have been done before the money was.
      if (gap !== '') await bed.simulator.expect({ started: 1, aborted: 1, open: 0 });
      const again = await askChat(account, prompt, {}, { key: 'dry' });
      assert.equal(again.body.svc_usage.replayed, true);
      assert.equal(again.body.svc_usage.credits_exhausted, true);
      assert.equal(again.body.choices[0]?.finish_reason, 'length');
      assert.equal(again.body.choices[0]?.message.content, text);
    });
  }
}

test('a wallet of twenty holds lets exactly twenty of two hundred run', async () => {
  const each = firstHold(16n);
  const account = await bed.account({ micros: 20n * each });
  await bed.simulator.reset();
  const prompt = '[[sim tokens=16 first_ms=5000]]';
  const ask = await askChat(account, prompt, { max_tokens: 16, model: 'svc-sim-nothing' });
  assert.equal(ask.status, 404);
  const replies = await Promise.all(
    Array.from({ length: 200 }, () => askChat(account, '[[sim tokens=9 first_ms=5000]]')),
  );
  const good = replies.filter(({ status }) => status === 200);
  const refused = replies.filter(({ status }) => status === 402);
  assert.equal(good.length + refused.length, 200);
  await bed.simulator.expect({ started: good.length, finished: good.length });
  // The prompt is longer than the one above: fewer may fit, never more.
  const required = BigInt(refused[0]?.headers.get('x-svc-required-microcredits') ?? '1');
  assert.equal(BigInt(good.length), (20n * each) / required);
  const { availableMicros } = await account.quiet();
  const charged = good.reduce((sum, { body }) => sum + body.svc_usage.charge_microcredits, 0);
  assert.equal(20n * each - availableMicros, BigInt(charged));
});

test('an answer that used more input than estimated still leaves nothing negative', async () => {
  // Three-letter words: the provider counts each, the estimate four bytes to the token.
  const text = `${'a '.repeat(400)}[[sim tokens=16]]`;
  const probe = await bed.account({ micros: 1n });
  const refused = await askChat(probe, text, { max_tokens: 16 });
  const required = BigInt(refused.headers.get('x-svc-required-microcredits') ?? '0');
  const account = await bed.account({ micros: required });
  const reply = await askChat(account, text, { max_tokens: 16 });
  assert.equal(reply.status, 200);
  const charge = BigInt(reply.body.svc_usage.charge_microcredits);
  const { availableMicros } = await account.quiet();
  assert.ok(charge > required, 'the report is over the hold');
  assert.equal(availableMicros, 0n);
  const [row] = await bed.sql<{ shortfall: bigint; sum: bigint }[]>`
    SELECT shortfall_micros AS shortfall, wallet_micros + held_micros AS sum
    FROM wallets WHERE id = ${account.walletId}`;
  assert.equal(row?.sum, 0n);
  assert.notEqual(row?.shortfall, 0n);
});
