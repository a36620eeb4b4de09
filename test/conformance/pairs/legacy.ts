// The legacy desktop format as its client speaks and reads it.
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
  textOf,
} from './ask.ts';
import { itemsOf } from './responses.ts';

export const legacyClient: ClientFormat = {
  name: 'legacy',
  path: '/api/v1/llm/responses',
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  body,
  readWhole,
  readStream,
};

function body(ask: Ask, model: string, stream: boolean): Members {
  const made: Members = { model, stream, input: ask.turns.flatMap(itemsOf) };
  if (ask.system !== null) made.instructions = ask.system;
  if (ask.tools.length > 0) {
    const { parameters } = ask;
    made.tools = ask.tools.map((name) => ({ type: 'function', function: { name, parameters } }));
  }
  if (ask.ownSearch) made.tools = [{ type: 'web_search' }];
  if (ask.schema !== null) {
    const declared = { name: 'answer', strict: true, schema: ask.schema };
    made.response_format = { type: 'json_schema', json_schema: declared };
  }
  if (ask.outputTokensMax !== null) made.max_output_tokens = ask.outputTokensMax;
  if (ask.searches) made.web_search = true;
  return made;
}

function readWhole(outcome: Outcome, reply: Members): void {
  if (isMembers(reply.svc_usage)) outcome.svcUsage = reply.svc_usage as unknown as SvcUsage;
  if (reply.ok !== true) {
    assert.equal(reply.ok, false);
    assert.ok(isMembers(reply.error));
    outcome.error = String(reply.error.code);
    return;
  }
  outcome.text = textOf(reply.text);
  outcome.finish = reply.finish_reason as Finish;
  outcome.calls = membersOf(reply.tool_calls).map((call) => {
    assert.ok(isMembers(call.function));
    const { name, arguments: text } = call.function;
    return { id: String(call.id), name: String(name), arguments: String(text) };
  });
}

function readStream(outcome: Outcome, events: readonly SseEvent[]): void {
  let said = '';
  for (const [index, { type, data }] of events.entries()) {
    const isLast = index === events.length - 1;
    assert.match(type, isLast ? /^(done|error)$/ : /^(progress|delta)$/);
    const event: Members = JSON.parse(data);
    if (type === 'delta') said += textOf(event.text);
    if (isLast) readWhole(outcome, event);
  }
  if (outcome.error === null) assert.equal(said, outcome.text, 'the deltas are the text');
  else outcome.text = said;
}
