// What counts as a provider's own web search where one is required: nothing else that searches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hitsTokensMax, newSearch } from '../../../actors/generation/search-state.ts';
import { searched, takeHits } from '../../../actors/generation/searching.ts';
import type { GenerationState } from '../../../actors/generation/state.ts';
import type { ModelEvent } from '../../../media/model/events.ts';
import { estimateInputTokens } from '../../../media/model/tokens.ts';
import { neutralRequest, userMessage } from '../../harness/request.ts';

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

test('what was found weighs no more than the hold has for it, and is cited by its numbers', () => {
  const hit = {
    title: '東'.repeat(200),
    url: `https://a.test/${'b'.repeat(2_000)}`,
    snippet: '京'.repeat(1_000),
    date: null,
  };
  const request = neutralRequest({ messages: [userMessage('where?')] });
  const search = newSearch({ search: { required: false, query: 'q', target: null } });
  const answer = { cuts: undefined };
  const state = { search, request, spec: {}, subscriptions: [], answer };
  assert.ok(
    takeHits(
      state as unknown as GenerationState,
      Array.from({ length: 8 }, () => hit),
    ),
  );
  const added = estimateInputTokens(state.request) - estimateInputTokens(request);
  assert.ok(added <= hitsTokensMax, `${added} tokens`);
  assert.ok(search.hits.length > 0);
  const text = JSON.stringify(state.request.messages);
  assert.equal(text.match(/\[\d+\] 東/g)?.length, search.hits.length);
});
