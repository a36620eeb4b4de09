// The reader for a client of its own format: whatever the stream is cut into, and also where it
// came whole, the answer has the blocks that the message has.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addToAnswer, emptyAnswer } from '../../../../../media/model/answer.ts';
import { blocksOf } from '../../../../../media/model/dialects/messages/blocks.ts';
import type { ModelEvent } from '../../../../../media/model/events.ts';
import { MessagesReader } from '../../../../../media/providers/generation/anthropic-messages/reader.ts';
import { messagesFixtures } from '../../../../conformance/own/messages-fixtures.ts';
import { messageStreamOf } from '../../../../conformance/own/messages-upstream.ts';
import { accountSeals } from '../../../../harness/request.ts';

function read(pieces: readonly Uint8Array[]): ModelEvent[] {
  const reader = new MessagesReader('messages');
  const events = pieces.flatMap((piece) => reader.push(piece));
  return [...events, ...reader.end()];
}

function contentOf(events: readonly ModelEvent[]): unknown {
  const answer = emptyAnswer();
  for (const event of events) addToAnswer(answer, event);
  const blocks = answer.items.flatMap((item) => blocksOf(item, accountSeals()));
  return JSON.parse(JSON.stringify(blocks));
}

for (const fixture of messagesFixtures) {
  const { name, message } = fixture;
  const wanted = JSON.parse(JSON.stringify(message.content));

  test(`${name}: cut anywhere, it means the same`, () => {
    const bytes = Buffer.from(messageStreamOf(fixture));
    const whole = read([bytes]);
    assert.deepEqual(contentOf(whole), wanted);
    for (let cut = 1; cut < bytes.length; cut += 7) {
      assert.deepEqual(read([bytes.subarray(0, cut), bytes.subarray(cut)]), whole, `at ${cut}`);
    }
  });

  test(`${name}: a server that ignores stream says the same`, () => {
    const document = read([Buffer.from(JSON.stringify(message))]);
    assert.deepEqual(contentOf(document), wanted);
  });
}
