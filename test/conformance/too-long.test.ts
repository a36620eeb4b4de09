// A conversation that its model has no room for, as agents have to know it: by the words of the
// vendor whose format they speak. The expressions here are those of clients in the field.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import type { ChatOpenAI } from '@langchain/openai';
import type { TestAccount } from '../harness/account.ts';
import { ask, type Format } from '../harness/formats.ts';
import { type ScriptedServer, startScriptedServer } from '../harness/scripted-server.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';
import { simulatedPrices } from './pairs/play.ts';

// It may declare a newer Node than this one: it is used wherever it loads.
const library = await import('@langchain/openai').catch(() => null);
const withLangchain = library === null ? { skip: `not on ${process.version}` } : {};

/** Of coding agents, which shorten what they send by it: how much there is, and may be. */
const inMessages = /prompt is too long[^0-9]*(\d+) tokens > (\d+)/;
const inChat = /maximum context length is (\d+) tokens/;

/** What providers say of it, as their own reference or source has it. */
const refusals: Record<string, unknown> = {
  'openai-chat': {
    error: {
      message: 'Too many tokens for this one.',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
  },
  'openai-responses': {
    error: {
      message: 'Your input exceeds the context window of this model. Please adjust your input.',
      type: 'invalid_request_error',
    },
  },
  'anthropic-messages': {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: 'prompt is too long: 210000 tokens > 200000 maximum',
    },
  },
  gemini: {
    error: {
      code: 400,
      message: 'The input token count (1200000) exceeds the maximum number of tokens allowed.',
      status: 'INVALID_ARGUMENT',
    },
  },
};
const other = { error: { message: 'max_tokens is too large', type: 'invalid_request_error' } };
const families = Object.keys(refusals);
type Refusal = 'tooLong' | 'other';

let bed: Testbed;
let account: TestAccount;
let provider: ScriptedServer<Refusal>;
before(async () => {
  provider = await startScriptedServer<Refusal>('tooLong', (wanted, { request, response }) => {
    const family = families.find((name) => request.url?.includes(`/${name}/`)) ?? '';
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify(wanted === 'other' ? other : refusals[family]));
  });
  const members = { price: simulatedPrices, capabilities: ['chat'], context_window: 1_000 };
  bed = await openTestbed({
    catalog: {
      providers: families.map((family) => {
        const baseUrl = `${provider.url}/${family}`;
        return { name: family, family, base_url: baseUrl, simulated: true };
      }),
      models: families.map((family) => {
        return { alias: family, routes: [{ provider: family, upstream_model: 'x' }], ...members };
      }),
      routes: [{ alias: 'managed', pool: families.map((model) => ({ model, quality: 50 })) }],
    },
  });
  account = await bed.account();
});
after(async () => {
  await bed?.close();
  provider?.close();
});

const long = 'word '.repeat(3_000);

function langchain(model: string, useResponsesApi: boolean): ChatOpenAI {
  const configuration = { baseURL: `${bed.url}/v1` };
  assert.ok(library !== null);
  return new library.ChatOpenAI({
    model,
    apiKey: account.apiKey,
    useResponsesApi,
    maxRetries: 0,
    configuration,
  });
}

for (const model of ['openai-chat', 'managed']) {
  test(
    `what is over the window is told in the words of each vendor (${model})`,
    withLangchain,
    async () => {
      for (const useResponsesApi of [false, true]) {
        await assert.rejects(langchain(model, useResponsesApi).invoke(long), (error: Error) => {
          assert.equal(error.name, 'ContextOverflowError');
          assert.equal(inChat.exec(error.message)?.[1], '1000');
          return true;
        });
      }
      const client = new Anthropic({ baseURL: bed.url, apiKey: account.apiKey, maxRetries: 0 });
      const messages = [{ role: 'user' as const, content: long }];
      for (const stream of [false, true]) {
        const asked = client.messages.create({ model, max_tokens: 10, messages, stream });
        await assert.rejects(asked, (error: Error) => {
          const [, tokens, most] = inMessages.exec(error.message) ?? [];
          assert.ok(Number(tokens) > 2_900 && Number(tokens) < 3_200, error.message);
          assert.equal(most, '1000');
          return true;
        });
      }
    },
  );
}

test('what fits but for its answer is not said to be more than the window', async () => {
  const members = { max_tokens: 900 };
  const text = 'word '.repeat(500);
  for (const format of ['messages', 'chat'] as Format[]) {
    const told = await ask(format, account, { model: 'managed', text, members });
    assert.equal(told.status, format === 'messages' ? 422 : 400, told.raw);
    const words =
      format === 'messages'
        ? /input length and `max_tokens` exceed context limit: (\d+) \+ 900 > 1000/
        : /room for the answer/;
    assert.match(told.error?.message ?? '', words);
  }
});

test(
  'a provider that has less room than its record says so in the same words',
  withLangchain,
  async () => {
    for (const model of families) {
      for (const format of ['chat', 'responses', 'messages', 'legacy'] as Format[]) {
        const told = await ask(format, account, { model, text: 'hi' });
        assert.equal(told.status, 400, told.raw);
        const words = format === 'messages' ? /prompt is too long/ : /exceeds the context window/;
        const isOpenAi = format === 'chat' || format === 'responses';
        if (isOpenAi) assert.equal(told.error?.code, 'context_length_exceeded', told.raw);
        assert.match(told.error?.message ?? '', words, `${model} ${format}`);
      }
      await assert.rejects(langchain(model, false).invoke('hi'), { name: 'ContextOverflowError' });
    }
    assert.equal((await account.quiet()).heldMicros, 0n);
  },
);

test('what a provider refuses for another reason is not said to be too long', async () => {
  provider.behaviour = 'other';
  for (const model of families) {
    const told = await ask('chat', account, { model, text: 'hi' });
    assert.equal(told.status, 400, told.raw);
    assert.equal(told.error?.message, 'The model refused the request as invalid.');
  }
});
