// Structured output with schemas that mean harm: whoever sends them waits, and nobody else.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../harness/account.ts';
import { startStopwatch } from '../harness/stopwatch.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

type Members = Record<string, unknown>;

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

interface Reply {
  status: number;
  text: string;
}

async function ask(path: string, body: Members): Promise<Reply> {
  const response = await fetch(bed.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

function chat(schema: Members, text: string, more: Members = {}): Promise<Reply> {
  return ask('/v1/chat/completions', {
    model: 'svc-sim-chat',
    messages: [{ role: 'user', content: text }],
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } },
    ...more,
  });
}

const backtracking = { type: 'object', properties: { x: { type: 'string', pattern: '^(a+)+$' } } };

test('twenty answers that a pattern never finishes with stop no neighbour', async () => {
  const text = `[[sim text={"x":"${'a'.repeat(60)}!"}]]`;
  assert.equal((await chat(backtracking, '[[sim text={"x":"aa"}]]')).status, 200);
  let open = true;
  const slow = Promise.all(Array.from({ length: 20 }, () => chat(backtracking, text)));
  void slow.finally(() => {
    open = false;
  });
  const neighbourMs: number[] = [];
  const watch = startStopwatch();
  while (open) {
    const startedMs = performance.now();
    assert.equal((await fetch(`${bed.url}/v1/models`)).status, 401);
    neighbourMs.push(performance.now() - startedMs);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  for (const reply of await slow) {
    // Only where others had the processor all the time it could not be told, and costs nothing.
    if (reply.status === 503 && watch.busyFactor() > 2) {
      assert.match(reply.text, /could not be checked/);
      continue;
    }
    assert.equal(reply.status, 502, reply.text);
    assert.match(reply.text, /breaks the response format/);
  }
  // On the shard's own thread each answer took the 200 ms that a check may last, one after the
  // other; the machine may hold up single requests.
  const sorted = neighbourMs.sort((one, other) => one - other);
  const median = sorted[sorted.length >> 1] ?? 0;
  console.log(`# a neighbour waited ${median.toFixed(1)} ms, at the most ${sorted.at(-1)} ms`);
  assert.ok(median < 50 * watch.busyFactor(), `${median} ms of ${sorted.length} requests`);
  assert.equal((await account.quiet()).heldMicros, 0n);
});

test('a heavy schema that is none is refused by its path, in every format', async () => {
  const schema = { type: 'thing', properties: { a: { pattern: 'a' } } };
  const messages = [{ role: 'user', content: 'x' }];
  const declared = { type: 'json_schema', name: 'x', schema };
  const bodies: [string, Members, string][] = [
    [
      '/v1/chat/completions',
      { messages, response_format: { ...declared, json_schema: declared } },
      'response_format.json_schema.schema',
    ],
    ['/v1/responses', { input: 'x', text: { format: declared } }, 'text.format.schema'],
    ['/api/v1/llm/responses', { input: 'x', text: { format: declared } }, 'text.format.schema'],
  ];
  for (const [path, body, field] of bodies) {
    for (const model of ['svc-sim-chat', 'svc-intelligent']) {
      const reply = await ask(path, { ...body, model });
      assert.equal(reply.status, 400, reply.text);
      assert.match(reply.text, /JSON Schema is not valid/);
      assert.ok(reply.text.includes(`"${field}"`), reply.text);
    }
  }
  const output_config = { format: { type: 'json_schema', schema } };
  const body = { model: 'svc-sim-messages', max_tokens: 9, messages, output_config };
  assert.equal((await ask('/v1/messages', body)).status, 400);
});

test('a heavy schema is kept to, streamed and whole, constrained and repaired', async () => {
  const schema = {
    type: 'object',
    properties: { x: { $ref: '#/$defs/n' } },
    required: ['x'],
    $defs: { n: { type: 'integer' } },
  };
  for (const model of ['svc-sim-chat', 'svc-sim-messages', 'svc-sim-tiered', 'svc-intelligent']) {
    for (const stream of [false, true]) {
      const good = await chat(schema, '[[sim text={"x":1}]]', { model, stream });
      assert.equal(good.status, 200, good.text);
      assert.match(good.text, /x/);
      const bad = await chat(schema, '[[sim text={"x":"y"}]]', { model, stream });
      assert.match(bad.text, /breaks the response format/, `${model} ${stream}`);
    }
  }
  assert.equal((await account.quiet()).heldMicros, 0n);
});

test('a pattern that only the provider knows is no reason to refuse', async () => {
  const schema = {
    type: 'object',
    properties: { x: { type: 'string', pattern: '(?i)^a+$' } },
    required: ['x'],
  };
  const good = await chat(schema, '[[sim text={"x":"AA"}]]');
  assert.equal(good.status, 200, good.text);
  // Messages providers are asked in prose: nobody would keep to it.
  const body = { model: 'svc-sim-messages', messages: [{ role: 'user', content: 'x' }] };
  const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } };
  const refused = await ask('/v1/chat/completions', { ...body, response_format });
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /response_format\.json_schema\.schema/);
});
