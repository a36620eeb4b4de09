// `completed_at` is the time of the settlement. The stream, the whole reply, a replay and a later
// reading tell the same; what has not completed has none.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAccount } from '../../harness/account.ts';
import { eventsOf } from '../../harness/formats.ts';
import { callResponses, responseBody } from '../../harness/responses.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

interface Told {
  id: string;
  status: string;
  created_at: number;
  completed_at: number | null;
}

/** The responses of a stream, in their order. */
async function streamed(body: Record<string, unknown>, key: string): Promise<Told[]> {
  const reply = await callResponses(account, '', { ...body, stream: true }, { key });
  const events = eventsOf(await reply.text());
  return events.flatMap(({ data }) => (data.response === undefined ? [] : [data.response as Told]));
}

async function whole(path: string, body?: Record<string, unknown>, key?: string): Promise<Told> {
  const options = key === undefined ? {} : { key };
  const reply = await callResponses(account, path, body, options);
  const text = await reply.text();
  assert.equal(reply.status, 200, text);
  return JSON.parse(text) as Told;
}

test('the time is the same, however and whenever it is told', async () => {
  const body = responseBody('[[sim tokens=3]]');
  const told = await streamed(body, 'completed');
  const last = told.at(-1);
  assert.ok(last !== undefined && last.completed_at !== null);
  assert.deepEqual(new Set(told.slice(0, -1).map((each) => each.completed_at)), new Set([null]));
  assert.ok(last.completed_at >= last.created_at);
  assert.ok(Math.abs(Date.now() / 1_000 - last.completed_at) < 60);
  // Whatever is read from now on is read in another second.
  await sleep(1_000);
  const path = `/${last.id}`;
  const again = [
    await whole(path),
    await whole('', body, 'completed'),
    (await streamed(body, 'completed')).at(-1),
  ];
  for (const other of again) assert.equal(other?.completed_at, last.completed_at);
});

test('what did not complete has none', async () => {
  const cut = await whole('', responseBody('[[sim tokens=40]]', { max_output_tokens: 16 }));
  assert.equal(cut.status, 'incomplete');
  assert.equal(cut.completed_at, null);
  assert.equal((await whole(`/${cut.id}`)).completed_at, null);
  const running = await whole(
    '',
    responseBody('[[sim gap_ms=40 tokens=99]]', { background: true }),
  );
  assert.equal(running.completed_at, null);
  await callResponses(account, `/${running.id}/cancel`, {});
  assert.equal((await whole(`/${running.id}`)).completed_at, null);
});
