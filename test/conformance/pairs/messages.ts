// Messages as a strict client speaks and reads it: one open block at a time, deltas of its kind.
import assert from 'node:assert/strict';
import type { SvcUsage } from '../../../media/model/dialects/contract.ts';
import {
  type Ask,
  type ClientFormat,
  type Finish,
  isMembers,
  type Members,
  membersOf,
  type Outcome,
  type SseEvent,
  type Turn,
  textOf,
} from './ask.ts';

export const messagesClient: ClientFormat = {
  name: 'messages',
  path: '/v1/messages',
  headers: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
  body,
  readWhole,
  readStream,
};

const finishes: Readonly<Record<string, Finish>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

function body(ask: Ask, model: string, stream: boolean): Members {
  const made: Members = {
    model,
    stream,
    max_tokens: ask.outputTokensMax ?? 4_096,
    messages: joined(ask.turns.map(messageOf)),
  };
  if (ask.system !== null) made.system = ask.system;
  if (ask.tools.length > 0) {
    made.tools = ask.tools.map((name) => ({ name, input_schema: ask.parameters }));
  }
  if (ask.ownSearch) {
    made.tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }];
  }
  if (ask.schema !== null) {
    made.output_config = { format: { type: 'json_schema', schema: ask.schema } };
  }
  if (ask.stop.length > 0) made.stop_sequences = ask.stop;
  if (ask.searches) made.web_search = true;
  if (ask.thinks) made.thinking = { type: 'enabled', budget_tokens: 1_024 };
  return made;
}

interface Message {
  role: 'user' | 'assistant';
  content: Members[];
}

function messageOf(turn: Turn): Message {
  if (turn.role === 'tool') {
    const { callId, text } = turn;
    return {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: callId, content: text }],
    };
  }
  const said = turn.text === '' ? [] : [{ type: 'text', text: turn.text }];
  if (turn.role === 'assistant') {
    const calls = turn.calls.map(({ id, name, arguments: text }) => ({
      type: 'tool_use',
      id,
      name,
      input: JSON.parse(text) as unknown,
    }));
    return { role: 'assistant', content: [...(turn.carried ?? []), ...said, ...calls] };
  }
  const found = /^data:([^;]+);base64,(.*)$/.exec(turn.imageUrl ?? '');
  const source = { type: 'base64', media_type: found?.[1], data: found?.[2] };
  return {
    role: 'user',
    content: found === null ? said : [...said, { type: 'image', source }],
  };
}

/** Results of one turn stand in one message. */
function joined(messages: readonly Message[]): Message[] {
  const made: Message[] = [];
  for (const message of messages) {
    const last = made.at(-1);
    if (last?.role === message.role) last.content.push(...message.content);
    else made.push({ ...message, content: [...message.content] });
  }
  return made;
}

function readWhole(outcome: Outcome, reply: Members): void {
  if (reply.type === 'error') {
    readError(outcome, reply);
    return;
  }
  assert.equal(reply.type, 'message');
  for (const block of membersOf(reply.content)) readBlock(outcome, block);
  readStop(outcome, reply.stop_reason);
  outcome.svcUsage = reply.svc_usage as SvcUsage;
}

function readError(outcome: Outcome, reply: Members): void {
  assert.ok(isMembers(reply.error));
  outcome.error = String(reply.error.type);
  if (isMembers(reply.svc_usage)) outcome.svcUsage = reply.svc_usage as unknown as SvcUsage;
}

function readStop(outcome: Outcome, reason: unknown): void {
  const finish = finishes[String(reason)];
  assert.ok(finish !== undefined, `unknown stop reason ${String(reason)}`);
  outcome.finish = finish;
}

function readBlock(outcome: Outcome, block: Members): void {
  switch (block.type) {
    case 'text':
      outcome.text += textOf(block.text);
      outcome.sources.push(...membersOf(block.citations).map(({ url }) => String(url)));
      return;
    case 'thinking':
    case 'redacted_thinking':
      outcome.reasoning += textOf(block.thinking);
      outcome.carried.push(block);
      return;
    case 'tool_use': {
      assert.match(String(block.id), /^[a-zA-Z0-9_-]+$/);
      assert.ok(isMembers(block.input), 'the input of a call is an object');
      const { id, name, input } = block;
      const text = JSON.stringify(input);
      outcome.calls.push({ id: String(id), name: String(name), arguments: text });
      return;
    }
    default:
      outcome.native.push(String(block.type));
  }
}

interface Reading {
  blocks: Members[];
  open: Members | null;
  json: string;
  stopReason: unknown;
  ended: boolean;
}

function readStream(outcome: Outcome, events: readonly SseEvent[]): void {
  const reading: Reading = { blocks: [], open: null, json: '', stopReason: null, ended: false };
  // A ping may come at any time.
  const first = events.find(({ type }) => type !== 'ping');
  assert.match(first?.type ?? '', /^(message_start|error)$/);
  for (const { type, data } of events) {
    const event: Members = JSON.parse(data);
    assert.equal(event.type, type);
    assert.ok(!reading.ended && outcome.error === null, `${type} after the end`);
    if (type === 'error') readError(outcome, event);
    else readEvent(outcome, reading, event);
  }
  for (const block of reading.blocks) readBlock(outcome, block);
  if (outcome.error !== null) return;
  assert.ok(reading.ended && reading.open === null, 'the message and its blocks are closed');
  readStop(outcome, reading.stopReason);
}

function readEvent(outcome: Outcome, reading: Reading, event: Members): void {
  switch (event.type) {
    case 'ping':
    case 'message_start':
      return;
    case 'content_block_start':
      assert.equal(reading.open, null, 'one block at a time');
      assert.equal(event.index, reading.blocks.length);
      assert.ok(isMembers(event.content_block));
      reading.open = { ...event.content_block };
      reading.json = '';
      return;
    case 'content_block_delta':
      assert.ok(reading.open !== null && isMembers(event.delta), 'a delta has an open block');
      readDelta(reading, reading.open, event.delta);
      return;
    case 'content_block_stop': {
      const block = reading.open;
      assert.ok(block !== null && event.index === reading.blocks.length);
      if (reading.json !== '') block.input = JSON.parse(reading.json);
      reading.blocks.push(block);
      reading.open = null;
      return;
    }
    case 'message_delta':
      assert.equal(reading.open, null);
      assert.ok(isMembers(event.delta) && isMembers(event.svc_usage));
      reading.stopReason = event.delta.stop_reason;
      return;
    case 'message_stop':
      assert.ok(isMembers(event.svc_usage));
      outcome.svcUsage = event.svc_usage as unknown as SvcUsage;
      reading.ended = true;
      return;
    default:
      assert.fail(`unknown event ${String(event.type)}`);
  }
}

function readDelta(reading: Reading, block: Members, delta: Members): void {
  const kinds: Readonly<Record<string, string>> = {
    text_delta: 'text',
    thinking_delta: 'thinking',
    signature_delta: 'thinking',
    citations_delta: 'text',
  };
  const { type } = delta;
  if (type === 'input_json_delta') {
    assert.match(String(block.type), /tool_use$/);
    reading.json += textOf(delta.partial_json);
    return;
  }
  assert.equal(block.type, kinds[String(type)], `${String(type)} in its own kind of block`);
  if (type === 'text_delta') block.text = textOf(block.text) + textOf(delta.text);
  if (type === 'thinking_delta') block.thinking = textOf(block.thinking) + textOf(delta.thinking);
  if (type === 'signature_delta') block.signature = delta.signature;
  if (type === 'citations_delta') {
    block.citations = [...membersOf(block.citations), delta.citation];
  }
}
