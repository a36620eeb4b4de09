// Guessing from one address: 429 in the envelope of the route, over all shards. Whose credential is
// known goes on from the same address, also when no shard has it in memory.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unknownCredentialRule } from '../../actors/credentials/limits.ts';
import { newKeyToken } from '../../actors/credentials/token.ts';
import { Contract, type Reply } from '../harness/contract.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { Refused, VoiceClient } from '../harness/voice-client.ts';

// slow: The limit refills while a slow machine guesses, so it guesses more often.

let bed: Testbed;
let contract: Contract;
before(async () => {
  bed = await openTestbed({ shards: 2, env: { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1' } });
  contract = await Contract.load(bed.url);
});
after(() => bed?.close());

const { limit } = unknownCredentialRule;
const from = (address: string) => ({ 'x-forwarded-for': address });

function models(key: string, address: string): Promise<Reply> {
  const headers = { ...from(address), authorization: `Bearer ${key}` };
  return contract.call('GET', '/v1/models', { headers });
}

async function guess(address: (index: number) => string): Promise<void> {
  const startedAt = performance.now();
  let known = 0;
  // A slow machine takes so long that more are allowed meanwhile: until most of a batch is refused.
  let refused = 0;
  for (let sent = 0; refused < 40 && sent < 10 * limit; sent += 50) {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => models(newKeyToken('live'), address(sent + index))),
    );
    for (const { status } of replies) {
      assert.ok(status === 401 || status === 429, `${status}`);
      if (status === 401) known += 1;
    }
    refused = replies.filter(({ status }) => status === 429).length;
  }
  const refilled = Math.ceil(((performance.now() - startedAt) / 60_000) * limit);
  // Two shards that count in the same moment may count one.
  const most = limit * 1.08 + refilled;
  assert.ok(known >= limit && known <= most, `${known}, ${refilled} came meanwhile`);
}

/** One failure more is allowed ten times a second: of many at once most are refused. */
async function refusalOf<T extends { status: number }>(send: () => Promise<T>): Promise<T> {
  const replies = await Promise.all(Array.from({ length: 30 }, send));
  const refused = replies.find(({ status }) => status === 429);
  assert.ok(refused !== undefined, replies.map(({ status }) => status).join());
  return refused;
}

async function refusedTicket(address: string): Promise<Refused> {
  const options = { headers: from(address), query: 'ticket=nonsense' };
  const refused = await VoiceClient.connect(bed.url, options).catch((error: unknown) => error);
  assert.ok(refused instanceof Refused, String(refused));
  return refused;
}

test('who guesses is told 429 for what is nobody’s, in the envelope of the route', async () => {
  const address = '198.51.100.9';
  const account = await bed.account();
  const other = await bed.account();
  assert.equal((await models(account.apiKey, address)).status, 200);
  await guess(() => address);
  const refused = await refusalOf(() => models(newKeyToken('live'), address));
  assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  assert.equal(refused.headers.get('x-ratelimit-limit-requests'), `${limit}`);
  assert.equal((refused.json.error as { type: string }).type, 'rate_limit_error');
  const key = { ...from(address), 'x-api-key': 'svc_live_nonsense' };
  const messages = await refusalOf(() =>
    contract.call('POST', '/v1/messages', { headers: key, body: {} }),
  );
  assert.deepEqual(Object.keys(messages.json), ['type', 'error', 'request_id']);
  const session = { ...from(address), 'x-svc-session': 'x'.repeat(43) };
  const keys = await refusalOf(() =>
    contract.call('GET', '/api/me/api-keys', { headers: session }),
  );
  assert.equal((keys.json.error as { code: string }).code, 'rate_limited');
  const voice = await refusalOf(() => refusedTicket(address));
  assert.equal((voice.body.error as { code: string }).code, 'rate_limited');

  assert.equal((await models(newKeyToken('live'), '198.51.100.10')).status, 401, 'a neighbour');
  assert.equal((await models(account.apiKey, address)).status, 200, 'known to the shards');
  const fresh = await Promise.all(Array.from({ length: 8 }, () => models(other.apiKey, address)));
  for (const { status } of fresh) assert.equal(status, 200, 'known to the database alone');
  const mine = { ...from(address), 'x-svc-session': other.sessionToken };
  assert.equal((await contract.call('GET', '/api/me/api-keys', { headers: mine })).status, 200);
});

test('who has a network of IPv6 addresses is one guesser', async () => {
  await guess((index) => `2001:db8:1:2::${index.toString(16)}`);
  await refusalOf(() => models(newKeyToken('live'), '2001:db8:1:2:ffff::1'));
  assert.equal((await models(newKeyToken('live'), '2001:db8:1:3::1')).status, 401);
});
