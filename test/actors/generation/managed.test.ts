// Managed aliases end to end, in all four formats: progress before the answer, the receipt where
// each format has it, and the same again on a replay.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fixedLimits } from '../../../runtime/limits.ts';
import type { TestAccount } from '../../harness/account.ts';
import { ask, type Format, formats, post, type Told } from '../../harness/formats.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ own: 'it kills the gateway and closes a route' });
});
after(() => bed?.close());

const aliases = ['svc-intelligent', 'svc-coder', 'svc-intelligent-direct', 'svc-coder-direct'];

function assertReceipt(told: Told, model: string): void {
  const { svcRouting, svcUsage, headers } = told;
  assert.ok(svcRouting !== null && svcUsage !== null, told.raw.slice(-600));
  assert.match(svcRouting.receipt_id, /^rr_[0-9a-f]{24}$/);
  assert.equal(headers.get('x-svc-routing-receipt-id'), svcRouting.receipt_id);
  assert.equal(svcUsage.request_id, headers.get('x-svc-request-id'));
  assert.equal(svcUsage.model, model);
  assert.match(svcRouting.selected_model, /^svc-sim-/);
  assert.ok(
    ['policy', 'capability', 'cost', 'quality', 'fallback'].includes(svcRouting.decision_category),
  );
  assert.equal(svcRouting.outcome, 'completed');
  assert.equal(svcRouting.sticky, false);
  assert.equal(svcRouting.fallbacks, 0);
  assert.match(svcRouting.policy_version, /^\S+$/);
  assert.match(svcRouting.catalog_version, /^\S+$/);
  const { decision, first_token: firstToken, total } = svcRouting.latency_ms;
  assert.ok(decision > 0 && decision < 1_000);
  // Told from before the decision on.
  assert.ok(firstToken !== null && firstToken >= Math.floor(decision) && firstToken <= total);
  assert.equal(svcRouting.charge_microcredits, svcUsage.charge_microcredits);
  for (const name of [
    'input_tokens',
    'cached_input_tokens',
    'cache_write_tokens',
    'output_tokens',
    'reasoning_tokens',
    'search_calls',
  ] as const) {
    assert.equal(svcRouting.usage[name], svcUsage[name], name);
  }
}

/** Where each format has the receipt, and that it is nowhere else. */
function assertPlaces(format: Format, { events }: Told): void {
  const holders = events.flatMap((event, index) =>
    JSON.stringify(event.data).includes('"svc_routing"') ? [index] : [],
  );
  const last = events.length - 1;
  if (format === 'messages') {
    assert.deepEqual(holders, [last - 1, last]);
    assert.deepEqual(
      [events[last - 1]?.name, events[last]?.name],
      ['message_delta', 'message_stop'],
    );
    assert.deepEqual(events[last - 1]?.data.svc_routing, events[last]?.data.svc_routing);
  } else assert.deepEqual(holders, [last]);
  if (format === 'responses') assert.equal(events[last]?.name, 'response.completed');
  if (format === 'legacy') assert.equal(events[last]?.name, 'done');
  const carriers = events.filter(
    ({ name, data }) => name === 'progress' || data.svc_progress !== undefined,
  );
  for (const { name, data } of carriers) {
    if (format === 'messages') assert.equal(name, 'ping');
    if (format === 'responses') assert.equal(name, 'response.in_progress');
    if (format === 'chat') {
      const [choice] = data.choices as { delta: object }[];
      assert.deepEqual(choice?.delta, {});
    }
  }
}

for (const format of formats) {
  test(`${format}: a stream tells progress, then the answer, then its receipt`, async () => {
    const account = await bed.account();
    const { availableMicros: before } = await account.balance();
    for (const model of aliases) {
      const question = { model, text: 'hello [[sim tokens=3]]', stream: true };
      const told = await ask(format, account, question);
      assert.equal(told.status, 200, told.raw);
      assert.equal(told.text, ' t0 t1 t2');
      assert.deepEqual(
        told.progress.map(({ stage, state }) => [stage, state]),
        [['routing', 'completed']],
      );
      assert.ok(told.progressFirst);
      assertReceipt(told, model);
      assertPlaces(format, told);
    }
    const { availableMicros } = await account.quiet();
    // 3 words in and 3 tokens out at the list price, four times.
    assert.equal(before - availableMicros, 4n * BigInt(Math.ceil(3 * 262.5 + 3 * 1_050)));
  });

  test(`${format}: a whole reply carries the receipt, is found again and told again`, async () => {
    const account = await bed.account();
    const model = 'svc-coder';
    const question = { model, text: 'hello [[sim tokens=3]]', key: `whole-${format}` };
    const told = await ask(format, account, question);
    assert.equal(told.text, ' t0 t1 t2');
    assertReceipt(told, model);
    const { availableMicros } = await account.quiet();
    const id = told.headers.get('x-svc-request-id');
    const found = await fetch(`${bed.url}/v1/generations/${id}`, {
      headers: { authorization: `Bearer ${account.apiKey}` },
    });
    const row = (await found.json()) as Record<string, unknown>;
    assert.deepEqual(row.svc_routing, told.svcRouting);
    for (const stream of [false, true]) {
      const again = await ask(format, account, { ...question, stream });
      assert.equal(again.text, told.text);
      assert.deepEqual(again.svcRouting, told.svcRouting);
      assert.deepEqual(again.svcUsage, { ...told.svcUsage, replayed: true });
      const receipt = again.headers.get('x-svc-routing-receipt-id');
      assert.equal(receipt, told.svcRouting?.receipt_id);
    }
    assert.equal((await account.quiet()).availableMicros, availableMicros);
  });

  test(`${format}: the headers leave with the first progress, long before the answer`, async () => {
    const account = await bed.account();
    const control = new AbortController();
    const text = '[[sim tokens=1 first_ms=60000]]';
    const question = { model: 'svc-intelligent', text, stream: true, signal: control.signal };
    const sentAt = performance.now();
    const response = await post(format, account, question);
    const elapsedMs = performance.now() - sentAt;
    // Without progress they would be held back for ten seconds.
    assert.ok(elapsedMs < fixedLimits.http.headerHoldbackMs, `${elapsedMs} ms`);
    control.abort();
    await response.text().catch(() => '');
  });
}

test('chat: with include_usage the receipt is on the usage chunk, the last one', async () => {
  const account = await bed.account();
  const members = { stream_options: { include_usage: true } };
  const question = { model: 'svc-coder', text: '[[sim tokens=2]]', stream: true, members };
  const told = await ask('chat', account, question);
  assertReceipt(told, 'svc-coder');
  assertPlaces('chat', told);
  assert.deepEqual(told.body.choices, []);
  assert.ok(told.body.usage);
});

test('an exact model has neither progress nor receipt', async () => {
  const account = await bed.account();
  for (const format of formats) {
    const question = { model: 'svc-sim-chat', text: '[[sim tokens=2]]', stream: true };
    const told = await ask(format, account, question);
    assert.deepEqual(told.progress, []);
    assert.equal(told.svcRouting, null);
    assert.equal(told.headers.get('x-svc-routing-receipt-id'), null);
  }
});

test('model lists show the managed aliases', async () => {
  const account = await bed.account();
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const list = (await (await fetch(`${bed.url}/v1/models`, { headers })).json()) as {
    data: { id: string }[];
  };
  const ids = list.data.map(({ id }) => id);
  for (const alias of aliases) assert.ok(ids.includes(alias), alias);
  for (const path of ['/api/public/models', '/api/v1/llm/models']) {
    const body = (await (await fetch(bed.url + path, { headers })).json()) as {
      models: { alias: string; available: boolean }[];
    };
    for (const alias of aliases) {
      assert.equal(body.models.find((model) => model.alias === alias)?.available, true, alias);
    }
  }
});

test('a conversation keeps its model, by account and route, also over a restart', async () => {
  const account = await bed.account();
  const turn = async (members: object, model = 'svc-intelligent', who: TestAccount = account) => {
    const told = await ask('chat', who, {
      model,
      text: 'hi [[sim tokens=1]]',
      members: { conversation_id: 'talk-1', ...members },
    });
    assert.ok(told.svcRouting !== null, told.raw);
    return told.svcRouting;
  };
  const first = await turn({});
  assert.equal(first.sticky, false);
  await account.quiet();
  for (let round = 0; round < 8; round += 1) {
    const next = await turn({});
    assert.equal(next.sticky, true);
    assert.equal(next.decision_category, 'sticky');
    assert.equal(next.selected_model, first.selected_model);
  }
  assert.equal((await turn({}, 'svc-coder')).sticky, false);
  assert.equal((await turn({}, 'svc-intelligent', await bed.account())).sticky, false);
  const rerouted = await turn({ metadata: { intelligent_reroute: true } });
  assert.equal(rerouted.sticky, false);
  await account.quiet();
  await bed.gateway.killMain();
  const after = await turn({});
  assert.equal(after.sticky, true);
  assert.equal(after.selected_model, rerouted.selected_model);
});

test('a managed key replays although nothing could be chosen any more', async () => {
  const account = await bed.account();
  const question = { model: 'svc-coder', text: '[[sim tokens=2]]', key: 'kept' };
  const first = await ask('chat', account, question);
  assert.equal(first.status, 200);
  await account.quiet();
  const flip = async (verb: string) => {
    const response = await fetch(`${bed.url}/api/admin/routes/svc-coder/${verb}`, {
      method: 'POST',
      headers: { 'x-svc-session': bed.dev.admin_session_token },
    });
    assert.equal(response.status, 200, await response.text());
  };
  await flip('disable');
  try {
    const again = await ask('chat', account, question);
    assert.equal(again.text, first.text);
    assert.deepEqual(again.svcRouting, first.svcRouting);
    assert.equal(again.svcUsage?.replayed, true);
    assert.equal(again.headers.get('x-svc-routing-receipt-id'), first.svcRouting?.receipt_id);
    const other = await ask('chat', account, { ...question, key: 'other' });
    assert.equal(other.status, 404);
  } finally {
    await flip('enable');
  }
});

test('two streams under one key are one generation and one decision', async () => {
  const account = await bed.account();
  const text = '[[sim tokens=20 gap_ms=30]]';
  const question = { model: 'svc-intelligent', text, stream: true, key: 'both' };
  const one = ask('chat', account, question);
  await new Promise((resolve) => setTimeout(resolve, 150));
  const [first, second] = await Promise.all([one, ask('chat', account, question)]);
  assert.equal(first.text, second.text);
  assert.deepEqual(first.svcRouting, second.svcRouting);
  const rows = await bed.sql`SELECT 1 FROM generations WHERE account_id = ${account.accountId}`;
  assert.equal(rows.length, 1);
});

test('a key whose managed generation died with the process runs again, charged once', async () => {
  const account = await bed.account();
  const { availableMicros: before } = await account.balance();
  const slow = {
    model: 'svc-coder',
    text: '[[sim tokens=60 gap_ms=50]]',
    stream: true,
    key: 'die',
  };
  const lost = ask('chat', account, slow).catch(() => null);
  await new Promise((resolve) => setTimeout(resolve, 400));
  await bed.gateway.killMain();
  await lost;
  const again = await ask('chat', account, slow);
  assert.equal(again.status, 200, again.raw);
  assertReceipt(again, 'svc-coder');
  assert.equal(again.svcUsage?.replayed, false);
  const { availableMicros } = await account.quiet();
  assert.equal(before - availableMicros, BigInt(again.svcUsage?.charge_microcredits ?? -1));
});
