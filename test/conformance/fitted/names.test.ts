// The clients that people use, with what other families refuse in their requests: long names of
// tools, patterns, combinations. Each of them runs its tool by the name that it gave.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../../harness/account.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { anthropic } from '../anthropic-client.ts';
import { openAi } from '../client.ts';

const loaded = await Promise.all([
  import('ai'),
  import('@ai-sdk/openai'),
  import('@ai-sdk/anthropic'),
]).catch(() => null);
const options = loaded === null ? { skip: `ai does not load on ${process.version}` } : {};

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

const stem = 'a_tool_with_a_name_that_says_all_of_what_it_does_and_of_where_it_i';
const [first, second] = [`${stem}s_on`, `${stem}s_it`];
const hash = createHash('sha256').update(second).digest('hex').slice(0, 8);
/** The simulator calls what is declared of these: by the whole name, or by the short one. */
const prompt = `go [[sim call=${second},${second.slice(0, 55)}_${hash} tokens=2]]`;
const pattern = '^(?!__.*__$)[^\\p{Cc}\\p{Cf}"]{1,200}$';
const schema = {
  type: 'object' as const,
  properties: { field: { type: 'string' as const, pattern }, list: { type: 'array' as const } },
  oneOf: [{ required: ['field'] }, { required: ['list'] }],
};
const models = {
  chat: ['svc-sim-messages', 'svc-sim-responses', 'svc-sim-gemini'],
  responses: ['svc-sim-chat', 'svc-sim-messages', 'svc-sim-gemini'],
  messages: ['svc-sim-chat', 'svc-sim-responses', 'svc-sim-gemini'],
};

for (const model of models.chat) {
  test(`openai, Chat at ${model}`, async () => {
    const tools = [first, second].map((name) => {
      return { type: 'function' as const, function: { name, parameters: schema } };
    });
    const messages = [{ role: 'user' as const, content: prompt }];
    const client = openAi(account);
    const answer = await client.chat.completions
      .stream({ model, messages, tools })
      .finalChatCompletion();
    const [call] = answer.choices[0]?.message.tool_calls ?? [];
    assert.ok(call?.type === 'function');
    assert.equal(call.function.name, second);
    const said = { role: 'assistant' as const, content: null, tool_calls: [call] };
    const result = { role: 'tool' as const, tool_call_id: call.id, content: 'ok' };
    const next = [...messages, said, result];
    const final = await client.chat.completions.create({ model, messages: next, tools });
    assert.equal(final.choices[0]?.message.content, ' t0 t1');
  });
}

for (const model of models.responses) {
  test(`openai, Responses at ${model}`, async () => {
    const tools = [first, second].map((name) => {
      return { type: 'function' as const, name, parameters: schema, strict: false };
    });
    const client = openAi(account);
    const answer = await client.responses.stream({ model, input: prompt, tools }).finalResponse();
    const call = answer.output.find(({ type }) => type === 'function_call');
    assert.ok(call?.type === 'function_call');
    assert.equal(call.name, second);
    const { call_id } = call;
    const input = [{ type: 'function_call_output' as const, call_id, output: 'ok' }];
    const previous_response_id = answer.id;
    const final = await client.responses.create({ model, previous_response_id, input, tools });
    assert.equal(final.output_text, ' t0 t1');
  });
}

for (const model of models.messages) {
  test(`@anthropic-ai/sdk at ${model}`, async () => {
    const tools = [first, second].map((name) => ({ name, input_schema: schema }));
    const client = anthropic(account);
    const messages = [{ role: 'user' as const, content: prompt }];
    const asked = { model, max_tokens: 100, tools };
    const answer = await client.messages.stream({ ...asked, messages }).finalMessage();
    const call = answer.content.find((block) => block.type === 'tool_use');
    assert.equal(call?.name, second);
    const said = { role: 'assistant' as const, content: answer.content };
    const result = { type: 'tool_result' as const, tool_use_id: call?.id ?? '', content: 'ok' };
    const next = [...messages, said, { role: 'user' as const, content: [result] }];
    const final = await client.messages.create({ ...asked, messages: next });
    const [text] = final.content;
    assert.equal(text?.type === 'text' && text.text, ' t0 t1');
  });
}

for (const [format, list] of [
  ['chat', models.chat],
  ['responses', models.responses],
  ['messages', models.messages],
] as const) {
  for (const name of list) {
    test(`ai, ${format} at ${name}`, options, async () => {
      assert.ok(loaded);
      const [{ generateText, jsonSchema, stepCountIs, tool }, openaiSdk, anthropicSdk] = loaded;
      const settings = { baseURL: `${bed.url}/v1`, apiKey: account.apiKey };
      const model =
        format === 'messages'
          ? anthropicSdk.createAnthropic(settings)(name)
          : openaiSdk.createOpenAI(settings)[format](name);
      const called: string[] = [];
      const make = (own: string) =>
        tool({
          inputSchema: jsonSchema<Record<string, never>>(schema),
          execute: async () => {
            called.push(own);
            return { done: own };
          },
        });
      const tools = { [first]: make(first), [second]: make(second) };
      const stopWhen = stepCountIs(3);
      const result = await generateText({ model, prompt, tools, stopWhen, maxOutputTokens: 100 });
      assert.deepEqual(called, [second]);
      assert.equal(result.text, ' t0 t1');
    });
  }
}
