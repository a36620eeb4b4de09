// What parts without a text of ours weigh: text documents as text, others by their size, sound by
// its length, and nothing that would make a large input cost a hold next to nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachmentCharacters, attachmentTokens } from '../../../media/model/attachments.ts';
import type { ContentPart } from '../../../media/model/request.ts';
import { neutralRequest } from '../../harness/request.ts';

function requestOf(...parts: ContentPart[]) {
  return neutralRequest({ messages: [{ role: 'user', parts, toolCalls: [], toolCallId: null }] });
}

const tokensOf = (...parts: ContentPart[]) => attachmentTokens(requestOf(...parts));
const file = (url: string): ContentPart => ({ type: 'file', url, name: null });
const native = (value: Record<string, unknown>): ContentPart => ({
  type: 'native',
  format: 'messages',
  value,
});

test('documents weigh by their contents: text as text, others by their likely pages', () => {
  const base64 = Buffer.from('x'.repeat(300_000)).toString('base64');
  assert.equal(tokensOf(file(`data:text/plain;charset=utf-8;base64,${base64}`)), 75_000);
  assert.equal(tokensOf(file(`data:application/json;base64,${base64}`)), 75_000);
  assert.equal(tokensOf(file(`data:text/csv,${'1,2;'.repeat(1_000)}`)), 1_000);
  assert.equal(tokensOf(file(`data:application/pdf;base64,${base64}`)), 6_000);
  assert.equal(tokensOf(file('data:application/pdf;base64,JVBERi0=')), 1_500);
  const endless = `data:application/pdf;base64,${'A'.repeat(40_000_000)}`;
  assert.equal(tokensOf(file(endless)), 150_000);
  assert.equal(tokensOf(file('https://example.com/report.pdf')), 3_000);
});

test('images weigh the same each, sound by its length', () => {
  const image: ContentPart = { type: 'image', url: 'https://example.com/a.png', detail: null };
  assert.equal(tokensOf(image, { type: 'text', text: 'x' }, image), 2_048);
  const sound = (data: unknown, format: string) =>
    native({ type: 'input_audio', input_audio: { data, format } });
  const minute = 'A'.repeat((60 * 32_000 * 4) / 3);
  assert.equal(tokensOf(sound(minute, 'wav')), 1_920);
  assert.equal(tokensOf(sound(minute, 'mp3')), 7_680);
  assert.equal(tokensOf(sound(7, 'mp3'), native({ type: 'input_audio' })), 3);
});

test('what only its own format reads weighs as its texts and its files do', () => {
  const text = 'word '.repeat(8_000);
  const found = {
    type: 'search_result',
    source: 's',
    title: 't',
    content: [{ type: 'text', text }],
  };
  const many = tokensOf(native(found));
  assert.ok(many >= 10_000 && many < 10_050, String(many));
  const scan = {
    type: 'document',
    source: {
      type: 'content',
      content: [
        {
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(200_000) },
        },
      ],
    },
  };
  const pages = tokensOf(native(scan));
  assert.ok(pages >= 3_000 && pages < 3_050, String(pages));
});

test('thinking that is handed back weighs nothing, whatever its length', () => {
  const signature = 'A'.repeat(40_000);
  assert.equal(tokensOf(native({ type: 'thinking', thinking: 'so', signature })), 0);
  assert.equal(tokensOf(native({ type: 'redacted_thinking', data: signature })), 0);
});

test('their characters count however they are written', () => {
  const data = 'A'.repeat(70_000);
  const sound = native({ type: 'input_audio', input_audio: { data, format: 'wav' } });
  const request = requestOf(sound, file('data:,'), { type: 'text', text: 'not this' });
  assert.equal(attachmentCharacters(request), 70_000 + 'wav'.length + 'input_audio'.length + 6);
});
