// Chat Completions as a strict client speaks and reads it.
import assert from 'node:assert/strict';
import type { SvcUsage } from '../../../media/model/dialects/contract.ts';
import {
  type Ask,
  type Call,
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

export const chatClient: ClientFormat = {
  name: 'chat',
  path: '/v1/chat/completions',
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  body,
  readWhole,
  readStream,
};

function body(ask: Ask, model: string, stream: boolean): Members {
  const system = ask.system === null ? [] : [{ role: 'system', content: ask.system }];
  const made: Members = { model, stream, messages: [...system, ...ask.turns.map(messageOf)] };
  if (ask.tools.length > 0) {
    made.tools = ask.tools.map((name) => ({
      type: 'function',
      function: { name, parameters: ask.parameters },
    }));
  }
  if (ask.ownSearch) made.tools = [{ type: 'web_search' }];
  if (ask.schema !== null) {
    const declared = { name: 'answer', strict: true, schema: ask.schema };
    made.response_format = { type: 'json_schema', json_schema: declared };
  }
  if (ask.outputTokensMax !== null) made.max_completion_tokens = ask.outputTokensMax;
  if (ask.stop.length > 0) made.stop = ask.stop;
  if (ask.searches) made.web_search = true;
  if (ask.thinks) made.reasoning_effort = 'low';
  return made;
}

function messageOf(turn: Turn): Members {
  if (turn.role === 'tool') {
    return { role: 'tool', tool_call_id: turn.callId, content: turn.text };
  }
  if (turn.role === 'assistant') {
    const content = turn.text === '' ? null : turn.text;
    if (turn.calls.length === 0) return { role: 'assistant', content };
    const calls = turn.calls.map(({ id, name, arguments: text }) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    }));
    return { role: 'assistant', content, tool_calls: calls };
  }
  if (turn.imageUrl === undefined) return { role: 'user', content: turn.text };
  const image = { type: 'image_url', image_url: { url: turn.imageUrl } };
  return { role: 'user', content: [{ type: 'text', text: turn.text }, image] };
}

function readWhole(outcome: Outcome, reply: Members): void {
  if (isMembers(reply.error)) {
    outcome.error = String(reply.error.code);
    return;
  }
  const [choice] = membersOf(reply.choices);
  assert.ok(choice !== undefined && isMembers(choice.message), 'a choice with a message');
  const { message } = choice;
  outcome.text = textOf(message.content);
  outcome.refusal = textOf(message.refusal);
  outcome.reasoning = textOf(message.reasoning_content);
  outcome.calls = membersOf(message.tool_calls).map(callOf);
  addSources(outcome, message.annotations);
  outcome.finish = choice.finish_reason as Finish;
  outcome.svcUsage = reply.svc_usage as SvcUsage;
}

function addSources(outcome: Outcome, annotations: unknown): void {
  for (const { type, url_citation: cited } of membersOf(annotations)) {
    assert.ok(type === 'url_citation' && isMembers(cited));
    outcome.sources.push(String(cited.url));
  }
}

function callOf(call: Members): Call {
  assert.equal(call.type, 'function');
  assert.ok(isMembers(call.function));
  const { name, arguments: text } = call.function;
  return { id: String(call.id), name: String(name), arguments: String(text) };
}

function readStream(outcome: Outcome, events: readonly SseEvent[]): void {
  assert.equal(events.at(-1)?.data, '[DONE]', 'the terminator is the last event');
  const chunks = events.slice(0, -1).map(({ data }): Members => JSON.parse(data));
  for (const chunk of chunks) readChunk(outcome, chunk);
  const last = chunks.at(-1);
  if (outcome.error === null) assert.ok(isMembers(last?.svc_usage), 'the receipt comes last');
}

function readChunk(outcome: Outcome, chunk: Members): void {
  if (isMembers(chunk.svc_usage)) outcome.svcUsage = chunk.svc_usage as unknown as SvcUsage;
  if (isMembers(chunk.error)) {
    outcome.error = String(chunk.error.code);
    return;
  }
  assert.equal(outcome.finish, null, 'nothing follows the finish reason');
  const [choice] = membersOf(chunk.choices);
  if (choice === undefined) return;
  const delta = isMembers(choice.delta) ? choice.delta : {};
  outcome.text += textOf(delta.content);
  outcome.refusal += textOf(delta.refusal);
  outcome.reasoning += textOf(delta.reasoning_content);
  addSources(outcome, delta.annotations);
  for (const fragment of membersOf(delta.tool_calls)) {
    const index = Number(fragment.index);
    const called = isMembers(fragment.function) ? fragment.function : {};
    if (fragment.id !== undefined) {
      assert.equal(index, outcome.calls.length, 'calls are opened in order');
      outcome.calls.push({ id: String(fragment.id), name: String(called.name), arguments: '' });
    }
    const call = outcome.calls[index];
    assert.ok(call !== undefined, 'a fragment belongs to an open call');
    call.arguments += textOf(called.arguments);
  }
  if (typeof choice.finish_reason === 'string') outcome.finish = choice.finish_reason as Finish;
}
