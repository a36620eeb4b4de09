// The `ai` package with its provider for OpenAI-compatible servers, over every upstream family and
// a managed alias. It declares Node 22; it is used wherever it loads.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

const loaded = await Promise.all([import('ai'), import('@ai-sdk/openai-compatible')]).catch(
  (error: unknown) => {
    process.stdout.write(`ai does not load on Node ${process.version}: ${String(error)}\n`);
    return null;
  },
);
const options = loaded === null ? { skip: `ai does not load on ${process.version}` } : {};
const aliases = [
  'svc-sim-chat',
  'svc-sim-responses',
  'svc-sim-messages',
  'svc-sim-gemini',
  'svc-intelligent',
  'svc-coder-direct',
] as const;

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

function use(alias: string) {
  assert.ok(loaded);
  const [ai, { createOpenAICompatible }] = loaded;
  const provider = createOpenAICompatible({
    name: 'tollgate',
    baseURL: `${bed.url}/v1`,
    apiKey: account.apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  return { ...ai, model: provider(alias) };
}

for (const alias of aliases) {
  test(`${alias}: streamed text, its end and its usage`, options, async () => {
    const { streamText, model } = use(alias);
    const result = streamText({ model, prompt: 'say [[sim tokens=20 gap_ms=1]]' });
    let text = '';
    for await (const part of result.textStream) text += part;
    assert.equal(text, Array.from({ length: 20 }, (_, index) => ` t${index}`).join(''));
    assert.equal(await result.finishReason, 'stop');
    const usage = await result.usage;
    assert.deepEqual([usage.inputTokens, usage.outputTokens], [4, 20]);
  });

  test(`${alias}: a tool loop of two rounds`, options, async () => {
    const { streamText, stepCountIs, tool, jsonSchema, model } = use(alias);
    const asked: unknown[] = [];
    const look = tool({
      description: 'Looks a city up.',
      inputSchema: jsonSchema<{ city: string }>({
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      }),
      execute: async (input) => {
        asked.push(input);
        return { population: 1_000 };
      },
    });
    const call = (city: string) =>
      `call=look:${Buffer.from(JSON.stringify({ city })).toString('base64url')}`;
    const result = streamText({
      model,
      prompt: `go [[sim ${call('Köln')} ${call('Bonn')} tokens=3]]`,
      tools: { look },
      stopWhen: stepCountIs(5),
    });
    let text = '';
    for await (const part of result.textStream) text += part;
    assert.equal(text, ' t0 t1 t2');
    assert.deepEqual(asked, [{ city: 'Köln' }, { city: 'Bonn' }]);
    assert.equal((await result.steps).length, 3);
  });

  test(`${alias}: an object by its schema`, options, async () => {
    const { generateText, Output, jsonSchema, model } = use(alias);
    const schema = jsonSchema<{ title: string; pages: number }>({
      type: 'object',
      properties: { title: { type: 'string' }, pages: { type: 'integer' } },
      required: ['title', 'pages'],
      additionalProperties: false,
    });
    const { output } = await generateText({
      model,
      prompt: 'make one [[sim json=good]]',
      output: Output.object({ schema }),
    });
    assert.equal(typeof output.title, 'string');
    assert.ok(Number.isInteger(output.pages));
  });
}
