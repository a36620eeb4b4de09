// What a client of Chat Completions gets of such a provider through the gateway is what the same
// client gets of that provider itself, however it is asked for, and goes back to it as it came.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import type { TestAccount } from '../../harness/account.ts';
import type { Testbed } from '../../harness/testbed.ts';
import { openAi } from '../client.ts';
import { openOwnBed } from './bed.ts';
import { chatFixtures, type Members } from './chat-fixtures.ts';
import { startChatUpstream } from './chat-upstream.ts';
import type { OwnUpstream } from './upstream.ts';

let bed: Testbed;
let upstream: OwnUpstream;
let account: TestAccount;
let through: OpenAI;
let straight: OpenAI;
before(async () => {
  upstream = await startChatUpstream();
  bed = await openOwnBed('openai-chat', upstream.url);
  account = await bed.account();
  through = openAi(account);
  straight = new OpenAI({ baseURL: upstream.url, apiKey: 'x', maxRetries: 0 });
});
after(async () => {
  await bed?.close();
  await upstream?.close();
});

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming;

function ask(name: string): Body {
  return {
    model: 'own-model',
    messages: [{ role: 'user', content: name }],
    tools: [
      { type: 'function', function: { name: 'find', parameters: { type: 'object' } } },
      { type: 'custom', custom: { name: 'grep', format: { type: 'text' } } },
    ],
  };
}

/** Without what is null, empty, or a name of the reasoning that all routes have. */
function plain(choice: object | undefined): Members {
  const copy = JSON.parse(JSON.stringify(choice ?? {})) as Members;
  const message = set(copy.message as Members);
  if ('reasoning' in message) delete message.reasoning_content;
  return { ...set(copy), message };
}

function set(members: Members): Members {
  const isSet = (value: unknown) =>
    value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isSet(value)));
}

/** Joins deltas as clients do: texts one behind the other, numbered entries by their number. */
function join(into: Members, delta: Members): void {
  for (const [name, value] of Object.entries(delta)) {
    const before = into[name];
    if (value === null || value === undefined) continue;
    if (Array.isArray(value)) {
      into[name] = before ?? [];
      const list = into[name] as Members[];
      for (const entry of value as Members[]) {
        const known = list.find((one) => 'index' in one && one.index === entry.index);
        if (known === undefined) list.push(structuredClone(entry));
        else join(known, entry);
      }
    } else if (typeof value === 'object') {
      into[name] = before ?? {};
      join(into[name] as Members, value as Members);
    } else if (
      typeof value === 'string' &&
      typeof before === 'string' &&
      !/^(type|id|format)$/.test(name)
    ) {
      into[name] = before + value;
    } else into[name] = value;
  }
}

async function streamed(client: OpenAI, body: Body, options = {}): Promise<Members> {
  const choice: Members = { message: {} };
  for await (const chunk of await client.chat.completions.create(
    { ...body, stream: true },
    options,
  )) {
    for (const { delta, ...beside } of chunk.choices) {
      join(choice.message as Members, delta as Members);
      join(choice, beside as unknown as Members);
    }
  }
  const message = choice.message as Members;
  for (const call of (message.tool_calls ?? []) as Members[]) delete call.index;
  return plain(choice);
}

test('a client of Responses gets calls of custom tools as such', async () => {
  const input = 'custom tools and functions, called in parallel';
  const { output } = await through.responses.create({
    model: 'own-model',
    input,
    tools: [
      { type: 'function', name: 'find', parameters: { type: 'object' }, strict: false },
      { type: 'custom', name: 'grep', format: { type: 'text' } },
    ],
  });
  const shown = output.map((item) =>
    item.type === 'custom_tool_call' ? [item.type, item.name, item.input] : [item.type],
  );
  assert.deepEqual(shown, [['custom_tool_call', 'grep', 'a "b"\n'], ['function_call']]);
  const sent = upstream.lastBody().tools as Members[];
  assert.ok(sent.some(({ type }) => type === 'custom'));
});

for (const { name, choice } of chatFixtures) {
  test(`${name}: whole, streamed, and replayed by its key`, async () => {
    const wanted = plain((await straight.chat.completions.create(ask(name))).choices[0]);
    assert.deepEqual(wanted, plain(choice));
    const wantedStream = await streamed(straight, ask(name));
    for (const key of ['whole', 'stream']) {
      const options = { headers: { 'idempotency-key': `${key}-${name.replace(/[^a-z]/g, '')}` } };
      if (key === 'stream') {
        assert.deepEqual(await streamed(through, ask(name), options), wantedStream, 'streamed');
      }
      const whole = await through.chat.completions.create(ask(name), options);
      assert.deepEqual(plain(whole.choices[0]), wanted, `whole, first ${key}`);
      assert.deepEqual(await streamed(through, ask(name), options), wantedStream, 'replayed');
    }
  });

  test(`${name}: goes back as it came`, async () => {
    const turn = async (client: OpenAI): Promise<unknown> => {
      const { choices } = await client.chat.completions.create(ask(name));
      const { message } = choices[0] ?? {};
      assert.ok(message);
      const results = (message.tool_calls ?? []).map(({ id }) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: 'found',
      }));
      const messages = [...ask(name).messages, message, ...results];
      await client.chat.completions.create({ ...ask(name), messages });
      const sent = upstream.lastBody().messages as Members[];
      return sent.map((one) => plain({ message: one }).message);
    };
    assert.deepEqual(await turn(through), await turn(straight));
  });
}
