// A request with two keys, as agents send them beside that of their own vendor: ours is taken,
// whichever header it stands in.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

let bed: Testbed;
let rich: TestAccount;
let other: TestAccount;
before(async () => {
  bed = await openTestbed();
  rich = await bed.account();
  other = await bed.account({ scopes: ['voice:session'] });
});
after(() => bed?.close());

async function status(headers: Record<string, string>): Promise<number> {
  const response = await fetch(`${bed.url}/v1/models`, { headers });
  await response.text();
  return response.status;
}

test('the key that has the form of ours is taken', async () => {
  const foreign = 'sk-ant-api03-of-somebody-else';
  const ours = rich.apiKey;
  const mistyped = `${ours.slice(0, -1)}${ours.endsWith('0') ? '1' : '0'}`;
  const cases: [authorization: string, apiKey: string, status: number][] = [
    [`Bearer ${ours}`, foreign, 200],
    [`Bearer ${foreign}`, ours, 200],
    ['Basic dXNlcjpwYXNz', ours, 200],
    [`Bearer ${mistyped}`, ours, 200],
    [`Bearer ${ours}`, '', 200],
    [`Bearer ${foreign}`, foreign, 401],
    [`Bearer ${mistyped}`, foreign, 401],
  ];
  for (const [authorization, apiKey, wanted] of cases) {
    const told = await status({ authorization, 'x-api-key': apiKey });
    assert.equal(told, wanted, `${authorization} beside ${apiKey}`);
  }
});

test('of two keys of ours that of Authorization is taken', async () => {
  const first = { authorization: `Bearer ${rich.apiKey}`, 'x-api-key': other.apiKey };
  assert.equal(await status(first), 200);
  const second = { authorization: `Bearer ${other.apiKey}`, 'x-api-key': rich.apiKey };
  assert.equal(await status(second), 403);
});
