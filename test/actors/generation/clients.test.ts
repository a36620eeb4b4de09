// Clients that leave, come back, cancel and crowd: the answer belongs to its generation, and the
// socket decides only who listens.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { SvcUsage } from '../../../media/model/dialects/contract.ts';
import type { TestAccount } from '../../harness/account.ts';
import { askChat, type ChatStream, openChat, postChat, streamChat } from '../../harness/chat.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

// slow: It waits for answers that run on after their clients have left.

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ own: 'its outage makes every model ill' });
});
after(() => bed?.close());

interface GenerationReply {
  id: string;
  status: string;
  error: { code: string } | null;
  svc_usage: SvcUsage | null;
}

async function generation(
  account: TestAccount,
  key: string,
): Promise<{ status: number; body: GenerationReply }> {
  const response = await fetch(`${bed.url}/v1/generations/${key}`, {
    headers: { authorization: `Bearer ${account.apiKey}` },
  });
  return { status: response.status, body: (await response.json()) as GenerationReply };
}

async function ended(account: TestAccount, key: string): Promise<GenerationReply> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const { status, body } = await generation(account, key);
    if (status === 200 && body.status !== 'running') return body;
    assert.ok(performance.now() < deadline, `${key} is still ${body.status}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function cancel(account: TestAccount, key: string): Promise<Response> {
  return fetch(`${bed.url}/v1/generations/${key}/cancel`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}` },
  });
}

async function spent(account: TestAccount): Promise<bigint> {
  return 1_000_000_000n - (await account.quiet()).availableMicros;
}

const hundred = Array.from({ length: 100 }, (_, index) => ` t${index}`).join('');

for (const stream of [true, false]) {
  const form = stream ? 'stream' : 'whole';

  test(`${form}: a client that leaves before the first event pays nothing`, async () => {
    const account = await bed.account();
    await bed.simulator.reset();
    const controller = new AbortController();
    const asked = postChat(
      account,
      {
        model: 'svc-sim-chat',
        messages: [{ role: 'user', content: '[[sim first_ms=20000]]' }],
        stream,
      },
      { key: 'early', signal: controller.signal },
    );
    asked.catch(() => undefined);
    await bed.simulator.expect({ open: 1 });
    controller.abort();
    await assert.rejects(asked);
    await bed.simulator.expect({ started: 1, aborted: 1, open: 0 });
    assert.equal(await spent(account), 0n);
    const after = await ended(account, 'early');
    assert.equal(after.status, 'failed');
    assert.equal(after.svc_usage, null);
    // Nothing was charged, so the key is free.
    const again = await askChat(account, '[[sim tokens=2]]', {}, { key: 'early' });
    assert.equal(again.status, 200);
    assert.equal(again.body.svc_usage.replayed, false);
  });

  test(`${form}: a client that leaves after the first delta can fetch the answer`, async () => {
    const account = await bed.account();
    await bed.simulator.reset();
    const controller = new AbortController();
    const prompt = '[[sim tokens=100 gap_ms=25]]';
    const options = { key: 'late', signal: controller.signal };
    if (stream) {
      const opened = await openChat(account, prompt, {}, options);
      await opened.read(3);
    } else {
      askChat(account, prompt, {}, options).catch(() => undefined);
      await bed.simulator.expect({ open: 1 });
      // A hundred times what the first delta takes on a machine of its own.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    controller.abort();
    const after = await ended(account, 'late');
    assert.equal(after.status, 'completed');
    assert.equal(after.svc_usage?.output_tokens, 100);
    await bed.simulator.expect({ started: 1, finished: 1, aborted: 0, open: 0 });
    const charge = BigInt(after.svc_usage?.charge_microcredits ?? 0);
    assert.equal(await spent(account), charge);
    const whole = await askChat(account, prompt, {}, { key: 'late' });
    assert.equal(whole.body.choices[0]?.message.content, hundred);
    assert.deepEqual(whole.body.svc_usage, { ...after.svc_usage, replayed: true });
    assert.equal(whole.headers.get('x-svc-request-id'), after.id);
    const streamed = await streamChat(account, prompt, {}, { key: 'late' });
    assert.equal(streamed.text, hundred);
    assert.equal(streamed.finishReason, 'stop');
    assert.deepEqual(streamed.svcUsage, { ...after.svc_usage, replayed: true });
    assert.equal(await spent(account), charge);
    await bed.simulator.expect({ started: 1 });
  });

  test(`${form}: cancel before the first delta is free and ends as incomplete`, async () => {
    const account = await bed.account();
    await bed.simulator.reset();
    const prompt = '[[sim first_ms=20000]]';
    const asked = stream
      ? streamChat(account, prompt, {}, { key: 'stop' })
      : askChat(account, prompt, {}, { key: 'stop' });
    await bed.simulator.expect({ open: 1 });
    const reply = await cancel(account, 'stop');
    assert.equal(reply.status, 200);
    const body = (await reply.json()) as GenerationReply;
    assert.equal(body.status, 'cancelled');
    assert.equal(body.svc_usage?.charge_microcredits, 0);
    const first = await asked;
    await assertCancelled(first, '', body);
    await bed.simulator.expect({ started: 1, aborted: 1, open: 0 });
    assert.equal(await spent(account), 0n);
    // Asked again in either form it is told as the first time, and nothing is called.
    const streamed = await streamChat(account, prompt, {}, { key: 'stop' });
    const again = { ...body, svc_usage: { ...body.svc_usage, replayed: true } as SvcUsage };
    await assertCancelled(streamed, '', again);
    const whole = await askChat(account, prompt, {}, { key: 'stop' });
    await assertCancelled(whole, '', again);
    await bed.simulator.expect({ started: 1, aborted: 1, open: 0 });
  });

  test(`${form}: cancel after some deltas settles what was used`, async () => {
    const account = await bed.account();
    await bed.simulator.reset();
    const prompt = '[[sim tokens=4000 gap_ms=20]]';
    const asked = stream
      ? streamChat(account, prompt, {}, { key: 'stop' })
      : askChat(account, prompt, {}, { key: 'stop' });
    await bed.simulator.expect({ open: 1 });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const reply = await cancel(account, 'stop');
    assert.equal(reply.status, 200);
    const body = (await reply.json()) as GenerationReply;
    assert.equal(body.status, 'cancelled');
    assert.equal(body.svc_usage?.source, 'estimated');
    assert.ok((body.svc_usage?.output_tokens ?? 0) > 0);
    await assertCancelled(await asked, null, body);
    await bed.simulator.expect({ started: 1, aborted: 1, open: 0 });
    assert.equal(await spent(account), BigInt(body.svc_usage?.charge_microcredits ?? -1));
    // Cancelled is an end: asked again, it is told again.
    const again = await askChat(account, prompt, {}, { key: 'stop' });
    assert.equal(again.body.choices[0]?.finish_reason, 'length');
    assert.equal(again.body.svc_usage.replayed, true);
    const twice = await cancel(account, 'stop');
    assert.equal(twice.status, 200);
    await twice.arrayBuffer();
  });
}

type Told = ChatStream | Awaited<ReturnType<typeof askChat>>;

async function assertCancelled(
  told: Told,
  text: string | null,
  { svc_usage: usage }: GenerationReply,
): Promise<void> {
  assert.equal(told.status, 200);
  if ('chunks' in told) {
    assert.equal(told.finishReason, 'length');
    assert.deepEqual(told.svcUsage, usage);
    if (text !== null) assert.equal(told.text, text);
    assert.ok(told.raw.endsWith('data: [DONE]\n\n'));
    return;
  }
  assert.equal(told.body.choices[0]?.finish_reason, 'length');
  assert.deepEqual(told.body.svc_usage, usage);
  if (text !== null) assert.equal(told.body.choices[0]?.message.content, text);
}

test('a client that leaves at the last event has been charged once and can ask again', async () => {
  const account = await bed.account();
  await bed.simulator.reset();
  const prompt = '[[sim tokens=3 gap_ms=30]]';
  for (let round = 0; round < 8; round += 1) {
    const controller = new AbortController();
    const options = { key: `last-${round}`, signal: controller.signal };
    const stream = await openChat(account, prompt, {}, options);
    // Role, three texts; the end is on its way.
    await stream.read(4);
    await new Promise((resolve) => setTimeout(resolve, 25 + round));
    controller.abort();
    const after = await ended(account, `last-${round}`);
    assert.equal(after.status, 'completed');
    assert.equal(after.svc_usage?.source, 'reported');
  }
  await bed.simulator.expect({ started: 8, finished: 8, aborted: 0 });
  assert.equal(await spent(account), 8n * 3_938n);
});

test('fifty clients attached to one generation see the same answer, charged once', async () => {
  const account = await bed.account();
  await bed.simulator.reset();
  const prompt = '[[sim tokens=60 gap_ms=15]]';
  const options = { key: 'crowd' };
  const all = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 12));
      if (index % 5 === 0) {
        const whole = await askChat(account, prompt, {}, options);
        return {
          text: whole.body.choices[0]?.message.content,
          usage: whole.body.svc_usage,
          id: whole.headers.get('x-svc-request-id'),
        };
      }
      const { text, svcUsage, headers } = await streamChat(account, prompt, {}, options);
      return { text, usage: svcUsage, id: headers.get('x-svc-request-id') };
    }),
  );
  const [first] = all;
  assert.equal(first?.text?.length, hundred.indexOf(' t60'));
  for (const { text, usage, id } of all) {
    assert.equal(text, first?.text);
    assert.equal(id, first?.id);
    assert.equal(usage?.charge_microcredits, first?.usage?.charge_microcredits);
  }
  await bed.simulator.expect({ started: 1, finished: 1 });
  assert.equal(await spent(account), BigInt(first?.usage?.charge_microcredits ?? 0));
});

test('requests that race for a key share one generation', async () => {
  const account = await bed.account();
  await bed.simulator.reset();
  const all = await Promise.all(
    Array.from({ length: 40 }, () =>
      askChat(account, '[[sim tokens=8 first_ms=100]]', {}, { key: 'race' }),
    ),
  );
  const ids = new Set(all.map(({ headers }) => headers.get('x-svc-request-id')));
  assert.deepEqual([...new Set(all.map(({ status }) => status))], [200]);
  assert.equal(ids.size, 1);
  await bed.simulator.expect({ started: 1 });
});

test('the last of several clients leaving before the first delta cancels', async () => {
  const account = await bed.account();
  await bed.simulator.reset();
  const prompt = '[[sim first_ms=2500 tokens=3]]';
  const controller = new AbortController();
  const options = { key: 'two' };
  const first = openChat(account, prompt, {}, { ...options, signal: controller.signal });
  first.catch(() => undefined);
  await bed.simulator.expect({ open: 1 });
  const second = streamChat(account, prompt, {}, options);
  // Long enough for the second to be attached on a busy machine, too.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  controller.abort();
  assert.equal((await second).text, ' t0 t1 t2');
  await bed.simulator.expect({ started: 1, finished: 1, aborted: 0 });
});

test('another body under the same key is refused, stream and request_id aside', async () => {
  const account = await bed.account();
  const options = { key: 'same' };
  const first = await askChat(account, '[[sim tokens=2]]', { temperature: 1 }, options);
  assert.equal(first.status, 200);
  const other = await askChat(account, '[[sim tokens=3]]', { temperature: 1 }, options);
  assert.equal(other.status, 422);
  assert.equal(other.body.error?.code, 'idempotency_key_reused');
  assert.equal(other.headers.get('x-should-retry'), 'false');
  const members = { temperature: 1, request_id: 'same', stream_options: { include_usage: true } };
  const same = await streamChat(account, '[[sim tokens=2]]', members, {});
  assert.equal(same.svcUsage?.replayed, true);
  const alias = await askChat(
    account,
    '[[sim tokens=2]]',
    { temperature: 1 },
    {
      ...options,
      path: '/api/v1/chat/completions',
    },
  );
  assert.equal(alias.body.svc_usage.replayed, true);
  const stranger = await bed.account();
  const theirs = await askChat(stranger, '[[sim tokens=3]]', {}, options);
  assert.equal(theirs.body.svc_usage.replayed, false);
});

test('a generation is found by a key that looks like an id of ours', async () => {
  const account = await bed.account();
  const key = 'req_0123456789abcdef01234567';
  assert.equal((await askChat(account, '[[sim tokens=3]]', {}, { key })).status, 200);
  const headers = { authorization: `Bearer ${account.apiKey}` };
  const reply = await fetch(`${bed.url}/v1/generations/${key}`, { headers });
  assert.equal(reply.status, 200);
  const found = (await reply.json()) as { id: string; idempotency_key: string };
  assert.equal(found.idempotency_key, key);
  assert.notEqual(found.id, key);
});

test('another body under the key of a running generation is refused at once', async () => {
  const account = await bed.account();
  const running = await openChat(account, '[[sim tokens=100 gap_ms=10]]', {}, { key: 'run' });
  await running.read(2);
  const other = await askChat(account, 'something else', {}, { key: 'run' });
  assert.equal(other.status, 422);
  await running.read();
  assert.equal(running.finishReason, 'stop');
});

test('a key whose generation failed before any charge runs again', async () => {
  const account = await bed.account();
  await bed.simulator.reset();
  await bed.simulator.outage(500, 60_000);
  const options = { key: 'again' };
  const failed = await askChat(account, '[[sim tokens=2]]', {}, options);
  assert.equal(failed.status, 502);
  assert.equal(failed.headers.get('x-should-retry'), null);
  assert.match(failed.headers.get('x-svc-request-id') ?? '', /^req_[a-f0-9]{24}$/);
  await bed.simulator.outage(0, 0);
  const good = await askChat(account, '[[sim tokens=2]]', {}, options);
  assert.equal(good.status, 200);
  assert.equal(good.body.svc_usage.replayed, false);
  assert.notEqual(good.headers.get('x-svc-request-id'), failed.headers.get('x-svc-request-id'));
});

test('a failure after a charge is told again and never charged again', async () => {
  const account = await bed.account();
  await bed.simulator.reset();
  const prompt = '[[sim fault=cut at=5 gap_ms=10]]';
  const options = { key: 'broken' };
  const first = await streamChat(account, prompt, {}, options);
  assert.equal(first.error?.code, 'upstream_error');
  const charge = first.svcUsage?.charge_microcredits ?? 0;
  assert.ok(charge > 0);
  const again = await streamChat(account, prompt, {}, options);
  assert.equal(again.text, first.text);
  assert.equal(again.error?.code, 'upstream_error');
  assert.equal(again.svcUsage?.replayed, true);
  const whole = await askChat(account, prompt, {}, options);
  assert.equal(whole.status, 502);
  assert.equal(whole.headers.get('x-should-retry'), 'false');
  assert.equal(whole.headers.get('x-svc-request-id'), first.svcUsage?.request_id);
  assert.equal(await spent(account), BigInt(charge));
  await bed.simulator.expect({ started: 1 });
});

test('cancelling what is not there or has ended is refused', async () => {
  const account = await bed.account();
  const nobody = await cancel(account, 'req_000000000000000000000000');
  assert.equal(nobody.status, 404);
  await nobody.arrayBuffer();
  await askChat(account, '[[sim tokens=1]]', {}, { key: 'done' });
  const late = await cancel(account, 'done');
  assert.equal(late.status, 409);
  const { error } = (await late.json()) as { error: { code: string } };
  assert.equal(error.code, 'invalid_state');
  const stranger = await bed.account();
  const theirs = await cancel(stranger, 'done');
  assert.equal(theirs.status, 404);
  await theirs.arrayBuffer();
});

test('a slow reader does not hold its generation, nor does the wallet wait for it', async () => {
  const account = await bed.account();
  await bed.simulator.reset();
  const prompt = '[[sim tokens=4000]]';
  const controller = new AbortController();
  const options = { key: 'slow', signal: controller.signal };
  const stream = await openChat(account, prompt, {}, options);
  const after = await ended(account, 'slow');
  assert.equal(after.status, 'completed');
  assert.equal(after.svc_usage?.output_tokens, 4_000);
  assert.equal(stream.chunks.length, 0);
  controller.abort();
  const replay = await askChat(account, prompt, {}, { key: 'slow' });
  assert.equal(replay.body.svc_usage.replayed, true);
});
