// Background responses: they run whoever listens, every reader gets the same bytes, and whatever
// happens meanwhile, the books are right.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { auditLedger } from '../../../db/audit.ts';
import type { TestAccount } from '../../harness/account.ts';
import {
  askResponses,
  callResponses,
  dataOf,
  endOf,
  eventsOf,
  firstEvents,
  responseBody,
  startBackground,
  streamOf,
  withoutComments,
} from '../../harness/responses.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed({ own: 'it kills the gateway' });
  account = await bed.account();
});
afterEach(async () => {
  await account.quiet();
  const broken = (await auditLedger(bed.sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
});
after(() => bed?.close());

/** The response that a stream begins with. */
function idOf(text: string): string {
  const { response } = dataOf(eventsOf(text)[0]) as { response: { id: string } };
  return response.id;
}

/** What ` t0 t1 …` of this many tokens costs, with the words of the text that asked for it. */
function price(words: number, tokens: number): number {
  return Math.ceil(words * 262.5 + tokens * 1_050);
}

test('every reader gets the same bytes, from any event on, during and after it', async () => {
  const asked = responseBody('[[sim tokens=40 gap_ms=5 fault=split_utf8 at=9]]', {
    background: true,
    stream: true,
    instructions: 'Grüße',
    metadata: { a: 'b' },
  });
  const response = await callResponses(account, '', asked);
  const id = `resp_${response.headers.get('x-svc-request-id')?.slice(4)}`;
  const readers = Array.from({ length: 12 }, async (_, index) => {
    await new Promise((resolve) => setTimeout(resolve, index * 20));
    return { after: index * 4, text: await streamOf(account, id, index * 4) };
  });
  const whole = withoutComments(await response.text());
  const events = eventsOf(whole);
  assert.ok(events.length > 45, `${events.length} events`);
  for (const { after: number, text } of await Promise.all(readers)) {
    assert.equal(text, events.slice(number + 1).join(''), `after ${number}, while it ran`);
  }
  assert.equal(await streamOf(account, id), whole);
  for (let number = 0; number < events.length; number += 1) {
    assert.equal(await streamOf(account, id, number), events.slice(number + 1).join(''));
  }
});

test('a stream that is cut at its very first event goes on and is charged once', async () => {
  const { availableMicros } = await account.balance();
  const asked = responseBody('[[sim tokens=10 first_ms=200]]', { background: true, stream: true });
  const response = await callResponses(account, '', asked);
  const [created] = await firstEvents(response, 1);
  const id = idOf(created ?? '');
  const ended = await endOf(account, id);
  assert.equal(ended.status, 'completed');
  assert.equal(ended.svc_usage?.charge_microcredits, price(3, 10));
  const now = await account.quiet();
  assert.equal(availableMicros - now.availableMicros, BigInt(price(3, 10)));
});

test('a client that leaves before anything is answered does not stop it either', async () => {
  const leaving = new AbortController();
  const asked = responseBody('[[sim tokens=3 first_ms=300]]', { background: true, stream: true });
  const response = await callResponses(account, '', asked, { signal: leaving.signal });
  const id = `resp_${response.headers.get('x-svc-request-id')?.slice(4)}`;
  leaving.abort();
  await response.text().catch(() => {});
  assert.equal((await endOf(account, id)).status, 'completed');
});

test('a process that is killed leaves a failed response and an untouched wallet', async () => {
  const before = await account.balance();
  const { id } = await startBackground(account, '[[sim tokens=4000 gap_ms=10]]');
  const response = await callResponses(account, `/${id}?stream=true`);
  await firstEvents(response, 6);
  await bed.gateway.killMain();
  const ended = await endOf(account, id);
  assert.equal(ended.status, 'failed');
  assert.equal(ended.error?.code, 'internal');
  assert.match(ended.error?.message ?? '', /stopped before the answer was complete/);
  const events = eventsOf(await streamOf(account, id));
  assert.deepEqual(
    events.map((event) => dataOf(event).type),
    ['response.created', 'response.in_progress', 'response.failed'],
  );
  // Who goes on behind what was seen of it hears of the end as well.
  for (const seen of [2, 5]) {
    const rest = eventsOf(await streamOf(account, id, seen)).map(dataOf);
    assert.deepEqual(
      rest.map((event) => [event.type, event.sequence_number]),
      [['response.failed', seen + 1]],
    );
  }
  assert.deepEqual(await account.quiet(), before);
});

test('a response outlives its key, and another key of the account reads it', async () => {
  const owner = await bed.account();
  const { id } = await startBackground(owner, '[[sim tokens=20 gap_ms=20]]');
  const session = { 'x-svc-session': owner.sessionToken, 'content-type': 'application/json' };
  const post = (path: string, body: unknown) =>
    fetch(bed.url + path, { method: 'POST', headers: session, body: JSON.stringify(body) });
  const made = (await (await post('/api/me/api-keys', { label: 'new' })).json()) as {
    raw_token: string;
  };
  const revoked = await post('/api/me/api-keys/revoke', { api_key_id: owner.keyId });
  assert.equal(revoked.status, 200);
  assert.equal((await askResponses(owner, `/${id}`)).status, 401);
  const ended = await endOf({ baseUrl: bed.url, apiKey: made.raw_token }, id);
  assert.equal(ended.status, 'completed');
  assert.equal((await owner.quiet()).availableMicros, 1_000_000_000n - BigInt(price(3, 20)));
});

test('a hundred pollers and a hundred streams of one response', async () => {
  const { id } = await startBackground(account, '[[sim tokens=60 gap_ms=20]]');
  const pollers = Array.from({ length: 100 }, () => endOf(account, id));
  const streams = Array.from({ length: 100 }, () => streamOf(account, id));
  const [ended, ...others] = await Promise.all(pollers);
  assert.equal(ended?.status, 'completed');
  for (const other of others) assert.deepEqual(other, ended);
  const [text, ...texts] = await Promise.all(streams);
  assert.ok(eventsOf(text ?? '').length > 60);
  for (const other of texts) assert.equal(other, text);
});

test('background responses count among the open requests of their key', async () => {
  const narrow = await bed.account({ concurrencyMax: 2 });
  const asked = '[[sim tokens=1000 gap_ms=10]]';
  const first = await startBackground(narrow, asked);
  const second = await startBackground(narrow, asked);
  const refused = await askResponses(narrow, '', responseBody(asked, { background: true }));
  assert.equal(refused.status, 429);
  assert.equal(refused.body.error?.code, 'concurrency_limited');
  // They can still be watched and ended: else nobody could free the key's places.
  assert.equal((await askResponses(narrow, `/${first.id}`)).body.status, 'in_progress');
  for (const { id } of [first, second]) {
    const { body } = await askResponses(narrow, `/${id}/cancel`, {});
    assert.equal(body.status, 'cancelled');
  }
  assert.equal((await startBackground(narrow, 'now there is room')).status, 'queued');
  await narrow.quiet();
});

test('a provider that refuses makes a failed response, told alike to every reader', async () => {
  const asked = responseBody('[[sim status=500]]', { background: true, stream: true });
  const response = await callResponses(account, '', asked);
  const text = withoutComments(await response.text());
  const events = eventsOf(text).map(dataOf);
  assert.equal(events.at(-1)?.type, 'response.failed');
  const id = idOf(text);
  assert.equal(await streamOf(account, id), text);
  const { body } = await askResponses(account, `/${id}`);
  assert.equal(body.status, 'failed');
  assert.equal(body.error?.code, 'upstream_error');
  assert.equal(body.svc_usage?.charge_microcredits, 0);
  const next = await askResponses(account, '', responseBody('and?', { previous_response_id: id }));
  assert.equal(next.status, 409);
  assert.equal(next.body.error?.code, 'invalid_state');
});

test('one that breaks off after some text is failed, charged, and told alike', async () => {
  const asked = responseBody('[[sim tokens=20 fault=cut at=8]]', {
    background: true,
    stream: true,
  });
  const text = withoutComments(await (await callResponses(account, '', asked)).text());
  const id = idOf(text);
  assert.equal(await streamOf(account, id), text);
  const { body } = await askResponses(account, `/${id}`);
  assert.equal(body.status, 'failed');
  assert.ok((body.svc_usage?.charge_microcredits ?? 0) > 0);
});

test('a running response cannot be continued yet', async () => {
  const { id } = await startBackground(account, '[[sim tokens=1000 gap_ms=10]]');
  const next = await askResponses(account, '', responseBody('and?', { previous_response_id: id }));
  assert.equal(next.status, 409);
  assert.equal(next.body.error?.code, 'conflict');
  assert.equal(next.headers.get('retry-after'), '1');
  await askResponses(account, `/${id}/cancel`, {});
});

test('a wallet that is empty refuses a background response by status', async () => {
  const poor = await bed.account({ micros: 1n });
  const asked = responseBody('hello', { background: true });
  const { status, body } = await askResponses(poor, '', asked);
  assert.equal(status, 402);
  assert.equal(body.error?.code, 'insufficient_credits');
  const stream = await askResponses(poor, '', { ...asked, stream: true });
  assert.equal(stream.status, 402);
});

test('many with one key are one response; who comes later gets its end', async () => {
  await bed.simulator.reset();
  const asked = responseBody('[[sim tokens=20 gap_ms=20]]', { background: true });
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => askResponses(account, '', asked, { key: 'one' })),
  );
  for (const { status } of replies) assert.equal(status, 200);
  const ids = new Set(replies.map(({ body }) => body.id));
  assert.equal(ids.size, 1);
  const [id = ''] = ids;
  const ended = await endOf(account, id);
  assert.equal(ended.status, 'completed');
  const later = await askResponses(account, '', asked, { key: 'one' });
  assert.equal(later.body.status, 'completed');
  assert.equal(later.body.svc_usage?.replayed, true);
  assert.equal((await bed.simulator.stats()).started, 1);
  const streamed = await callResponses(account, '', { ...asked, stream: true }, { key: 'one' });
  const events = eventsOf(withoutComments(await streamed.text()));
  const read = eventsOf(await streamOf(account, id));
  assert.deepEqual(events.slice(0, -1), read.slice(0, -1), 'but for the mark of the replay');
});

test('a long answer is told again to a slow reader, whole', async () => {
  const { id } = await startBackground(account, '[[sim tokens=4096]]');
  assert.equal((await endOf(account, id)).status, 'completed');
  const whole = await streamOf(account, id);
  assert.ok(whole.length > 800_000, `${whole.length} characters`);
  const { body } = await callResponses(account, `/${id}?stream=true`);
  assert.ok(body !== null);
  const pieces: Uint8Array[] = [];
  for await (const piece of body) {
    pieces.push(piece);
    if (pieces.length < 50) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.equal(withoutComments(Buffer.concat(pieces).toString()), whole);
});

test('an event to start after is for streams of background responses', async () => {
  const { id } = await startBackground(account, '[[sim tokens=2]]');
  await endOf(account, id);
  const whole = await askResponses(account, `/${id}?starting_after=1`);
  const plain = await askResponses(account, '', responseBody('[[sim tokens=2]]'));
  const ofPlain = await askResponses(account, `/${plain.body.id}?stream=true&starting_after=1`);
  for (const { status, body } of [whole, ofPlain]) {
    assert.equal(status, 400);
    assert.equal(body.error?.code, 'invalid_request');
    assert.equal(body.error?.param, 'starting_after');
  }
});

test('what is not to be stored cannot run in the background', async () => {
  const asked = responseBody('hello', { background: true, store: false });
  const { status, body } = await askResponses(account, '', asked);
  assert.equal(status, 400);
  assert.equal(body.error?.param, 'background');
});
