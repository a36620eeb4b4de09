// Answers as long as models write them: what a member, a call or a citation costs does not grow
// with what came before it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Answer,
  addToAnswer,
  answerEvents,
  emptyAnswer,
} from '../../../media/model/answer.ts';
import { blocksOf } from '../../../media/model/dialects/messages/blocks.ts';
import { messagesDialect } from '../../../media/model/dialects/messages/dialect.ts';
import { responsesDialect } from '../../../media/model/dialects/responses/dialect.ts';
import type { ModelEvent } from '../../../media/model/events.ts';
import { ChatReader } from '../../../media/providers/generation/openai-chat/reader.ts';
import { accountSeals, replyOptions } from '../../harness/request.ts';
import { cpuMsOf } from '../../harness/stopwatch.ts';

/** Each of these takes a small part of it, and took several times as much. */
const cpuMsMax = 3_000;

const identity = { requestId: `req_${'0'.repeat(24)}`, model: 'm', createdAt: 1 };

function list<T>(length: number, each: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => each(index));
}

function answerOf(events: readonly ModelEvent[]): Answer {
  const answer = emptyAnswer();
  for (const event of events) addToAnswer(answer, event);
  return answer;
}

async function soon(work: () => void): Promise<void> {
  const cpuMs = await cpuMsOf(work);
  assert.ok(cpuMs < cpuMsMax, `${Math.round(cpuMs)} ms of CPU`);
}

function scored(token: string): ModelEvent {
  const logprobs = { content: [{ token, logprob: -1 }], refusal: null };
  return { type: 'extra', format: 'chat', delta: {}, choice: { logprobs } };
}

test('each token of a long answer may have its logprobs', async () => {
  const events = list(40_000, (at) => scored(`t${at}`));
  await soon(() => {
    const { logprobs } = answerOf(events).extra.choice as { logprobs: { content: unknown[] } };
    assert.equal(logprobs.content.length, 40_000);
    assert.deepEqual(logprobs.content[39_999], { token: 't39999', logprob: -1 });
  });
});

test('what was told of an answer does not grow with it, nor do its events', () => {
  const first = scored('a');
  const answer = answerOf([{ type: 'text', text: 'a', plain: true }, first]);
  const told = answerEvents(answer);
  const before = JSON.stringify([told, first]);
  addToAnswer(answer, scored('b'));
  assert.equal(JSON.stringify([told, first]), before);
  assert.match(JSON.stringify(answerEvents(answer)), /"a".*"b"/);
});

test('a long call that is no JSON is not read again for each delta of the next ones', async () => {
  const args = (index: number, text: string): ModelEvent => {
    return { type: 'tool_arguments', index, text };
  };
  const begin = (index: number): ModelEvent => {
    return { type: 'tool_call', index, id: `c${index}`, name: 'f' };
  };
  const events = [
    ...[begin(0), args(0, `{"a":"${'x'.repeat(400_000)}}`), begin(1)],
    ...list(50_000, () => args(1, 'abc')),
    ...list(2_000, (at) => [begin(at + 2), args(at + 2, '{}')]).flat(),
  ];
  for (const dialect of [messagesDialect, responsesDialect]) {
    await soon(() => {
      const encoder = dialect.encoder(identity, replyOptions());
      const text = events.map((event) => encoder.events([event])).join('');
      assert.ok(text.length > 400_000);
    });
  }
});

test('a long call that others wait for is not read again for each of its own deltas', async () => {
  const told = (index: number, text: string): ModelEvent => {
    return { type: 'tool_arguments', index, text };
  };
  const events: ModelEvent[] = [
    { type: 'tool_call', index: 0, id: 'a', name: 'f' },
    told(0, '{"a":['),
    { type: 'tool_call', index: 1, id: 'b', name: 'f' },
    ...list(12_000, () => [told(0, '{"x":"}\\""}'), told(0, ',')]).flat(),
    told(0, '1]}'),
    told(1, '{}'),
  ];
  await soon(() => {
    const encoder = messagesDialect.encoder(identity, replyOptions());
    const text = events.map((event) => encoder.events([event])).join('');
    assert.match(text, /content_block_stop.*"index":0.*content_block_start.*"index":1/s);
  });
});

test('thousands of calls without arguments are no work for each other', async () => {
  const chunk = (choice: object) =>
    Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
  const called = { name: 'f', arguments: '' };
  const reader = new ChatReader();
  const chunks = list(20_000, (index) => {
    return chunk({ delta: { tool_calls: [{ index, id: `c${index}`, function: called }] } });
  });
  const end = chunk({ delta: {}, finish_reason: 'tool_calls' });
  await soon(() => {
    const events = [...chunks, end].flatMap((bytes) => reader.push(bytes));
    const { items } = answerOf(events);
    assert.equal(items.length, 20_000);
    assert.ok(items.every((item) => item.type === 'tool_call' && item.arguments === '{}'));
    const encoder = responsesDialect.encoder(identity, replyOptions());
    const text = events.map((event) => encoder.events([event])).join('');
    assert.match(text, /"output_index":19999/);
  });
});

test('tens of thousands of citations stand behind the words that they belong to', async () => {
  const count = 30_000;
  const events = list(count, (at): ModelEvent[] => {
    const value = { type: 'char_location', cited_text: `c${at}` };
    const native = { format: 'messages' as const, value };
    const citation = { url: '', title: '', start: null, end: (at + 1) * 4, native };
    return [
      { type: 'text', text: 'abc ', plain: true },
      { type: 'citation', citation },
    ];
  }).flat();
  const answer = answerOf(events);
  await soon(() => {
    const blocks = answer.items.flatMap((item) => blocksOf(item, accountSeals()));
    assert.equal(blocks.length, count);
    const last = { type: 'char_location', cited_text: `c${count - 1}` };
    assert.deepEqual(blocks.at(-1), { type: 'text', text: 'abc ', citations: [last] });
  });
});
