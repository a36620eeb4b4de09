// What a Messages client is told that a path alone would tell clients of other formats.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

let bed: Testbed;
before(async () => {
  bed = await openTestbed();
});
after(() => bed?.close());

test('a member that the model cannot take is named in the message', async () => {
  const account = await bed.account();
  const body = {
    model: 'svc-sim-responses',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'hello' }],
    stop_sequences: ['x'],
  };
  const response = await fetch(`${bed.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 400);
  const { error } = (await response.json()) as { error: { message: string } };
  assert.match(error.message, /'stop_sequences'/);
});

// AI SDK 5 and 6 refuse a whole reply with a null there: it was charged, and nobody could read it.
test('a text without citations has no such member', async () => {
  const account = await bed.account();
  const headers = { 'x-api-key': account.apiKey, 'content-type': 'application/json' };
  const asks = [
    ['svc-sim-messages', 'hello'],
    ['svc-intelligent', 'hello'],
    ['svc-sim-chat', 'hello'],
    ['svc-sim-chat', '[[sim refusal=1]]'],
  ] as const;
  for (const [model, content] of asks) {
    const asked = { model, max_tokens: 99, messages: [{ role: 'user', content }] };
    const ask = async (stream: boolean) => {
      const body = JSON.stringify({ ...asked, stream });
      return await fetch(`${bed.url}/v1/messages`, { method: 'POST', headers, body });
    };
    const whole = (await (await ask(false)).json()) as { content: { type: string }[] };
    assert.equal(whole.content[0]?.type, 'text', JSON.stringify(whole));
    assert.deepEqual(Object.keys(whole.content[0]), ['type', 'text'], `${model} ${content}`);
    const streamed = await (await ask(true)).text();
    assert.match(streamed, /"content_block":\{"type":"text","text":""\}/);
  }
});
