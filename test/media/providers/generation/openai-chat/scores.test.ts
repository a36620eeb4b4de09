// Logprobs of a Chat provider for a client of Responses stand with their text. Each token has its
// bytes, which that format requires.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addToAnswer, emptyAnswer } from '../../../../../media/model/answer.ts';
import { responsesDialect } from '../../../../../media/model/dialects/responses/dialect.ts';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import { ChatReader } from '../../../../../media/providers/generation/openai-chat/reader.ts';
import { assertOpenEvent } from '../../../../conformance/open-responses/check.ts';
import { eventsOf } from '../../../../harness/formats.ts';
import { replyOptions } from '../../../../harness/request.ts';

function chunk(choice: Record<string, unknown>): string {
  const choices = [{ index: 0, finish_reason: null, ...choice }];
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices })}\n\n`;
}

const other = { token: 'y', logprob: -3, bytes: null };
const told = [
  chunk({
    delta: { content: 'é' },
    logprobs: { content: [{ token: 'é', logprob: -0.5, bytes: null, top_logprobs: [other] }] },
  }),
  chunk({ delta: { content: '!' }, logprobs: { content: [{ token: '!', logprob: -1 }] } }),
  chunk({ delta: {}, finish_reason: 'stop' }),
  'data: [DONE]\n\n',
].join('');

function read(client: 'chat' | 'responses'): ModelEvent[] {
  const reader = new ChatReader(client);
  return [...reader.push(Buffer.from(told)), ...reader.end()];
}

const scores = [
  [{ token: 'é', logprob: -0.5, bytes: [0xc3, 0xa9], top_logprobs: [{ ...other, bytes: [0x79] }] }],
  [{ token: '!', logprob: -1, bytes: [0x21], top_logprobs: [] }],
];

test('a client of Responses is told logprobs with each delta, and of the whole part', () => {
  const identity = { requestId: 'req_0123456789abcdef01234567', model: 'm', createdAt: 1 };
  const encoder = responsesDialect.encoder(identity, replyOptions());
  const events = eventsOf(encoder.events(read('responses')));
  for (const { data } of events) assertOpenEvent(data);
  const deltas = events.filter(({ name }) => name === 'response.output_text.delta');
  assert.deepEqual(
    deltas.map(({ data }) => data.logprobs),
    scores,
  );
  const answer = emptyAnswer();
  for (const event of read('responses')) addToAnswer(answer, event);
  const [part] = answer.items;
  assert.deepEqual(part?.type === 'text' ? part.logprobs?.told : null, scores.flat());
});

test('a client of Chat is told them in the choice, as they came', () => {
  const texts = read('chat').filter((event) => event.type === 'text');
  assert.deepEqual(
    texts.map((event) => 'logprobs' in event),
    [false, false],
  );
});
