// The official Anthropic client, pointed at the gateway and otherwise as its users have it. Its
// refusals stand in anthropic-errors.test.ts. Every test runs on a provider of the same format, and
// where nothing else is said on one of Chat Completions as well.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type Anthropic from '@anthropic-ai/sdk';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { anthropic, messagesModel, svcUsage, textOf, user } from './anthropic-client.ts';

let bed: Testbed;
let account: TestAccount;
let client: Anthropic;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
  client = anthropic(account);
});
after(() => bed?.close());

const weatherTool: Anthropic.Tool = {
  name: 'get_weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } } },
};
const price = (input: number, output: number) => Math.ceil(input * 262.5 + output * 1_050);

for (const model of [messagesModel, 'svc-sim-chat']) {
  const base = { model, max_tokens: 1_000 };

  test(`${model}: a whole message has usage and a receipt`, async () => {
    const message = await client.messages.create({
      ...base,
      system: 'be kind',
      messages: user('hello [[sim tokens=3]]'),
    });
    assert.match(message.id, /^msg_[a-f0-9]{24}$/);
    assert.equal(message.type, 'message');
    assert.equal(message.role, 'assistant');
    assert.equal(message.model, model);
    assert.equal(textOf(message), ' t0 t1 t2');
    assert.equal(message.stop_reason, 'end_turn');
    assert.equal(message.usage.input_tokens, 5);
    assert.equal(message.usage.output_tokens, 3);
    assert.equal(svcUsage(message)?.charge_microcredits, price(5, 3));
    assert.equal(svcUsage(message)?.simulated, true);
    assert.ok(message._request_id, 'the client finds the request id');
  });

  test(`${model}: a stream has the events of the format, the receipt on the last two`, async () => {
    const stream = await client.messages.create({
      ...base,
      messages: user('[[sim tokens=20]]'),
      stream: true,
    });
    const events = [];
    for await (const event of stream) events.push(event);
    const types = events.map(({ type }) => type);
    assert.equal(types[0], 'message_start');
    assert.equal(types[1], 'content_block_start');
    assert.deepEqual(types.slice(-3), ['content_block_stop', 'message_delta', 'message_stop']);
    const [start] = events;
    assert.ok(start?.type === 'message_start');
    assert.equal(start.message.model, model);
    if (model === messagesModel) assert.equal(start.message.usage.input_tokens, 2);
    const last = events.at(-2);
    assert.ok(last?.type === 'message_delta');
    assert.equal(last.delta.stop_reason, 'end_turn');
    assert.equal(last.usage.output_tokens, 20);
    assert.equal(last.usage.input_tokens, 2);
    assert.equal(svcUsage(last)?.output_tokens, 20);
    assert.deepEqual(svcUsage(events.at(-1)), svcUsage(last));
  });

  test(`${model}: the stream helper accumulates the final message`, async () => {
    const deltas: string[] = [];
    const stream = client.messages
      .stream({ ...base, messages: user('[[sim tokens=4]]') })
      .on('text', (delta) => deltas.push(delta));
    const message = await stream.finalMessage();
    assert.equal(textOf(message), ' t0 t1 t2 t3');
    assert.equal(deltas.join(''), ' t0 t1 t2 t3');
    assert.equal(message.usage.output_tokens, 4);
  });

  for (const stream of [false, true]) {
    test(`${model}: parallel tool calls come back whole, stream=${stream}`, async () => {
      const tools = ['alpha', 'beta', 'gamma'].map((name) => ({ ...weatherTool, name }));
      const args = Buffer.from('{"city":"Köln","n":[{"a":1}]}').toString('base64url');
      const messages = user(`[[sim tool=alpha:${args},beta,gamma tokens=3]]`);
      const request = { ...base, messages, tools };
      const message = stream
        ? await client.messages.stream(request).finalMessage()
        : await client.messages.create(request);
      assert.equal(message.stop_reason, 'tool_use');
      const calls = message.content.filter((block) => block.type === 'tool_use');
      assert.deepEqual(
        calls.map(({ name }) => name),
        ['alpha', 'beta', 'gamma'],
      );
      assert.deepEqual(calls[0]?.input, { city: 'Köln', n: [{ a: 1 }] });
      assert.deepEqual(calls[1]?.input, {});
      assert.equal(new Set(calls.map(({ id }) => id)).size, 3);
      const results = calls.map(({ id }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: 'ok',
      }));
      const next = await client.messages.create({
        ...request,
        messages: [
          ...messages,
          { role: 'assistant', content: message.content },
          { role: 'user', content: results },
        ],
      });
      assert.equal(textOf(next), ' t0 t1 t2');
    });

    test(`${model}: the tool runner calls until there is an answer, stream=${stream}`, async () => {
      const called: string[] = [];
      const tool = (name: string) => ({
        type: 'custom' as const,
        name,
        description: name,
        input_schema: { type: 'object' as const, properties: {} },
        parse: (input: unknown) => input,
        run: () => {
          called.push(name);
          return `${name} done`;
        },
      });
      const runner = client.beta.messages.toolRunner({
        ...base,
        messages: user('[[sim tool=first,second tokens=2]]'),
        tools: [tool('first'), tool('second')],
        stream,
      });
      const message = await runner.runUntilDone();
      const text = message.content.map((block) => (block.type === 'text' ? block.text : ''));
      assert.equal(text.join(''), ' t0 t1');
      assert.deepEqual(called.sort(), ['first', 'second']);
    });
  }

  test(`${model}: thinking comes before the text`, async () => {
    const message = await client.messages
      .stream({ ...base, messages: user('[[sim reasoning=3 tokens=2]]') })
      .finalMessage();
    const [thinking, text] = message.content;
    assert.ok(thinking?.type === 'thinking' && text?.type === 'text');
    assert.equal(thinking.thinking, ' r0 r1 r2');
    // What another format has for it is sealed.
    assert.equal(thinking.signature.startsWith('svc1.'), model !== messagesModel);
    assert.equal(text.text, ' t0 t1');
    assert.equal(message.usage.output_tokens_details?.thinking_tokens, 3);
    // The turn goes back as it is, to either provider.
    const next = await client.messages.create({
      ...base,
      messages: [
        ...user('first'),
        { role: 'assistant', content: message.content },
        ...user('[[sim tokens=1]]'),
      ],
    });
    assert.equal(textOf(next), ' t0');
  });

  test(`${model}: a stop sequence, a ceiling and a refusal say why the answer ended`, async () => {
    const length = await client.messages.create({
      ...base,
      max_tokens: 5,
      messages: user('[[sim tokens=9]]'),
    });
    assert.equal(length.stop_reason, 'max_tokens');
    assert.equal(length.usage.output_tokens, 5);
    const refused = await client.messages.create({ ...base, messages: user('[[sim refusal=1]]') });
    assert.equal(refused.stop_reason, 'refusal');
    assert.equal(refused.stop_details?.type, 'refusal');
    const stopped = await client.messages.create({
      ...base,
      stop_sequences: [' t3'],
      messages: user('[[sim tokens=9]]'),
    });
    assert.equal(textOf(stopped), ' t0 t1 t2');
    if (model !== messagesModel) return;
    assert.equal(stopped.stop_reason, 'stop_sequence');
    assert.equal(stopped.stop_sequence, ' t3');
  });

  test(`${model}: structured output is parsed`, async () => {
    const message = await client.messages.parse({
      ...base,
      messages: user('[[sim json=good]]'),
      output_config: {
        format: {
          type: 'json_schema',
          schema: {
            type: 'object',
            properties: { name: { type: 'string' }, year: { type: 'integer' } },
            required: ['name', 'year'],
            additionalProperties: false,
          },
        },
      },
    });
    const parsed = JSON.parse(textOf(message)) as Record<string, unknown>;
    assert.equal(typeof parsed.name, 'string');
    assert.ok(Number.isInteger(parsed.year));
  });

  test(`${model}: members and events that nobody knows break nothing`, async () => {
    const message = await client.messages
      .stream({ ...base, messages: user('[[sim unknown=1 tokens=3]]') })
      .finalMessage();
    assert.equal(textOf(message), ' t0 t1 t2');
    assert.equal(message.content.length, 1);
  });

  test(`${model}: an aborted stream ends at the client and is settled at the gateway`, async () => {
    const own = await bed.account();
    await bed.simulator.reset();
    const stream = await anthropic(own).messages.create({
      ...base,
      messages: user('[[sim tokens=40 gap_ms=10]]'),
      stream: true,
    });
    let seen = 0;
    for await (const event of stream) {
      if (event.type === 'content_block_delta') seen += 1;
      if (seen === 3) stream.controller.abort();
    }
    assert.ok(seen < 40);
    await bed.simulator.expect({ started: 1, finished: 1, aborted: 0 });
    const { availableMicros } = await own.quiet();
    assert.equal(1_000_000_000n - availableMicros, BigInt(price(3, 40)));
  });

  test(`${model}: tokens are counted for free`, async () => {
    const own = await bed.account();
    const counted = await anthropic(own).messages.countTokens({
      model,
      system: 'be kind',
      messages: user('one two three'),
    });
    assert.equal((counted as { svc_estimated?: boolean }).svc_estimated, model !== messagesModel);
    if (model === messagesModel) {
      const message = await anthropic(own).messages.create({
        ...base,
        system: 'be kind',
        messages: user('one two three'),
      });
      assert.equal(counted.input_tokens, message.usage.input_tokens);
      assert.equal(counted.input_tokens, 5);
    } else {
      assert.ok(counted.input_tokens > 3 && counted.input_tokens < 20);
      const { availableMicros } = await own.balance();
      assert.equal(availableMicros, 1_000_000_000n);
    }
  });
}

for (const model of ['svc-sim-chat', 'svc-sim-responses', 'svc-sim-messages', 'svc-sim-gemini']) {
  test(`${model}: reads documents with no title, and with one that is no file name`, async () => {
    const data = Buffer.from('%PDF-1.4').toString('base64');
    const pdf = { type: 'base64', media_type: 'application/pdf', data } as const;
    const text = { type: 'text', media_type: 'text/plain', data: 'one two' } as const;
    const document = <S>(source: S) => ({ type: 'document' as const, source });
    const content: Anthropic.ContentBlockParam[] = [
      document(pdf),
      { ...document(pdf), title: 'Report of 2.1' },
      document(text),
      { ...document(text), title: 'Notes' },
      { type: 'text', text: 'hi [[sim tokens=1]]' },
    ];
    const messages = [{ role: 'user' as const, content }];
    const message = await client.messages.create({ model, max_tokens: 100, messages });
    assert.equal(textOf(message), ' t0');
  });
}
