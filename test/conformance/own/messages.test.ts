// What a client of Messages gets of a Messages provider through the gateway is what the same client
// gets of that provider itself: block by block and event by event, however it is asked for.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import type { TestAccount } from '../../harness/account.ts';
import type { Testbed } from '../../harness/testbed.ts';
import { anthropic } from '../anthropic-client.ts';
import { openOwnBed } from './bed.ts';
import { messagesFixtures } from './messages-fixtures.ts';
import {
  type MessagesUpstream,
  messageEventsOf,
  slowly,
  startMessagesUpstream,
} from './messages-upstream.ts';

let bed: Testbed;
let upstream: MessagesUpstream;
let account: TestAccount;
let through: Anthropic;
let straight: Anthropic;
before(async () => {
  upstream = await startMessagesUpstream();
  bed = await openOwnBed('anthropic-messages', `${upstream.url}/v1`);
  account = await bed.account();
  through = anthropic(account);
  straight = new Anthropic({ baseURL: upstream.url, apiKey: 'x', maxRetries: 0 });
});
after(async () => {
  await bed?.close();
  await upstream?.close();
});

type Members = Record<string, unknown>;
type Body = Anthropic.Beta.Messages.MessageCreateParamsNonStreaming;

function ask(name: string): Body {
  const betas: Anthropic.Beta.AnthropicBeta[] = ['compact-2026-01-12'];
  return {
    model: 'own-model',
    max_tokens: 64,
    messages: [{ role: 'user', content: name }],
    stop_sequences: ['three'],
    betas,
  };
}

/** Without what is ours to say: ids, the alias, and receipts. */
function plain(value: object): Members {
  const copy = JSON.parse(JSON.stringify(value)) as Members;
  for (const name of ['id', 'model', 'svc_usage', 'svc_routing']) delete copy[name];
  if (copy.type === 'message_start') copy.message = plain(copy.message as object);
  return copy;
}

async function collect(stream: AsyncIterable<object>): Promise<Members[]> {
  const events: Members[] = [];
  for await (const event of stream) if (!isIdle(event)) events.push(plain(event));
  return events;
}

/** Arguments that a call does not have are told as nothing, or as an empty object. */
function isIdle(event: { delta?: Members }): boolean {
  const { delta } = event;
  return delta?.type === 'input_json_delta' && /^(\{\})?$/.test(String(delta.partial_json));
}

const known = ['output_tokens_details', 'server_tool_use', 'output_tokens'];

/** What a message begins with says nothing of its output yet, and nothing that is null. */
function begun(events: Members[]): Members[] {
  const [first, ...rest] = events;
  const message = { ...(first?.message as Members) };
  const usage = { ...(message.usage as Members) };
  for (const name of known) delete usage[name];
  message.usage = set(usage);
  return [{ type: 'message_start', message: set(message) }, ...rest.map(ended)];
}

function ended(event: Members): Members {
  if (event.type !== 'message_delta') return event;
  return set({ ...event, usage: set(event.usage as Members) });
}

function set(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

for (const { name, message: sent } of messagesFixtures) {
  test(`${name}: whole, and replayed by its key`, async () => {
    const wanted = whole(await straight.beta.messages.create(ask(name)));
    const options = { headers: { 'idempotency-key': `whole-${name.replace(/[^a-z]/g, '')}` } };
    for (const how of ['whole', 'replayed']) {
      const message = await through.beta.messages.create(ask(name), options);
      assert.deepEqual(whole(message), wanted, how);
    }
    const streamed = await through.beta.messages.stream(ask(name), options).finalMessage();
    assert.deepEqual(whole(streamed), wanted, 'replayed as a stream');
  });

  test(`${name}: streamed, and replayed by its key`, async () => {
    const body = { ...ask(name), stream: true as const };
    const wanted = begun(await collect(await straight.beta.messages.create(body)));
    const options = { headers: { 'idempotency-key': `stream-${name.replace(/[^a-z]/g, '')}` } };
    const events = await collect(await through.beta.messages.create(body, options));
    assert.deepEqual(begun(events), wanted);
    const direct = whole(await straight.beta.messages.stream(ask(name)).finalMessage());
    const helped = await through.beta.messages.stream(ask(name)).finalMessage();
    assert.deepEqual(whole(helped), direct, 'the helper');
    const again = await through.beta.messages.stream(ask(name), options).finalMessage();
    assert.deepEqual(whole(again), direct, 'replayed as a stream');
    const replayed = await through.beta.messages.create(ask(name), options);
    assert.deepEqual(whole(replayed), direct, 'replayed whole');
  });

  test(`${name}: attached to at any of its events`, async () => {
    const direct = whole(await straight.beta.messages.create(ask(name)));
    const body = { ...ask(name), metadata: { user_id: slowly } };
    const key = `attached-${name.replace(/[^a-z]/g, '')}`;
    const options = { headers: { 'idempotency-key': key } };
    const readers: Promise<object>[] = [];
    for (let left = messageEventsOf({ message: sent }).length - 1; left > 0; left -= 1) {
      const stream = through.beta.messages.stream(body, options);
      readers.push(stream.finalMessage());
      await stream.withResponse();
      upstream.goOn();
    }
    for (const message of await Promise.all(readers)) assert.deepEqual(whole(message), direct);
  });

  test(`${name}: goes back as it came`, async () => {
    const turn = async (client: Anthropic): Promise<unknown> => {
      const { content } = await client.beta.messages.create(ask(name));
      const answer = { role: 'assistant' as const, content };
      const messages = [...ask(name).messages, answer, { role: 'user' as const, content: 'and?' }];
      await client.beta.messages.create({ ...ask(name), messages: messages as Body['messages'] });
      return upstream.lastBody().messages;
    };
    assert.deepEqual(await turn(through), await turn(straight));
  });
}

/** What is null says nothing. */
function whole(message: object): Members {
  const copy = plain(message);
  const usage = copy.usage as Members;
  return set({ ...copy, usage: set(usage) });
}
