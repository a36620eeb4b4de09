// Responses as a strict client speaks and reads it: numbers without gaps, every delta inside of its
// open part, and the items of the stream the same as those of the final response.
import assert from 'node:assert/strict';
import type { SvcUsage } from '../../../media/model/dialects/contract.ts';
import { assertOpenEvent, assertOpenResponse } from '../open-responses/check.ts';
import {
  type Ask,
  type ClientFormat,
  isMembers,
  type Members,
  membersOf,
  type Outcome,
  type SseEvent,
  type Turn,
  textOf,
} from './ask.ts';

export const responsesClient: ClientFormat = {
  name: 'responses',
  path: '/v1/responses',
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  body,
  readWhole,
  readStream,
};

function body(ask: Ask, model: string, stream: boolean): Members {
  const made: Members = { model, stream, store: false, input: ask.turns.flatMap(itemsOf) };
  if (ask.system !== null) made.instructions = ask.system;
  if (ask.tools.length > 0) {
    const { parameters } = ask;
    made.tools = ask.tools.map((name) => ({ type: 'function', name, parameters, strict: false }));
  }
  if (ask.ownSearch) made.tools = [{ type: 'web_search' }];
  if (ask.schema !== null) {
    const format = { type: 'json_schema', name: 'answer', strict: true, schema: ask.schema };
    made.text = { format };
  }
  if (ask.outputTokensMax !== null) made.max_output_tokens = ask.outputTokensMax;
  if (ask.searches) made.web_search = true;
  if (ask.thinks) {
    made.reasoning = { effort: 'low', summary: 'auto' };
    made.include = ['reasoning.encrypted_content'];
  }
  return made;
}

export function itemsOf(turn: Turn): Members[] {
  if (turn.role === 'tool') {
    return [{ type: 'function_call_output', call_id: turn.callId, output: turn.text }];
  }
  if (turn.role === 'user') {
    const image = { type: 'input_image', image_url: turn.imageUrl, detail: 'auto' };
    const parts: Members[] = [{ type: 'input_text', text: turn.text }];
    return [{ role: 'user', content: turn.imageUrl === undefined ? parts : [...parts, image] }];
  }
  const said = { role: 'assistant', content: [{ type: 'output_text', text: turn.text }] };
  const calls = turn.calls.map(({ id, name, arguments: text }) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: text,
  }));
  return [...(turn.carried ?? []), ...(turn.text === '' ? [] : [said]), ...calls];
}

function readWhole(outcome: Outcome, reply: Members): void {
  assertOpenResponse(reply);
  if (reply.object !== 'response') {
    assert.ok(isMembers(reply.error), 'an error envelope');
    outcome.error = String(reply.error.code);
    return;
  }
  readResponse(outcome, reply);
}

function readResponse(outcome: Outcome, response: Members): void {
  for (const item of membersOf(response.output)) readItem(outcome, item);
  if (isMembers(response.svc_usage)) {
    outcome.svcUsage = response.svc_usage as unknown as SvcUsage;
  }
  const { status, error } = response;
  if (status === 'failed') {
    assert.ok(isMembers(error));
    outcome.error = String(error.code);
  } else if (status === 'incomplete') {
    assert.ok(isMembers(response.incomplete_details));
    const { reason } = response.incomplete_details;
    outcome.finish = reason === 'max_output_tokens' ? 'length' : 'content_filter';
  } else {
    assert.equal(status, 'completed');
    outcome.finish = outcome.calls.length > 0 ? 'tool_calls' : 'stop';
  }
}

function readItem(outcome: Outcome, item: Members): void {
  switch (item.type) {
    case 'message':
      for (const part of membersOf(item.content)) {
        const cited = membersOf(part.annotations).map(({ url }) => String(url));
        outcome.sources.push(...cited);
        if (part.type === 'output_text') outcome.text += textOf(part.text);
        else if (part.type === 'refusal') outcome.refusal += textOf(part.refusal);
        else assert.fail(`unknown part ${String(part.type)}`);
      }
      return;
    case 'function_call': {
      assert.ok(String(item.id).length <= 64, 'ids of items are short');
      const { call_id: id, name, arguments: text } = item;
      outcome.calls.push({ id: String(id), name: String(name), arguments: String(text) });
      return;
    }
    case 'reasoning':
      outcome.reasoning += membersOf(item.summary)
        .map(({ text }) => textOf(text))
        .join('');
      outcome.carried.push(item);
      return;
    default:
      outcome.native.push(String(item.type));
  }
}

interface OpenItem {
  item: Members;
  text: string;
}

function readStream(outcome: Outcome, events: readonly SseEvent[]): void {
  const open = new Map<number, OpenItem>();
  const done: Members[] = [];
  let last: Members = {};
  for (const [number, { type, data }] of events.entries()) {
    const event: Members = JSON.parse(data);
    assertOpenEvent(event);
    assert.equal(event.type, type);
    assert.equal(event.sequence_number, number, 'events are numbered without gaps');
    if (number === 0 && type !== 'error') assert.equal(type, 'response.created');
    readEvent(event, open, done);
    last = event;
  }
  if (last.type === 'error') {
    outcome.error = String(last.code);
    return;
  }
  assert.match(String(last.type), /^response\.(completed|incomplete|failed)$/);
  assert.ok(isMembers(last.response));
  if (last.type !== 'response.failed') {
    assert.equal(open.size, 0, 'every item is closed');
    assert.deepEqual(last.response.output, done.filter(Boolean), 'the same items');
  }
  readResponse(outcome, last.response);
}

function readEvent(event: Members, open: Map<number, OpenItem>, done: Members[]): void {
  const index = Number(event.output_index);
  const opened = open.get(index);
  const { item } = event;
  switch (event.type) {
    case 'response.output_item.added':
      assert.equal(opened, undefined, 'an item is opened once');
      assert.ok(isMembers(item));
      open.set(index, { item, text: '' });
      return;
    case 'response.output_item.done':
      assert.ok(opened !== undefined && isMembers(item));
      assert.equal(item.id, opened.item.id);
      if (item.type === 'function_call') assert.equal(item.arguments, opened.text);
      open.delete(index);
      done[index] = item;
      return;
    case 'response.output_text.delta':
    case 'response.refusal.delta':
    case 'response.function_call_arguments.delta':
    case 'response.reasoning_summary_text.delta':
      assert.ok(opened !== undefined, 'a delta belongs to an open item');
      assert.equal(event.item_id, opened.item.id);
      opened.text += textOf(event.delta);
      return;
    default:
      assert.match(String(event.type), knownEvents);
  }
}

/** What the official client's types list, as far as this service sends it. */
const knownEvents = new RegExp(
  [
    '^error$',
    '^response\\.(created|in_progress|queued|completed|incomplete|failed)$',
    '^response\\.content_part\\.(added|done)$',
    '^response\\.(output_text|refusal|function_call_arguments|reasoning_summary_text)\\.done$',
    '^response\\.reasoning_summary_part\\.(added|done)$',
    '^response\\.output_text\\.annotation\\.added$',
    '^response\\.web_search_call\\.(in_progress|searching|completed)$',
  ].join('|'),
);
