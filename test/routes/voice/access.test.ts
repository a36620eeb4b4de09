// Who may open a voice session, in which forms, and what a refused handshake is told.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAccount } from '../../harness/account.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type ConnectOptions, Refused, VoiceClient } from '../../harness/voice-client.ts';

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_VOICE_SESSIONS_MAX: '200' } });
  account = await bed.account({ micros: 100_000_000_000n });
});
after(() => bed.close());

const connect = (options: ConnectOptions) => VoiceClient.connect(bed.url, options);

async function refusal(options: ConnectOptions): Promise<Refused> {
  const outcome = await connect(options).catch((error: unknown) => error);
  assert.ok(outcome instanceof Refused, `not refused: ${String(outcome)}`);
  assert.equal(outcome.body.ok, false);
  const error = outcome.body.error as Record<string, unknown>;
  assert.deepEqual(Object.keys(error).slice(0, 3), ['code', 'message', 'request_id']);
  assert.equal(outcome.headers['x-request-id'], error.request_id);
  return outcome;
}

const codeOf = ({ status, body }: Refused) => [status, (body.error as { code: string }).code];

async function ticket(headers: Record<string, string>): Promise<string> {
  const response = await fetch(`${bed.url}/v1/voice/tickets`, { method: 'POST', headers });
  assert.equal(response.status, 200);
  const { ticket: made, expires_in: seconds } = (await response.json()) as {
    ticket: string;
    expires_in: number;
  };
  assert.equal(seconds, 60);
  return made;
}

async function talks(options: ConnectOptions): Promise<VoiceClient> {
  const client = await connect(options);
  await client.ready();
  client.send({ type: 'end' });
  assert.deepEqual(await client.close(), { code: 1000, reason: 'client_end' });
  return client;
}

test('a key is taken as a header, as a bearer, and beside the subprotocol', async () => {
  const { apiKey } = account;
  const plain = await talks({ apiKey });
  assert.equal(plain.socket.protocol, '', 'offering none is allowed');
  await talks({ headers: { authorization: `Bearer ${apiKey}` } });
  await talks({ apiKey, path: '/api/v1/voice/sessions' });
  const paired = await talks({ subprotocols: ['svc.voice.v1', `svc.key.${apiKey}`] });
  assert.equal(paired.socket.protocol, 'svc.voice.v1', 'never the key');
});

test('offers of subprotocols may stand in a line each', async () => {
  const offers = ['svc.voice.v1', `svc.key.${account.apiKey}`];
  const asked = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
  for (const names of [offers, offers.toReversed()]) {
    const headers = { ...asked, ...key, 'sec-websocket-protocol': names };
    const handshake = request(`${bed.url}/v1/voice/sessions`, { headers }).end();
    const [reply, socket] = await once(handshake, 'upgrade');
    assert.equal(reply.headers['sec-websocket-protocol'], 'svc.voice.v1');
    socket.destroy();
  }
});

test('a message over its bound is told so, before the start and after it', async () => {
  const { apiKey } = account;
  const early = await connect({ apiKey });
  early.socket.send('x'.repeat(200 * 1024));
  assert.deepEqual(await early.close(), { code: 1008, reason: 'invalid_start' });
  const client = await connect({ apiKey });
  await client.ready();
  client.socket.send('x'.repeat(200 * 1024));
  client.socket.send(Buffer.alloc(200 * 1024));
  client.send({ type: 'end' });
  assert.deepEqual(await client.close(), { code: 1000, reason: 'client_end' });
  const errors = client.ofType('error');
  assert.deepEqual(
    errors.map(({ code, fatal }) => [code, fatal]),
    [
      ['invalid_message', false],
      ['invalid_message', false],
    ],
  );
});

test('what admits nobody is answered with 401 or 403 in the voice envelope', async () => {
  const { apiKey } = account;
  assert.deepEqual(codeOf(await refusal({})), [401, 'unauthenticated']);
  assert.deepEqual(codeOf(await refusal({ apiKey: 'nonsense' })), [401, 'invalid_api_key']);
  const inQuery = await refusal({ query: `api_key=${apiKey}&key=${apiKey}` });
  assert.deepEqual(codeOf(inQuery), [401, 'unauthenticated'], 'a key is never in the query');
  assert.equal(inQuery.headers['www-authenticate'], 'Bearer');
  const badPair = await refusal({ subprotocols: ['svc.voice.v1', 'svc.key.nonsense'] });
  assert.deepEqual(codeOf(badPair), [401, 'invalid_api_key']);
  assert.deepEqual(codeOf(await refusal({ query: 'ticket=nonsense' })), [401, 'unauthenticated']);
  const cookie = { cookie: `svc_session=${account.sessionToken}` };
  assert.deepEqual(codeOf(await refusal({ headers: cookie })), [401, 'unauthenticated']);
  const limited = await bed.account({ scopes: ['models:generate'] });
  const scope = await refusal({ apiKey: limited.apiKey });
  assert.deepEqual(codeOf(scope), [403, 'insufficient_scope']);
});

test('a plain GET of the WebSocket is told what it is', async () => {
  const headers = { 'x-api-key': account.apiKey };
  const response = await fetch(`${bed.url}/v1/voice/sessions`, { headers });
  const body = (await response.json()) as { error: { code: string } };
  assert.deepEqual([response.status, body.error.code], [400, 'invalid_request']);
  assert.equal(response.headers.get('sec-websocket-version'), '13');
});

test('a ticket admits once, on whichever shard, for a key and for a user', async () => {
  const byKey = await ticket({ 'x-api-key': account.apiKey });
  await talks({ query: `ticket=${byKey}`, subprotocols: ['svc.voice.v1'] });
  assert.deepEqual(codeOf(await refusal({ query: `ticket=${byKey}` })), [401, 'unauthenticated']);
  const byUser = await ticket({ 'x-svc-session': account.sessionToken });
  await talks({ query: `ticket=${byUser}` });
  await talks({ headers: { 'x-svc-session': account.sessionToken } });
});

test('of a hundred that race for a ticket exactly one wins', async () => {
  for (let round = 0; round < 3; round += 1) {
    const made = await ticket({ 'x-api-key': account.apiKey });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, () => connect({ query: `ticket=${made}` })),
    );
    const winners = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    assert.equal(winners.length, 1);
    for (const each of outcomes) {
      if (each.status === 'rejected') assert.equal((each.reason as Refused).status, 401);
    }
    winners[0]?.socket.terminate();
  }
});

test('a ticket is worth nothing when its key is revoked meanwhile', async () => {
  const other = await bed.account();
  const made = await ticket({ 'x-api-key': other.apiKey });
  const revoked = await fetch(`${bed.url}/api/me/api-keys/revoke`, {
    method: 'POST',
    headers: { 'x-svc-session': other.sessionToken, 'content-type': 'application/json' },
    body: JSON.stringify({ api_key_id: other.keyId }),
  });
  assert.equal(revoked.status, 200);
  assert.deepEqual(codeOf(await refusal({ query: `ticket=${made}` })), [401, 'unauthenticated']);
});

test('the limits of a key count sessions for as long as they last', async () => {
  const busy = await bed.account({ concurrencyMax: 2 });
  const { apiKey } = busy;
  const open = [await connect({ apiKey }), await connect({ apiKey })];
  const full = await refusal({ apiKey });
  assert.deepEqual(codeOf(full), [429, 'concurrency_limited']);
  assert.equal(full.headers['retry-after'], '1');
  assert.equal(full.headers['x-ratelimit-limit-concurrency'], '2');
  open[0]?.socket.close();
  await open[0]?.close();
  await open[1]?.until('a place is free again', () => true);
  let next: VoiceClient | null = null;
  for (let attempt = 0; next === null && attempt < 1_000; attempt += 1) {
    next = await connect({ apiKey }).catch(() => null);
    if (next === null) await sleep(20);
  }
  assert.ok(next !== null);
  for (const client of [open[1], next]) client?.socket.terminate();
  const slow = await bed.account({ requestsPerMinute: 1 });
  const first = await connect({ apiKey: slow.apiKey });
  assert.deepEqual(codeOf(await refusal({ apiKey: slow.apiKey })), [429, 'rate_limited']);
  first.socket.terminate();
});

test('a ticket that is refused for want of a place admits when there is one', async () => {
  const busy = await bed.account({ concurrencyMax: 1 });
  const { apiKey } = busy;
  const query = `ticket=${await ticket({ 'x-api-key': apiKey })}`;
  const open = await connect({ apiKey });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const full = await refusal({ query });
    assert.deepEqual(codeOf(full), [429, 'concurrency_limited']);
    assert.equal(full.headers['retry-after'], '1');
  }
  open.socket.terminate();
  let client: VoiceClient | Refused | null = null;
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const outcome = await connect({ query }).catch((error: unknown) => error);
    client = outcome instanceof VoiceClient || outcome instanceof Refused ? outcome : null;
    if (!(client instanceof Refused) || client.status !== 429) break;
    await sleep(20);
  }
  assert.ok(client instanceof VoiceClient, 'who was told to come again is let in');
  client.socket.terminate();
  assert.deepEqual(codeOf(await refusal({ query })), [401, 'unauthenticated'], 'once');
});

test('a user without a key has 64 sessions at once, by session and by ticket', async () => {
  const user = await bed.account({ micros: 100_000_000_000_000n });
  const headers = { 'x-svc-session': user.sessionToken };
  // A ticket is a request as well: the last one would find no place.
  const unused = await ticket(headers);
  const tickets = await Promise.all(Array.from({ length: 32 }, () => ticket(headers)));
  // Half on tickets: each way alone would have room for more.
  const clients = await Promise.all(
    Array.from({ length: 64 }, async (_, index) => {
      const options = index % 2 === 0 ? { headers } : { query: `ticket=${tickets[index >> 1]}` };
      const client = await connect(options);
      await client.ready();
      return client;
    }),
  );
  for (const options of [{ headers }, { query: `ticket=${unused}` }]) {
    const full = await refusal(options);
    assert.deepEqual(codeOf(full), [429, 'concurrency_limited']);
    assert.equal(full.headers['retry-after'], '1');
    assert.equal(full.headers['x-ratelimit-limit-concurrency'], '64');
    assert.match((full.body.error as { message: string }).message, /for this key or user/);
    assert.equal(full.headers['x-ratelimit-remaining-concurrency'], '0');
  }
  // The places are the account's: its key has its own, and so have others.
  await talks({ apiKey: user.apiKey });
  const [first, ...others] = clients;
  first?.send({ type: 'end' });
  await first?.close();
  let next: VoiceClient | null = null;
  for (let attempt = 0; next === null && attempt < 1_000; attempt += 1) {
    next = await connect({ headers }).catch(() => null);
    if (next === null) await sleep(20);
  }
  assert.ok(next !== null, 'places come back');
  for (const client of [...others, next]) client.socket.terminate();
  await user.quiet();
});

test('a full shard refuses the handshake with 503 and Retry-After, and recovers', async () => {
  const { apiKey } = account;
  const full = await openTestbed({ shards: 1, env: { TOLLGATE_VOICE_SESSIONS_MAX: '3' } });
  try {
    const own = await full.account();
    const key = { apiKey: own.apiKey };
    const clients = await Promise.all([1, 2, 3].map(() => VoiceClient.connect(full.url, key)));
    const outcome = await VoiceClient.connect(full.url, key).catch((error: unknown) => error);
    // The first handshakes of a process wait for their key: the last of several was once cut.
    for (const { closed } of clients) assert.equal(closed, null, 'who was admitted stays');
    assert.ok(outcome instanceof Refused);
    assert.deepEqual(codeOf(outcome), [503, 'overloaded']);
    assert.ok(Number(outcome.headers['retry-after']) > 0);
    for (const client of clients) client.socket.terminate();
    let again: VoiceClient | null = null;
    for (let attempt = 0; again === null && attempt < 200; attempt += 1) {
      again = await VoiceClient.connect(full.url, key).catch(() => null);
    }
    assert.ok(again !== null, 'places come back');
    await again.ready();
    again.socket.terminate();
    await own.quiet();
  } finally {
    await full.close();
  }
  assert.ok(apiKey.length > 0);
});

test('the catalog names the voices, the formats and the longest duration', async () => {
  for (const path of ['/v1/voice/voices', '/api/v1/voice/voices']) {
    const response = await fetch(bed.url + path, { headers: { 'x-api-key': account.apiKey } });
    const { data, ...rest } = (await response.json()) as Record<string, unknown>;
    assert.deepEqual(rest, {
      object: 'list',
      protocol: 'svc.voice.v1',
      model: 'svc-voice-1',
      input_audio: {
        encoding: 'pcm_s16le',
        sample_rate_hz: 16_000,
        channels: 1,
        frame_bytes: 1_024,
      },
      output_audio: { encoding: 'pcm_s16le', sample_rate_hz: 24_000, channels: 1 },
      max_duration_seconds: 450,
    });
    const voices = data as { id: string; object: string }[];
    assert.ok(voices.length > 5);
    assert.ok(voices.every(({ object }) => object === 'voice'));
  }
  const user = await fetch(`${bed.url}/v1/voice/voices`, {
    headers: { 'x-svc-session': account.sessionToken },
  });
  assert.equal(user.status, 200);
});

test('no client of a handshake that went wrong leaves anything behind', async () => {
  await account.quiet();
  const [live] = await bed.sql<{ count: bigint }[]>`
    SELECT count(*) AS count FROM voice_sessions WHERE state = 'live'`;
  assert.equal(live?.count, 0n);
});
