// Settings of requests, through the gateway. Calls outside of `allowed_tools` are told to nobody. A
// header names what a model has nothing like, and logprobs that it cannot tell are refused.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../../harness/account.ts';
import { ask, type Told } from '../../harness/formats.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

type Members = Record<string, unknown>;

const parameters = { type: 'object', properties: {} };

/** Each format with a function that may be called, and one that may not. */
const allowed: Record<'responses' | 'chat', Members> = {
  responses: {
    tools: [
      ...['first', 'second'].map((name) => ({ type: 'function', name, parameters })),
      { type: 'custom', name: 'third' },
    ],
    tool_choice: {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'function', name: 'second' }],
    },
  },
  chat: {
    tools: ['first', 'second'].map((name) => ({
      type: 'function',
      function: { name, parameters },
    })),
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'second' } }] },
    },
  },
};

/** The names of the calls of a whole answer, and how it ended. */
function callsOf({ body }: Told): [names: unknown[], end: unknown] {
  if (body.object === 'response') {
    const calls = (body.output as Members[]).filter(({ type }) => /_call$/.test(String(type)));
    return [calls.map(({ name }) => name), body.status];
  }
  const [choice] = body.choices as { message: { tool_calls?: { function: Members }[] } }[];
  const calls = choice?.message.tool_calls ?? [];
  return [calls.map((call) => call.function.name), (choice as unknown as Members).finish_reason];
}

for (const format of ['responses', 'chat'] as const) {
  for (const model of ['svc-sim-responses', 'svc-sim-chat', 'svc-sim-messages'] as const) {
    test(`${format} at ${model}: only what is allowed is called`, async () => {
      const members = allowed[format];
      const both = { model, text: '[[sim call=first,second,third]]', members };
      const [names, end] = callsOf(await ask(format, account, both));
      assert.deepEqual(names, ['second']);
      assert.equal(end, format === 'chat' ? 'tool_calls' : 'completed');
      const streamed = await ask(format, account, { ...both, stream: true });
      const said = streamed.raw.replace(/"tools":\[.*?\]/g, '');
      assert.doesNotMatch(said, /"name":"(first|third)"/);
      const none = await ask(format, account, { ...both, text: '[[sim call=first]]' });
      assert.deepEqual(callsOf(none), [[], format === 'chat' ? 'stop' : 'completed']);
      assert.ok((none.svcUsage?.output_tokens ?? 0) > 0, 'what the model wrote is paid for');
    });
  }
}

test('what a model has nothing like is named, an inner member by its path', async () => {
  const members = {
    presence_penalty: 0.5,
    text: { verbosity: 'low' },
    service_tier: 'flex',
    truncation: 'disabled',
  };
  const wanted = {
    'svc-sim-responses': 'service_tier',
    'svc-sim-chat': 'service_tier, text.verbosity',
    'svc-sim-messages': 'presence_penalty, service_tier, text.verbosity',
    'svc-sim-gemini': 'service_tier, text.verbosity',
  };
  for (const [model, dropped] of Object.entries(wanted)) {
    const { status, headers } = await ask('responses', account, { model, text: 'x', members });
    assert.equal(status, 200);
    assert.equal(headers.get('x-svc-dropped-members'), dropped, model);
  }
});

test('logprobs are refused by their path at a model that has none', async () => {
  const members = { logprobs: true };
  for (const model of ['svc-sim-messages', 'svc-sim-gemini']) {
    const { status, error } = await ask('chat', account, { model, text: 'x', members });
    assert.equal(status, 400, model);
    assert.equal(error?.param, 'logprobs');
    const scored = { top_logprobs: 2 };
    const other = await ask('responses', account, { model, text: 'x', members: scored });
    assert.equal(other.error?.param, 'top_logprobs');
  }
  const managed = { model: 'svc-intelligent', text: 'x', members };
  assert.equal((await ask('chat', account, managed)).status, 200);
});
