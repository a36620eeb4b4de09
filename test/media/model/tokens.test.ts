// Token counts: exact on ordinary text, linear on hostile text, and the estimate that holds use.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContentPart } from '../../../media/model/request.ts';
import {
  countTokens,
  estimateInputTokens,
  inputText,
  isLongRequest,
} from '../../../media/model/tokens.ts';
import countTokensTask from '../../../media/tasks/count-tokens.ts';
import { neutralRequest } from '../../harness/request.ts';
import { cpuMsOf } from '../../harness/stopwatch.ts';

test('counts as the tokenizer of the family does', async () => {
  assert.equal(await countTokens(''), 0);
  assert.equal(await countTokens('hello world'), 2);
  assert.ok((await countTokens('<|endoftext|>')) > 1, 'a control token is text here');
  assert.deepEqual(await countTokensTask(['hello world', '']), [2, 0]);
});

test('stays linear on runs without a break', async () => {
  for (const run of [
    '漢'.repeat(20_000),
    'a'.repeat(50_000),
    ' '.repeat(50_000),
    '🙂'.repeat(10_000),
  ]) {
    const cpuMs = await cpuMsOf(async () => {
      assert.ok((await countTokens(`x ${run} y`)) > 100);
    });
    assert.ok(cpuMs < 1500, `${run.slice(0, 1)} took ${cpuMs} ms of CPU`);
  }
});

test('counts a text of 9 MB without a break', async () => {
  assert.ok((await countTokens(' '.repeat(9_000_000))) > 9_000);
  assert.ok((await countTokens('ab'.repeat(4_500_000))) > 9_000);
});

test('estimates from bytes, messages, tools and images', () => {
  const message = { role: 'user' as const, toolCalls: [], toolCallId: null };
  const request = neutralRequest({
    messages: [
      { ...message, parts: [{ type: 'text', text: 'x'.repeat(41) }] },
      { ...message, parts: [{ type: 'image', url: 'data:', detail: null }] },
    ],
  });
  assert.equal(estimateInputTokens(request), 11 + 8 + 1024);
  const tool = { name: 'f', description: null, parameters: null, strict: null };
  const toolTokens = Math.ceil((41 + JSON.stringify([tool]).length) / 4) - 11;
  assert.equal(estimateInputTokens({ ...request, tools: [tool] }), 11 + 8 + 1024 + toolTokens);
});

test('a long text is a long request, and so are images and documents of many bytes', () => {
  const isLong = (...parts: ContentPart[]) =>
    isLongRequest(
      neutralRequest({ messages: [{ role: 'user', parts, toolCalls: [], toolCallId: null }] }),
    );
  const url = `data:image/png;base64,${'A'.repeat(40_000)}`;
  const image: ContentPart = { type: 'image', url, detail: null };
  assert.equal(isLong({ type: 'text', text: 'x'.repeat(60_000) }), false);
  assert.equal(isLong({ type: 'text', text: 'x'.repeat(70_000) }), true);
  assert.deepEqual([isLong(image), isLong(image, image)], [false, true]);
  assert.equal(isLong({ type: 'file', url: url + url, name: null }), true);
});

test('what is counted has the texts, the calls and the tools, and no images', () => {
  const message = { role: 'user' as const, toolCalls: [], toolCallId: null };
  const request = neutralRequest({
    messages: [
      { ...message, parts: [{ type: 'text', text: 'one' }] },
      { ...message, parts: [{ type: 'image', url: 'data:image', detail: null }] },
      { ...message, parts: [], toolCalls: [{ id: 'c', name: 'f', arguments: '{"a":1}' }] },
    ],
  });
  assert.equal(inputText(request), 'one\n\nf{"a":1}');
  const tool = { name: 'f', description: 'finds', parameters: null, strict: null };
  const withTool = inputText({ ...request, tools: [tool] });
  assert.equal(withTool, `one\n\nf{"a":1}\n${JSON.stringify([tool])}`);
});
