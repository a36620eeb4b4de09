// Stored responses beside the official client's way: what is kept of requests that came to nothing,
// how conversations reach models of each family, and what a database without the table does.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { auditLedger } from '../../../db/audit.ts';
import type { TestAccount } from '../../harness/account.ts';
import { askChat } from '../../harness/chat.ts';
import {
  askResponses,
  callResponses,
  dataOf,
  eventsOf,
  firstEvents,
  type ResponseBody,
  responseBody,
  streamOf,
} from '../../harness/responses.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed({ own: 'it takes a table away' });
  account = await bed.account();
});
afterEach(async () => {
  await account.quiet();
  const broken = (await auditLedger(bed.sql)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
});
after(() => bed?.close());

/** How many rows are kept of an account; waits a moment for what is being taken back. */
async function kept(accountId: string, expected: number): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const rows = await bed.sql`SELECT 1 FROM responses WHERE account_id = ${accountId}`;
    if (rows.length === expected) return;
    assert.ok(performance.now() < deadline, `${rows.length} rows instead of ${expected}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function ask(text: string, members: Record<string, unknown> = {}): Promise<ResponseBody> {
  const { status, body } = await askResponses(account, '', responseBody(text, members));
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

test('requests that came to nothing leave nothing', async () => {
  const owner = await bed.account();
  for (const text of ['[[sim status=500]]', '[[sim status=400]]']) {
    for (const stream of [false, true]) {
      const reply = await askResponses(owner, '', responseBody(text, { stream }));
      assert.ok(reply.status >= 400, `${reply.status}`);
    }
  }
  await kept(owner.accountId, 0);
  const poor = await bed.account({ micros: 1n });
  assert.equal((await askResponses(poor, '', responseBody('hello'))).status, 402);
  await kept(poor.accountId, 0);
  const wrong = responseBody('hello', { model: 'unknown' });
  assert.equal((await askResponses(owner, '', wrong)).status, 404);
  await kept(owner.accountId, 0);
});

test('many with one key keep one response', async () => {
  const owner = await bed.account();
  const asked = responseBody('[[sim tokens=10 gap_ms=10]]');
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => askResponses(owner, '', asked, { key: 'one' })),
  );
  const ids = new Set(replies.map(({ body }) => body.id));
  assert.equal(ids.size, 1);
  await kept(owner.accountId, 1);
  const [id = ''] = ids;
  assert.equal((await askResponses(owner, `/${id}`)).body.status, 'completed');
});

test('a response is continued without a word, and by a retry of that when it is gone', async () => {
  const first = await ask('hello');
  for (const members of [{ input: [] }, { input: null }, { input: undefined }]) {
    const asked = { ...responseBody('', { previous_response_id: first.id }), ...members };
    const next = await askResponses(account, '', asked);
    assert.equal(next.status, 200, JSON.stringify(next.body));
    const read = await askResponses(account, `/${next.body.id}`);
    assert.equal(read.body.status, 'completed');
    const { previous_response_id: previous } = read.body as { previous_response_id?: string };
    assert.equal(previous, first.id);
    const third = await ask('and?', { previous_response_id: next.body.id });
    assert.equal(third.status, 'completed');
  }
  const asked = responseBody('', { previous_response_id: first.id, input: [] });
  const kept = await askResponses(account, '', asked, { key: 'wordless' });
  await askResponses(account, `/${first.id}`, undefined, { method: 'DELETE' });
  const again = await askResponses(account, '', asked, { key: 'wordless' });
  assert.equal(again.status, 200);
  assert.equal(again.body.id, kept.body.id);
});

test('a retry replays the answer of a deleted response, and brings nothing back', async () => {
  const first = await ask('hello');
  const asked = responseBody('and?', { previous_response_id: first.id });
  const second = await askResponses(account, '', asked, { key: 'retried' });
  assert.equal(second.status, 200);
  for (const id of [first.id, second.body.id]) {
    const deleted = await askResponses(account, `/${id}`, undefined, { method: 'DELETE' });
    assert.equal(deleted.status, 200);
  }
  const again = await askResponses(account, '', asked, { key: 'retried' });
  assert.equal(again.status, 200);
  assert.equal(again.body.id, second.body.id);
  assert.equal(again.body.svc_usage?.replayed, true);
  assert.equal((await askResponses(account, `/${second.body.id}`)).status, 404);
  const other = await askResponses(account, '', asked, { key: 'another' });
  assert.equal(other.status, 404);
});

test('a retry replays the answer to what referred to a deleted response', async () => {
  for (const more of [[{ role: 'user', content: 'and?' }], []]) {
    const first = await ask('hello');
    const reference = { type: 'item_reference', id: first.output[0]?.id };
    const asked = responseBody('', { input: [reference, ...more] });
    const key = `refers-${more.length}`;
    const second = await askResponses(account, '', asked, { key });
    assert.equal(second.status, 200);
    await askResponses(account, `/${first.id}`, undefined, { method: 'DELETE' });
    const again = await askResponses(account, '', asked, { key });
    assert.equal(again.status, 200, JSON.stringify(again.body));
    assert.equal(again.body.id, second.body.id);
    assert.equal((await askResponses(account, '', asked, { key: `other-${key}` })).status, 400);
  }
});

test('a long item is not told as often as it is referred to, whatever it is called', async () => {
  const first = await ask('', { input: [{ role: 'user', content: 'x'.repeat(200_000) }] });
  const place = first.id.replace('resp_', '');
  const names = [`msg_${place}10000`, `msg_${place}010000`, `x_${place}10000`];
  const refer = (count: number) => {
    const input = Array.from({ length: count }, (_, index) => {
      return { type: 'item_reference', id: names[index % names.length] };
    });
    return askResponses(account, '', responseBody('', { input }));
  };
  assert.equal((await refer(2)).status, 200);
  const often = await refer(1_000);
  assert.equal(often.status, 400);
  assert.match(often.body.error?.param ?? '', /^input\[8\d\]\.id$/);
});

test('an answer is written for who may ask for it again, and for nobody else', async () => {
  const owner = await bed.account();
  const asked = (members: Record<string, unknown>) => responseBody('hello', members);
  await askResponses(owner, '', asked({ store: false }));
  await askResponses(owner, '', asked({ store: false }), { key: 'answers' });
  await askResponses(owner, '', asked({}));
  await askChat(owner, 'hello');
  const rows = await bed.sql<{ kept: boolean }[]>`
    SELECT answer IS NOT NULL AS kept FROM generations
    WHERE account_id = ${owner.accountId} ORDER BY id`;
  assert.deepEqual(
    rows.map((row) => row.kept),
    [false, true, true, false],
  );
});

test('a stream that its client left before the first delta is no response', async () => {
  const leaving = new AbortController();
  await bed.simulator.reset();
  const asked = responseBody('[[sim tokens=5 first_ms=60000]]', { stream: true });
  const call = callResponses(account, '', asked, { signal: leaving.signal });
  await bed.simulator.expect({ open: 1 });
  leaving.abort();
  await call.then((response) => response.text()).catch(() => {});
  await account.quiet();
  const rows = await bed.sql<{ generation_id: string }[]>`
    SELECT generation_id FROM responses ORDER BY generation_id DESC LIMIT 1`;
  const id = `resp_${rows[0]?.generation_id.slice(4)}`;
  assert.equal((await askResponses(account, `/${id}`)).status, 404);
});

test('a response whose stream its client left is read whole afterwards', async () => {
  const asked = responseBody('[[sim tokens=30 gap_ms=10]]', { stream: true });
  const response = await callResponses(account, '', asked);
  const events = await firstEvents(response, 6);
  const { response: begun } = dataOf(events[0]) as { response: ResponseBody };
  await account.quiet();
  const { body } = await askResponses(account, `/${begun.id}`);
  assert.equal(body.status, 'completed');
  const text = body.output[0]?.content?.[0]?.text;
  assert.equal(text, Array.from({ length: 30 }, (_, index) => ` t${index}`).join(''));
  const again = eventsOf(await streamOf(account, begun.id)).map(dataOf);
  assert.deepEqual(again.at(-1)?.response, body);
  const after = await askResponses(account, `/${begun.id}?stream=true&starting_after=3`);
  assert.equal(after.status, 400);
  assert.equal(after.body.error?.param, 'starting_after');
});

test('the aliases lead to the same responses', async () => {
  const { id } = await ask('hello');
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const alias = `${bed.url}/api/v1/responses/${id}`;
  assert.equal((await fetch(alias, { headers })).status, 200);
  assert.equal((await fetch(`${alias}/input_items`, { headers })).status, 200);
  assert.equal((await fetch(`${alias}/cancel`, { method: 'POST', headers })).status, 409);
  assert.equal((await fetch(alias, { method: 'DELETE', headers })).status, 200);
  assert.equal((await fetch(alias, { headers })).status, 404);
});

test('an id that is none of ours is not found', async () => {
  for (const id of ['resp_x', 'req_000000000000000000000000', `resp_${'0'.repeat(24)}`]) {
    assert.equal((await askResponses(account, `/${id}`)).status, 404);
    const next = await askResponses(account, '', responseBody('?', { previous_response_id: id }));
    assert.equal(next.status, 404);
    assert.equal(next.body.error?.param, 'previous_response_id');
  }
});

const models = ['svc-sim-chat', 'svc-sim-responses', 'svc-sim-gemini', 'svc-sim-messages'];
const look = { type: 'function', name: 'look', parameters: { type: 'object' } };

for (const model of models) {
  test(`${model}: calls, their results and reasoning go back to the model`, async () => {
    const first = await ask('[[sim call=look,look reasoning=4]]', { model, tools: [look] });
    const calls = first.output.filter(({ type }) => type === 'function_call');
    assert.equal(calls.length, 2);
    const results = calls.map(({ call_id }) => {
      return { type: 'function_call_output', call_id, output: 'seen' };
    });
    const next = { model, tools: [look], input: results, previous_response_id: first.id };
    const second = await askResponses(account, '', next);
    assert.equal(second.status, 200, JSON.stringify(second.body));
    const third = await ask('thanks [[sim tokens=2]]', {
      model,
      previous_response_id: second.body.id,
    });
    assert.equal(third.status, 'completed');
    const sent = JSON.stringify(await bed.simulator.lastBody());
    assert.equal(sent.match(/"seen"/g)?.length, 2, sent);
    assert.equal(sent.match(/thanks/g)?.length, 1);
    for (const ours of [first.id, 'previous_response_id', '"background"']) {
      assert.ok(!sent.includes(ours), `${ours} stays here: ${sent}`);
    }
  });
}

test('a conversation goes on behind an answer that is nothing but thinking', async () => {
  const model = 'svc-sim-messages';
  const first = await ask('[[sim reasoning=3 tokens=0]]', { model });
  const types = first.output.map(({ type }) => type);
  assert.deepEqual(types, ['reasoning']);
  const next = await ask('go on [[sim tokens=1]]', { model, previous_response_id: first.id });
  assert.equal(next.status, 'completed');
});

test('a model is changed in the middle of a conversation', async () => {
  const first = await ask('[[sim tokens=2 reasoning=3]]', { model: 'svc-sim-responses' });
  const second = await ask('and?', { model: 'svc-sim-gemini', previous_response_id: first.id });
  const third = await ask('so?', { model: 'svc-sim-chat', previous_response_id: second.id });
  const { messages } = (await bed.simulator.lastBody()) as { messages: { role: string }[] };
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'user', 'assistant', 'user'],
  );
  assert.equal(third.status, 'completed');
});

test('a long input is stored as it came, and continued', async () => {
  const content = 'Wärme — 漢字 🧭 '.repeat(1_000);
  const input = Array.from({ length: 20 }, () => ({ role: 'user', content }));
  const first = await ask('', { input: [...input, { role: 'user', content: '[[sim tokens=1]]' }] });
  const [row] = await bed.sql<{ input: string }[]>`
    SELECT input FROM responses WHERE generation_id = ${first.id.replace('resp_', 'req_')}`;
  assert.deepEqual(JSON.parse(row?.input ?? '').slice(0, 20), input);
  await ask('[[sim tokens=1]]', { previous_response_id: first.id });
  const { messages } = (await bed.simulator.lastBody()) as { messages: typeof input };
  assert.deepEqual(messages.slice(0, 20), input);
});

test('where a request cannot be stored, it is not generated', async () => {
  await bed.simulator.reset();
  await bed.sql`ALTER TABLE responses RENAME TO responses_away`;
  try {
    const text = '[[sim tokens=1000 gap_ms=10]]';
    for (const members of [{ stream: true }, { background: true }]) {
      const { status } = await askResponses(account, '', responseBody(text, members));
      assert.equal(status, 500);
    }
    assert.equal(
      (await askResponses(account, '', responseBody('x', { store: false }))).status,
      200,
    );
  } finally {
    await bed.sql`ALTER TABLE responses_away RENAME TO responses`;
  }
  await account.quiet();
  await bed.simulator.expect({ open: 0 });
});
