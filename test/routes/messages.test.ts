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
