// Libraries that speak Messages: the `ai` package with its Anthropic provider, and LangChain, both
// unpatched, over a provider of the same format and over one of Chat.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

async function load<T>(name: string, importing: Promise<T>): Promise<T | null> {
  try {
    return await importing;
  } catch (error) {
    process.stdout.write(`${name} does not load on Node ${process.version}: ${String(error)}\n`);
    return null;
  }
}
const ai = await load('ai', import('ai'));
const provider = await load('@ai-sdk/anthropic', import('@ai-sdk/anthropic'));
const langchain = await load('@langchain/anthropic', import('@langchain/anthropic'));
const core = await load('@langchain/core', import('@langchain/core/messages'));
const isLoaded = ai !== null && provider !== null;
const withAi = isLoaded ? {} : { skip: `not on ${process.version}` };
const withLangchain = langchain === null ? { skip: `not on ${process.version}` } : {};

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

/** The class's own type of it depends on what the tools are. */
interface Usage {
  usage_metadata?: { input_tokens: number; output_tokens: number };
}

const models = ['svc-sim-messages', 'svc-sim-chat'] as const;
const emptyParameters = { type: 'object', properties: {}, additionalProperties: false } as const;

function use(name: string) {
  assert.ok(ai !== null && provider !== null);
  const anthropic = provider.createAnthropic({
    baseURL: `${bed.url}/v1`,
    apiKey: account.apiKey,
  });
  return { ...ai, anthropic, model: anthropic(name) };
}

for (const name of models) {
  test(`ai: streamText reads every delta and the usage at the end (${name})`, withAi, async () => {
    const { streamText, model } = use(name);
    const result = streamText({ model, prompt: '[[sim tokens=30 gap_ms=1]]' });
    let text = '';
    for await (const part of result.textStream) text += part;
    assert.equal(text, Array.from({ length: 30 }, (_, index) => ` t${index}`).join(''));
    assert.equal(await result.finishReason, 'stop');
    const usage = await result.usage;
    assert.equal(usage.inputTokens, 3);
    assert.equal(usage.outputTokens, 30);
  });

  for (const form of ['generateText', 'streamText'] as const) {
    test(`ai: ${form} runs the tool loop, calls in parallel (${name})`, withAi, async () => {
      const { generateText, streamText, stepCountIs, tool, jsonSchema, model } = use(name);
      const called: string[] = [];
      const make = (named: string) =>
        tool({
          description: named,
          inputSchema: jsonSchema<Record<string, never>>(emptyParameters),
          execute: async () => {
            called.push(named);
            return { done: named };
          },
        });
      const request = {
        model,
        prompt: '[[sim tool=one,two tokens=3]]',
        tools: { one: make('one'), two: make('two') },
        stopWhen: stepCountIs(4),
      };
      if (form === 'generateText') {
        const result = await generateText(request);
        assert.equal(result.text, ' t0 t1 t2');
        assert.equal(result.steps.length, 2);
      } else {
        const result = streamText(request);
        let text = '';
        for await (const part of result.textStream) text += part;
        assert.equal(text, ' t0 t1 t2');
      }
      assert.deepEqual(called.sort(), ['one', 'two']);
    });
  }

  test(`ai: thinking comes back as reasoning parts (${name})`, withAi, async () => {
    const { streamText, model } = use(name);
    const result = streamText({
      model,
      prompt: '[[sim reasoning=3 tokens=2 unknown=1]]',
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } },
    });
    let reasoning = '';
    const errors: unknown[] = [];
    for await (const part of result.fullStream) {
      if (part.type === 'reasoning-delta') reasoning += part.text;
      if (part.type === 'error') errors.push(part.error);
    }
    assert.deepEqual(errors, []);
    assert.equal(reasoning, ' r0 r1 r2');
    assert.equal(await result.text, ' t0 t1');
  });

  test(`ai: an error inside a stream arrives as its error part (${name})`, withAi, async () => {
    const { streamText, model } = use(name);
    const errors: unknown[] = [];
    const result = streamText({
      model,
      maxRetries: 0,
      prompt: '[[sim fault=error at=9 gap_ms=20]]',
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    let text = '';
    for await (const part of result.fullStream) if (part.type === 'text-delta') text += part.text;
    assert.ok(text.startsWith(' t0 t1'), text);
    assert.equal(errors.length, 1);
  });

  for (const stream of [false, true]) {
    const title = `@langchain/anthropic calls tools and goes on, stream=${stream} (${name})`;
    test(title, withLangchain, async () => {
      assert.ok(langchain !== null && core !== null);
      const { HumanMessage, ToolMessage } = core;
      const chat = new langchain.ChatAnthropic({
        model: name,
        apiKey: account.apiKey,
        maxRetries: 0,
        maxTokens: 1_000,
        anthropicApiUrl: bed.url,
      });
      const bound = chat.bindTools([
        { name: 'look', description: 'look', input_schema: { type: 'object', properties: {} } },
      ]);
      const asked = new HumanMessage('[[sim tool=look tokens=3]]');
      const ask = async (turns: Parameters<typeof bound.invoke>[0]) => {
        if (!stream) return await bound.invoke(turns);
        const pieces = [];
        for await (const piece of await bound.stream(turns)) pieces.push(piece);
        return pieces.reduce((whole, piece) => whole.concat(piece) as typeof whole);
      };
      const said = await ask([asked]);
      const [call] = said.tool_calls ?? [];
      assert.equal(call?.name, 'look');
      const result = new ToolMessage({ content: 'seen', tool_call_id: call.id ?? '' });
      const answer = await ask([asked, said, result]);
      assert.equal(answer.text, ' t0 t1 t2');
      const { usage_metadata: usage } = answer as unknown as Usage;
      assert.equal(usage?.output_tokens, 3);
      if (name === 'svc-sim-messages') assert.equal(usage?.input_tokens, 4);
    });
  }
}

test('ai: an answer with searches keeps them and its sources', withAi, async () => {
  const { streamText, anthropic, model } = use('svc-sim-messages');
  const result = streamText({
    model,
    prompt: 'news [[sim search=1 tokens=4]]',
    tools: { web_search: anthropic.tools.webSearch_20250305({ maxUses: 2 }) },
  });
  const seen = new Set<string>();
  let text = '';
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-delta') text += part.text;
    seen.add(part.type);
  }
  assert.equal(text, ' t0 t1 t2 t3');
  assert.ok(
    seen.has('tool-call') && seen.has('tool-result') && seen.has('source'),
    [...seen].join(),
  );
});
