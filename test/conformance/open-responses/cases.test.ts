// The questions of the acceptance suite of Open Responses, put to every simulated model. The client
// holds replies and events to the schema, and each ends as the suite wants it to.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type OpenAI from 'openai';
import type { Response, ResponseInput } from 'openai/resources/responses/responses';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { openAi } from '../client.ts';
import { pixel } from '../forwarding/bodies.ts';

let bed: Testbed;
let client: OpenAI;
before(async () => {
  bed = await openTestbed();
  client = openAi(await bed.account());
});
after(() => bed?.close());

/** A function with everything that a client may leave out left out. */
const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as unknown as OpenAI.Responses.FunctionTool;

const cases: Record<string, ResponseInput> = {
  text: [{ type: 'message', role: 'user', content: 'Say hello in exactly 3 words.' }],
  'a system prompt': [
    { type: 'message', role: 'system', content: 'You are a pirate.' },
    { type: 'message', role: 'user', content: 'Say hello.' },
  ],
  'phases of what the assistant said': [
    { role: 'assistant', phase: 'commentary', content: 'I answer with the saved number.' },
    { role: 'assistant', phase: 'final_answer', content: 'The number is four.' },
    { role: 'user', content: 'Repeat only the number.' },
  ],
  'an image': [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What do you see?' },
        { type: 'input_image', image_url: pixel, detail: 'auto' },
      ],
    },
  ],
  'several turns': [
    { role: 'user', content: 'My name is Alice.' },
    { role: 'assistant', content: 'Hello Alice!' },
    { role: 'user', content: 'What is my name?' },
  ],
};

async function answers(body: OpenAI.Responses.ResponseCreateParams): Promise<Response[]> {
  const { stream: _stream, ...asked } = body;
  const [whole, streamed] = await Promise.all([
    client.responses.create(asked),
    client.responses.stream(asked).finalResponse(),
  ]);
  return [whole, streamed as Response];
}

for (const kind of ['chat', 'responses', 'messages', 'gemini', 'tiered']) {
  const model = `svc-sim-${kind}`;

  test(`${model}: ${Object.keys(cases).join(', ')}`, async () => {
    for (const [name, input] of Object.entries(cases)) {
      for (const { status, output } of await answers({ model, input })) {
        assert.equal(status, 'completed', name);
        assert.ok(output.length > 0, name);
      }
    }
  });

  test(`${model}: a question for a tool is answered by a call`, async () => {
    const input = "What's the weather like in San Francisco?";
    for (const { output, tools } of await answers({ model, input, tools: [weather] })) {
      const [call] = output.filter((item) => item.type === 'function_call');
      assert.ok(call !== undefined);
      assert.deepEqual(Object.keys(JSON.parse(call.arguments)), ['city']);
      assert.deepEqual(tools, [{ ...weather, strict: null }]);
    }
  });
}
