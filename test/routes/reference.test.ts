// The reference as a stranger takes it: what its schemas allow is not refused as a bad shape, what
// a route answers with is in it, and a client of voice can be written from it alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { endings } from '../../actors/voice/events.ts';
import { Contract, type Reply } from '../harness/contract.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { VoiceClient } from '../harness/voice-client.ts';

const model = '/api/v1/openapi.json';
let bed: Testbed;
let contract: Contract;
let apiKey: string;
before(async () => {
  bed = await openTestbed();
  contract = await Contract.load(bed.url);
  ({ apiKey } = await bed.account());
});
after(() => bed?.close());

type Members = Record<string, unknown>;

const ask = (method: string, path: string, body?: Members): Promise<Reply> =>
  contract.call(method, path, {
    headers: { authorization: `Bearer ${apiKey}` },
    ...(body === undefined ? {} : { body }),
  });

const messages = [{ role: 'user', content: '[[sim tokens=1]]' }];
const formats: [string, Members][] = [
  ['/v1/chat/completions', { model: 'svc-sim-chat', messages }],
  ['/v1/responses', { model: 'svc-sim-responses', input: 'hello' }],
  ['/v1/responses/input_tokens', { model: 'svc-sim-responses', input: 'hello' }],
  ['/v1/messages', { model: 'svc-sim-messages', messages, max_tokens: 9 }],
  ['/v1/messages/count_tokens', { model: 'svc-sim-messages', messages }],
  ['/api/v1/llm/responses', { model: 'svc-sim-chat', messages }],
];

async function agree(path: string, base: Members, member: Members, isGood: boolean): Promise<void> {
  const body = { ...base, ...member };
  const name = `${path} with ${JSON.stringify(member)}`;
  const { status, text } = await ask('POST', path, body);
  assert.equal(status, isGood ? 200 : 400, `${name}: ${text}`);
  assert.equal(contract.takes(model, 'POST', path, body), isGood, `the schema of ${name}`);
}

test('schemas allow of the shared members what the routes take', async () => {
  const good = [{ n: 1 }, { n: null }, { response_format: { type: 'text' } }];
  const bad = [{ n: 2 }, { response_format: { type: 'xml' } }, { text: { format: { type: '' } } }];
  for (const [path, base] of formats) {
    for (const member of good) await agree(path, base, member, true);
    for (const member of bad) await agree(path, base, member, false);
    if (path.includes('tokens')) continue;
    await agree(path, base, { request_id: `~a/b.c:${path}` }, true);
    for (const id of ['a b', 'ä', ' ']) await agree(path, base, { request_id: id }, false);
  }
});

test('schemas allow of members of one format what its route takes', async () => {
  const [chat, , , writing, counting] = formats;
  assert.ok(chat && writing && counting);
  const [path, base] = chat;
  const tools = [{ type: 'function', function: { name: 'look' } }];
  const chosen = { type: 'function', function: { name: 'look' } };
  await agree(path, base, { tools, tool_choice: chosen }, true);
  await agree(path, base, { tools, tool_choice: { type: 'any' } }, false);
  const { text } = await ask('POST', path, { ...base, tools, tool_choice: { type: 'custom' } });
  assert.match(text, /Missing required field 'tool_choice\.custom'/);
  for (const [route, body] of [writing, counting]) {
    for (const type of ['json_object', '']) {
      await agree(route, body, { output_format: { type } }, false);
      await agree(route, body, { output_config: { format: { type } } }, false);
    }
  }
});

test('refusals to count, cancel or continue have documented headers', async () => {
  const make = async (text: string) => {
    const body = { model: 'svc-sim-responses', input: text, background: true };
    return (await ask('POST', '/v1/responses', body)).json.id as string;
  };
  const count = (id: string) =>
    ask('POST', '/v1/responses/input_tokens', {
      model: 'svc-sim-responses',
      input: 'more',
      previous_response_id: id,
    });
  const running = await make('[[sim tokens=500 gap_ms=20]]');
  assert.equal((await count(running)).headers.get('retry-after'), '1');
  const cancel = `/v1/responses/${running}/cancel`;
  assert.ok((await ask('POST', cancel)).headers.get('x-svc-request-id'));

  const failed = await make('[[sim status=401]]');
  const deadline = performance.now() + 10_000;
  while ((await ask('GET', `/v1/responses/${failed}`)).json.status !== 'failed') {
    assert.ok(performance.now() < deadline);
    await sleep(20);
  }
  const late = await ask('POST', `/v1/responses/${failed}/cancel`);
  const thread = { model: 'svc-sim-messages', messages, thread: { type: 'new' } };
  const refused = await ask('POST', '/v1/messages/count_tokens', thread);
  for (const { headers } of [await count(failed), late, refused]) {
    assert.equal(headers.get('x-should-retry'), 'false');
  }
});

test('a conversation of 200 turns is continued, as the reference and the refusal say', async () => {
  const { description } = documentAt(model).paths['/v1/responses'].post;
  assert.match(description, /more than 200 turns or 16 MiB is not continued: 400/);
  let previous: unknown = null;
  const turn = async () => {
    const more = { input: '[[sim tokens=1]]', previous_response_id: previous };
    const reply = await ask('POST', '/v1/responses', { model: 'svc-sim-chat', ...more });
    previous = reply.json.id;
    return reply;
  };
  for (let turns = 0; turns <= 200; turns += 1)
    assert.equal((await turn()).status, 200, `${turns}`);
  const { status, text } = await turn();
  assert.equal(status, 400);
  assert.match(text, /of more than 200 turns or 16 MiB is not continued/);
});

/** As any JSON: a test that reads a member which is not there fails. */
const documentAt = (path: string) => JSON.parse(JSON.stringify(contract.documents.get(path)));

test('sound is no text', () => {
  const { content } = documentAt(model).paths['/v1/audio/speech'].post.responses[200];
  assert.ok(Object.keys(content).length > 1);
  for (const { schema } of Object.values<{ schema: Members }>(content)) {
    assert.deepEqual(schema, { type: 'string', format: 'binary' });
  }
});

test('a client of voice finds the start, the events, the codes and the reasons', async () => {
  for (const path of [model, '/api/openapi.json']) {
    const { description } = documentAt(path).paths['/v1/voice/sessions'].get;
    const [, example = ''] = /```json\n(.+?)\n```/s.exec(description) ?? [];
    const client = await VoiceClient.connect(bed.url, { apiKey });
    client.send(example);
    const ready = await client.event('session.ready');
    client.send({ type: 'mumble' });
    const error = await client.event('error');
    client.send({ type: 'barge_in' });
    await client.event('playback.clear');
    client.send({ type: 'end' });
    const ended = await client.event('session.ended');
    const members = [ready, error, ended].flatMap((event) => Object.keys(event));
    const optional = ['tools_enabled', 'client_context', 'continuation_token'];
    const told = [...members, ...optional, ...Object.keys(endings), error.code, 'transcript'];
    for (const name of told) assert.ok(description.includes(`\`${name}\``), `${name} is not told`);
  }
});
