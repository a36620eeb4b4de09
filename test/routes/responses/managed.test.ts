// Background streams of managed routes and of withheld answers: what is told before the answer has
// its numbers too, so that every reader counts alike.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { auditLedger } from '../../../db/audit.ts';
import type { TestAccount } from '../../harness/account.ts';
import {
  callResponses,
  dataOf,
  endOf,
  eventsOf,
  responseBody,
  streamOf,
  withoutComments,
} from '../../harness/responses.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed({ own: 'it audits every wallet' });
  account = await bed.account();
});
after(() => bed?.close());

/** Streams a background response with readers that come while it runs; all must agree. */
async function agreed(
  text: string,
  members: Record<string, unknown>,
): Promise<Record<string, unknown>[]> {
  const asked = responseBody(text, { background: true, stream: true, ...members });
  const response = await callResponses(account, '', asked);
  assert.equal(response.status, 200);
  const id = `resp_${response.headers.get('x-svc-request-id')?.slice(4)}`;
  const readers = Array.from({ length: 6 }, async (_, index) => {
    await new Promise((resolve) => setTimeout(resolve, index * 40));
    return { after: index, text: await streamOf(account, id, index) };
  });
  const whole = withoutComments(await response.text());
  const events = eventsOf(whole);
  for (const reader of await Promise.all(readers)) {
    assert.equal(reader.text, events.slice(reader.after + 1).join(''), `after ${reader.after}`);
  }
  assert.equal(await streamOf(account, id), whole);
  const last = dataOf(events.at(-1)).response;
  assert.deepEqual(await endOf(account, id), last);
  await account.quiet();
  const broken = (await auditLedger(bed.sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
  return events.map(dataOf);
}

test('a managed route: progress before the answer, the receipt at its end', async () => {
  const events = await agreed('[[sim tokens=20 gap_ms=10 first_ms=50]]', {
    model: 'svc-intelligent',
  });
  assert.ok(events.some((event) => 'svc_progress' in event));
  const { response } = events.at(-1) as { response: Record<string, unknown> };
  assert.ok('svc_routing' in response);
});

const asObject = { model: 'svc-sim-messages', text: { format: { type: 'json_object' } } };

test('an answer that is withheld until it is known to be good', async () => {
  const events = await agreed('[[sim json=good gap_ms=50 first_ms=50]]', asObject);
  assert.equal(events.at(-1)?.type, 'response.completed');
  const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
  assert.equal(deltas.length, 1, 'it comes whole');
});

test('an answer that is withheld and never good', async () => {
  const events = await agreed('[[sim text=no_object gap_ms=30 first_ms=50]]', asObject);
  assert.equal(events.at(-1)?.type, 'response.failed');
  assert.ok(!events.some(({ type }) => type === 'response.output_text.delta'));
});
