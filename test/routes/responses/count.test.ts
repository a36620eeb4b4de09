// The free count of a response's input, as the official client asks for it: the turns that it
// continues are part of it, and nothing is stored or charged.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import type { TestAccount } from '../../harness/account.ts';
import { Contract } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

const model = 'svc-sim-messages';

let bed: Testbed;
let client: OpenAI;
before(async () => {
  bed = await openTestbed();
  client = clientOf(await bed.account());
});
after(() => bed?.close());

function clientOf({ apiKey }: TestAccount): OpenAI {
  return new OpenAI({ baseURL: `${bed.url}/v1`, apiKey, maxRetries: 0 });
}

test('what is counted is what the answer is then charged for', async () => {
  for (const alias of [model, 'svc-sim-chat', 'svc-sim-responses', 'svc-intelligent']) {
    const asked = { model: alias, instructions: 'Be brief.', input: 'one two three' };
    const counted = await client.responses.inputTokens.count(asked);
    assert.equal(counted.object, 'response.input_tokens');
    if (alias === model) {
      const { usage } = await client.responses.create(asked);
      assert.equal(counted.input_tokens, usage?.input_tokens, alias);
    }
    assert.ok(counted.input_tokens >= 5, `${alias}: ${counted.input_tokens}`);
  }
});

test('the turns that a response continues are counted with it', async () => {
  const first = await client.responses.create({ model, input: 'one two three' });
  const next = { model, input: 'four', previous_response_id: first.id };
  const { input_tokens } = await client.responses.inputTokens.count(next);
  const { usage } = await client.responses.create(next);
  assert.ok(input_tokens > 4, `${input_tokens}`);
  assert.equal(input_tokens, usage?.input_tokens);
  const stranger = clientOf(await bed.account());
  await assert.rejects(stranger.responses.inputTokens.count(next), OpenAI.NotFoundError);
});

test('counting is free, and stores nothing', async () => {
  const owner = await bed.account({ micros: 0n });
  const contract = await Contract.load(bed.url);
  const headers = { authorization: `Bearer ${owner.apiKey}` };
  const body = { model, input: 'one two three' };
  for (const path of ['/v1/responses/input_tokens', '/api/v1/responses/input_tokens']) {
    const { status, json } = await contract.call('POST', path, { headers, body });
    assert.equal(status, 200, path);
    assert.deepEqual(json, {
      object: 'response.input_tokens',
      input_tokens: 3,
      svc_estimated: false,
    });
  }
  const stored = bed.sql`SELECT 1 FROM responses WHERE account_id = ${owner.accountId}`;
  assert.equal((await stored).length, 0);
  const made = bed.sql`SELECT 1 FROM generations WHERE account_id = ${owner.accountId}`;
  assert.equal((await made).length, 0);
});

test('what cannot be generated is not counted', async () => {
  const { inputTokens } = client.responses;
  const refused = async (body: OpenAI.Responses.InputTokenCountParams, param: string) => {
    await assert.rejects(inputTokens.count(body), (error) => {
      assert.ok(error instanceof OpenAI.APIError, `${error}`);
      assert.equal(error.param, param);
      return true;
    });
  };
  await refused({ model: 'nothing', input: 'x' }, 'model');
  await refused({ model: 'svc-tts', input: 'x' }, 'model');
  await refused({ model }, 'input');
});
