// The legacy desktop route through a real gateway: the reply, the events of its stream, its errors.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

async function ask(body: Members): Promise<Response> {
  return await fetch(`${bed.url}/api/v1/llm/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function events(response: Response): Promise<{ name: string; data: Members }[]> {
  // A comment keeps an idle stream alive; it ends with a single newline.
  const text = (await response.text()).replace(/^:.*\n/gm, '');
  const blocks = text.split('\n\n').filter((block) => block !== '');
  return blocks.map((block) => {
    const [, name = '', data = 'null'] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
    return { name, data: JSON.parse(data) as Members };
  });
}

const model = 'svc-sim-responses';

test('input and messages are answered whole, with a generated or a given request id', async () => {
  const first = await ask({ model, input: 'hello [[sim tokens=2]]', instructions: 'be brief' });
  assert.equal(first.status, 200);
  const reply = (await first.json()) as Members;
  const { svc_usage: usage } = reply as { svc_usage: Members };
  assert.deepEqual(Object.keys(reply), [
    'ok',
    'request_id',
    'model',
    'text',
    'finish_reason',
    'svc_usage',
  ]);
  assert.equal(reply.text, ' t0 t1');
  assert.equal(reply.finish_reason, 'stop');
  assert.match(String(reply.request_id), /^req_[0-9a-f]{24}$/);
  assert.equal(reply.request_id, first.headers.get('x-svc-request-id'));
  assert.equal(usage.input_tokens, 5);
  const messages = [{ role: 'user', content: 'hello [[sim tokens=2]]' }];
  const named = { model: 'svc-sim-chat', messages, request_id: 'sink-1' };
  const one = (await (await ask(named)).json()) as Members;
  assert.equal(one.request_id, 'sink-1');
  const [delta, done] = await events(await ask({ ...named, stream: true }));
  assert.deepEqual(delta, { name: 'delta', data: { text: ' t0 t1' } });
  assert.ok(done !== undefined);
  assert.equal((done.data.svc_usage as Members).replayed, true);
});

test('a stream is deltas and done, a tool call stands in done', async () => {
  const streamed = await events(await ask({ model, stream: true, input: '[[sim tokens=3]]' }));
  assert.deepEqual(
    streamed.map(({ name, data }) => [name, data.text]),
    [
      ['delta', ' t0'],
      ['delta', ' t1'],
      ['delta', ' t2'],
      ['done', ' t0 t1 t2'],
    ],
  );
  const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }];
  const [done] = await events(
    await ask({ model, stream: true, tools, input: '[[sim tool=look]]' }),
  );
  assert.equal(done?.name, 'done');
  assert.equal(done.data.finish_reason, 'tool_calls');
  const [call] = done.data.tool_calls as { function: Members }[];
  assert.deepEqual(call?.function, { name: 'look', arguments: '{}' });
});

test('idempotency keys that differ, or are none, are refused by their names', async () => {
  const keyed = async (body: Members, key: string) => {
    const response = await fetch(`${bed.url}/api/v1/llm/responses`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${account.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ model, input: 'x', ...body }),
    });
    const { error } = (await response.json()) as { error: Members };
    return [response.status, error.details];
  };
  assert.deepEqual(await keyed({ request_id: 'my-1' }, 'other'), [400, { path: 'request_id' }]);
  assert.deepEqual(await keyed({}, 'a b'), [400, { path: 'idempotency-key' }]);
  // Letters that are not ASCII alone are blanks to the server: a retry would be charged again.
  for (const key of ['', '\u00e9\u00fc', '\u00d0\u00b7\u00d0\u00b0']) {
    assert.deepEqual(await keyed({}, key), [400, { path: 'idempotency-key' }]);
  }
});

test('errors have the envelope of the route, before the stream and in it', async () => {
  for (const [body, code] of [
    [{ model, messages: [] }, 'invalid_request'],
    [{ model }, 'invalid_request'],
    [{ model: 'none', input: 'x' }, 'model_not_found'],
    [{ model, input: '[[sim status=500]]' }, 'upstream_error'],
  ] as const) {
    const reply = (await (await ask(body)).json()) as { ok: boolean; error: Members };
    assert.equal(reply.ok, false);
    assert.equal(reply.error.code, code);
    assert.equal(typeof reply.error.request_id, 'string');
  }
  const failing = '[[sim tokens=30 fault=error at=20]]';
  const streamed = await events(await ask({ model, stream: true, input: failing }));
  const last = streamed.at(-1);
  assert.equal(last?.name, 'error');
  assert.equal(last.data.ok, false);
  assert.equal((last.data.error as Members).code, 'upstream_error');
  assert.ok(Number((last.data.svc_usage as Members).charge_microcredits) > 0);
});
