// What counts as a provider's own web search where one is required: nothing else that searches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newSearch, searched } from '../../../actors/generation/searching.ts';
import type { GenerationState } from '../../../actors/generation/state.ts';
import type { ModelEvent } from '../../../media/model/events.ts';

function isSeen(event: ModelEvent): boolean {
  const search = newSearch({ search: { required: true, query: 'q', target: null } });
  searched({ search } as GenerationState, [event]);
  return search.seen;
}

const native = (format: 'responses' | 'messages', value: Record<string, unknown>): ModelEvent => ({
  type: 'native',
  format,
  value,
});

test('searches of the web are seen, those among tools and files are not', () => {
  assert.ok(isSeen(native('responses', { type: 'web_search_call', id: 'ws' })));
  assert.ok(isSeen(native('messages', { type: 'server_tool_use', name: 'web_search' })));
  assert.ok(isSeen(native('messages', { type: 'web_search_tool_result', content: [] })));
  assert.ok(!isSeen(native('responses', { type: 'file_search_call', id: 'fs' })));
  assert.ok(!isSeen(native('responses', { type: 'tool_search_call', id: 'ts' })));
  const tools = { type: 'server_tool_use', name: 'tool_search_tool_regex' };
  assert.ok(!isSeen(native('messages', tools)));
  assert.ok(!isSeen(native('messages', { type: 'tool_search_tool_result', content: {} })));
  const strange = { type: 'server_tool_use', name: { toString: 1 } };
  assert.ok(!isSeen(native('messages', strange)));
});
