// Counts that a provider reports: what no call can have had is no count, in every family.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUsage as readMessages } from '../../../media/providers/generation/anthropic-messages/usage.ts';
import { readUsage as readGemini } from '../../../media/providers/generation/gemini/usage.ts';
import { readUsage as readChat } from '../../../media/providers/generation/openai-chat/usage.ts';
import { readUsage as readResponses } from '../../../media/providers/generation/openai-responses/usage.ts';

const families: Record<string, (tokens: number) => unknown> = {
  chat: (tokens) => readChat({ prompt_tokens: tokens, completion_tokens: tokens }),
  responses: (tokens) =>
    readResponses({ usage: { input_tokens: tokens, output_tokens: tokens } }, 0),
  messages: (tokens) => readMessages({ input_tokens: tokens, output_tokens: tokens }),
  gemini: (tokens) => readGemini({ promptTokenCount: tokens, candidatesTokenCount: tokens }, 0),
};

for (const [name, read] of Object.entries(families)) {
  test(`${name}: usage that no call can have had is no report`, () => {
    assert.notEqual(read(2_000_000), null);
    assert.equal(read(1_000_000_000), null);
    assert.equal(read(Number.MAX_SAFE_INTEGER), null);
    assert.equal(read(-1), null);
  });
}
