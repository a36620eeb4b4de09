// Calls outside of a client's list of allowed tools: which they are, and what an answer is without.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelEvent } from '../../../../media/model/events.ts';
import {
  AllowedCalls,
  allowedNames,
} from '../../../../media/providers/generation/allowed-calls.ts';
import { randomFormats } from '../../../conformance/forwarding/formats.ts';

const [chat, responses] = randomFormats;

function namesOf(format: typeof chat, body: Record<string, unknown>): string[] | null {
  const input = format === chat ? { messages: [{ role: 'user', content: 'x' }] } : { input: 'x' };
  const request = format?.read({ model: 'a', ...input, ...body });
  assert.ok(request !== undefined);
  const names = allowedNames(request);
  return names === null ? null : [...names];
}

test('a list names functions, custom tools and what is in a namespace', () => {
  const f = { type: 'function', name: 'f' };
  const grep = { type: 'custom', name: 'grep' };
  const space = { type: 'namespace', name: 'ns', tools: [f, { type: 'function', name: 'g' }] };
  const tools = [f, { type: 'function', name: 'other' }, grep, space];
  const listed = [f, grep, { type: 'namespace', name: 'ns' }];
  const choice = { type: 'allowed_tools', mode: 'auto', tools: listed };
  const names = namesOf(responses, { tools, tool_choice: choice });
  assert.deepEqual(names, ['f', 'grep', 'ns__f', 'ns__g']);
  assert.equal(namesOf(responses, { tools, tool_choice: 'auto' }), null);
  assert.equal(namesOf(responses, { tools, tool_choice: f }), null);
  const ofChat = [{ type: 'function', function: { name: 'f' } }];
  const list = [...ofChat, { type: 'custom', custom: { name: 'grep' } }];
  const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: list } };
  assert.deepEqual(namesOf(chat, { tools: ofChat, tool_choice: allowed }), ['f', 'grep']);
  assert.equal(namesOf(chat, { tools: ofChat }), null);
});

function call(index: number, name: string): ModelEvent[] {
  return [
    { type: 'tool_call', index, id: `c${index}`, name },
    { type: 'tool_arguments', index, text: '{}' },
    { type: 'tool_end', index },
  ];
}

function native(index: number, value: Record<string, unknown>): ModelEvent[] {
  const item = { index, format: 'responses', value } as const;
  return [
    { type: 'native_begin', ...item },
    { type: 'native_event', ...item, value: { type: 'x.delta' } },
    { type: 'native', ...item },
  ];
}

test('the end of a text is told with its own call', () => {
  const custom = (index: number, name: string): ModelEvent[] => [
    { type: 'tool_call', index, id: `c${index}`, name, freeText: true },
    { type: 'tool_arguments', index, text: 'a' },
    { type: 'tool_end', index },
  ];
  const [begun, ...rest] = custom(0, 'grep');
  const told = [{ ...begun, id: 'c1' }, ...rest];
  assert.deepEqual(kept([...custom(0, 'other'), ...custom(1, 'grep')]), told);
});

const text: ModelEvent = { type: 'text', text: 'a', plain: true };
const ended: ModelEvent = { type: 'finish', reason: 'tool_calls' };
const over: ModelEvent = { type: 'finish', reason: 'stop' };

/** What is told of these, whole and event by event. */
function kept(events: readonly ModelEvent[]): ModelEvent[] {
  const names = new Set(['f', 'g', 'grep', 'ns__h']);
  const whole = new AllowedCalls(names).keep(events);
  const one = new AllowedCalls(names);
  assert.deepEqual(
    events.flatMap((event) => one.keep([event])),
    whole,
  );
  return whole;
}

test('a call that is not allowed is left out, and the others are counted without it', () => {
  const told = kept([
    text,
    ...call(0, 'x'),
    ...call(1, 'f'),
    ...call(2, 'y'),
    ...call(3, 'g'),
    ended,
  ]);
  const ids = (index: number, id: string) => ({ index, id });
  assert.deepEqual(
    told.flatMap((event) => (event.type === 'tool_call' ? [ids(event.index, event.id)] : [])),
    [ids(0, 'c1'), ids(1, 'c3')],
  );
  assert.deepEqual(
    told.flatMap((event) => (/^tool_(arguments|end)$/.test(event.type) ? [event] : [])),
    [...call(0, 'f').slice(1), ...call(1, 'g').slice(1)],
  );
  assert.deepEqual(told.at(-1), ended);
});

test('an answer without a call that is left has ended', () => {
  assert.deepEqual(kept([text, ...call(0, 'x'), ended]), [text, over]);
  assert.deepEqual(kept([text, ended]), [text, ended]);
  const cut: ModelEvent = { type: 'finish', reason: 'length' };
  assert.deepEqual(kept([...call(0, 'x'), cut]), [cut]);
});

test('calls in the words of Responses are held to the list as well', () => {
  const grep = native(0, { type: 'custom_tool_call', name: 'grep' });
  const other = native(1, { type: 'custom_tool_call', name: 'sed' });
  const inside = native(2, { type: 'function_call', namespace: 'ns', name: 'h' });
  const outside = native(3, { type: 'function_call', namespace: 'ns', name: 'i' });
  const search = native(4, { type: 'web_search_call' });
  assert.deepEqual(kept([...grep, ...other, ...inside, ...outside, ...search, ended]), [
    ...grep,
    ...inside,
    ...search,
    ended,
  ]);
  assert.deepEqual(kept([...other, ...search, ended]), [...search, over]);
});
