// Messages on managed routes, and what the format has of its own on the wire: progress in pings, a
// receipt on the last two events, counts that fall back, aliases of the paths.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { anthropic, messagesModel, textOf, user } from './anthropic-client.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

function post(path: string, body: Members, headers: Record<string, string> = {}) {
  return fetch(bed.url + path, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ max_tokens: 100, ...body }),
  });
}

async function eventsOf(response: Response): Promise<Members[]> {
  const lines = (await response.text()).split('\n');
  const data = lines.filter((line) => line.startsWith('data: '));
  return data.map((line) => JSON.parse(line.slice(6)) as Members);
}

test('a managed stream tells its progress in pings and its routing at the end', async () => {
  const response = await post('/v1/messages', {
    model: 'svc-intelligent',
    messages: user('hello [[sim tokens=3]]'),
    stream: true,
  });
  assert.equal(response.status, 200);
  const receiptId = response.headers.get('x-svc-routing-receipt-id');
  assert.match(receiptId ?? '', /^rr_[a-f0-9]{24}$/);
  const events = await eventsOf(response);
  const progress = events.filter((event) => event.svc_progress !== undefined);
  assert.ok(progress.length > 0);
  assert.ok(progress.every(({ type }) => type === 'ping'));
  const [delta, stop] = events.slice(-2);
  assert.equal(delta?.type, 'message_delta');
  assert.equal(stop?.type, 'message_stop');
  for (const event of [delta, stop]) {
    assert.ok(event);
    assert.equal((event.svc_routing as Members).receipt_id, receiptId);
    assert.equal((event.svc_usage as Members).model, 'svc-intelligent');
  }
  const message = await anthropic(account)
    .messages.stream({
      model: 'svc-intelligent',
      max_tokens: 100,
      messages: user('hello [[sim tokens=3]]'),
    })
    .finalMessage();
  assert.equal(textOf(message), ' t0 t1 t2');
  assert.equal(message.model, 'svc-intelligent');
});

test('tokens of a managed route are counted too', async () => {
  const counted = await anthropic(account).messages.countTokens({
    model: 'svc-intelligent',
    messages: user('one two three'),
  });
  assert.ok(counted.input_tokens > 0);
});

test('a count that the provider refuses is estimated', async () => {
  const response = await post('/v1/messages/count_tokens', {
    model: messagesModel,
    messages: user('one two three [[sim status=500]]'),
  });
  const { input_tokens, svc_estimated } = (await response.json()) as Members;
  assert.equal(svc_estimated, true);
  assert.ok(Number(input_tokens) > 5 && Number(input_tokens) < 30);
});

test('every path has its alias, and version and betas reach the provider', async () => {
  const headers = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'some-beta' };
  const body = { model: messagesModel, messages: user('[[sim tokens=1]]') };
  const made = await post('/api/v1/messages', body, headers);
  assert.equal(made.status, 200);
  assert.ok(made.headers.get('request-id'));
  assert.equal(made.headers.get('request-id'), made.headers.get('x-request-id'));
  const counted = await post('/api/v1/messages/count_tokens', body, headers);
  assert.deepEqual(await counted.json(), { input_tokens: 2, svc_estimated: false });
  const wrong = await post('/v1/messages', body, { 'anthropic-version': '1999-01-01' });
  assert.equal(wrong.status, 400, 'the provider knows no such version');
});

test('the body that leaves is the client’s own', async () => {
  await post('/v1/messages', {
    model: messagesModel,
    system: [{ type: 'text', text: 'be kind', cache_control: { type: 'ephemeral' } }],
    messages: user('[[sim tokens=1]]'),
    metadata: { user_id: 'u' },
    service_tier: 'auto',
    conversation_id: 'c1',
  });
  const sent = await bed.simulator.lastBody();
  assert.deepEqual(sent, {
    model: 'simulated-messages-large-2026-01-15',
    system: [{ type: 'text', text: 'be kind', cache_control: { type: 'ephemeral' } }],
    messages: user('[[sim tokens=1]]'),
    metadata: { user_id: 'u' },
    max_tokens: 100,
    stream: true,
  });
});

test('thinking of a Responses provider goes back to it, and to no other', async () => {
  const tools = [{ name: 'find', input_schema: { type: 'object' } }];
  const thinking = { type: 'enabled', budget_tokens: 1_024 };
  const first = user('[[sim reasoning=3 call=find tokens=2]]');
  const body = { model: 'svc-sim-responses', max_tokens: 4_000, messages: first, tools, thinking };
  const asked = (await (await post('/v1/messages', body)).json()) as { content: Members[] };
  const [thought] = asked.content;
  const call = asked.content.find(({ type }) => type === 'tool_use');
  assert.equal(thought?.type, 'thinking');
  assert.match(String(thought?.signature), /^svc1\./);
  const results = [{ type: 'tool_result', tool_use_id: call?.id, content: 'found' }];
  const messages = [
    ...first,
    { role: 'assistant', content: asked.content },
    { role: 'user', content: results },
  ];
  for (const model of ['svc-sim-responses', messagesModel, 'svc-sim-chat']) {
    const response = await post('/v1/messages', { ...body, model, messages });
    const answer = (await response.json()) as { content: Members[] };
    assert.equal(response.status, 200, JSON.stringify(answer));
    assert.equal(answer.content.at(-1)?.text, ' t0 t1');
    const sent = JSON.stringify(await bed.simulator.lastBody());
    assert.equal(sent.includes('"encrypted_content"'), model === 'svc-sim-responses');
    assert.ok(!sent.includes('svc1.'));
  }
});
