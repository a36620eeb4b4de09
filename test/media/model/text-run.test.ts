// Texts that are told as one event: every format writes the bytes that it writes for each by
// itself, an answer remembers each, and each is counted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addToAnswer, emptyAnswer } from '../../../media/model/answer.ts';
import { chatDialect } from '../../../media/model/dialects/chat/dialect.ts';
import { legacyDialect } from '../../../media/model/dialects/legacy/dialect.ts';
import { messagesDialect } from '../../../media/model/dialects/messages/dialect.ts';
import { responsesDialect } from '../../../media/model/dialects/responses/dialect.ts';
import type { ModelEvent } from '../../../media/model/events.ts';
import { keepCuts } from '../../../media/model/replay.ts';
import { countDeltas, isRun, runEvent, singles } from '../../../media/model/text-run.ts';
import { MessagesReader } from '../../../media/providers/generation/anthropic-messages/reader.ts';
import { isPlain } from '../../../runtime/http/json-pieces.ts';
import { fc } from '../../harness/properties.ts';
import { replyOptions } from '../../harness/request.ts';
import { identity, someEvents } from './dialects/responses/events.ts';

const dialects = {
  chat: chatDialect,
  legacy: legacyDialect,
  messages: messagesDialect,
  responses: responsesDialect,
};

const extra: ModelEvent = { type: 'extra', format: 'chat', delta: { x: 1 }, choice: {} };
const words = fc
  .array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 9 }).filter(isPlain), {
    maxLength: 9,
  })
  .map((pieces) => pieces.map((text): ModelEvent => ({ type: 'text', text, plain: true })));
const answers = fc
  .array(fc.oneof(words, someEvents, fc.constant([extra])), { maxLength: 5 })
  .map((runs): ModelEvent[] => [{ type: 'start' }, ...runs.flat().filter(isPossible)]);

/** One start is enough, and calls of two lists would have one name. */
function isPossible({ type }: ModelEvent): boolean {
  return type !== 'start' && type !== 'tool_call' && type !== 'tool_arguments';
}

/** The same events with neighbouring plain texts as one. */
function joined(events: readonly ModelEvent[]): ModelEvent[] {
  const all: ModelEvent[] = [];
  let pieces: string[] = [];
  const end = () => {
    if (pieces.length > 1) all.push(runEvent(pieces, null));
    else if (pieces[0] !== undefined) all.push({ type: 'text', text: pieces[0], plain: true });
    pieces = [];
  };
  for (const event of events) {
    if (event.type === 'text' && event.plain && event.logprobs === undefined) {
      pieces.push(event.text);
    } else {
      end();
      all.push(event);
    }
  }
  end();
  return all;
}

for (const [name, dialect] of Object.entries(dialects)) {
  test(`texts told at once are written one by one: ${name}`, () => {
    fc.assert(
      fc.property(answers, fc.option(fc.nat(12)), (events, startingAfter) => {
        const write = (batch: readonly ModelEvent[]) =>
          dialect.encoder(identity, { ...replyOptions(), startingAfter }).events(batch);
        assert.equal(write(joined(events)), write(events));
      }),
      { numRuns: 300 },
    );
  });
}

test('an answer keeps the cuts between them, and none is counted twice', () => {
  fc.assert(
    fc.property(answers, (events) => {
      const [together, apart] = [emptyAnswer(), emptyAnswer()];
      for (const answer of [together, apart]) keepCuts(answer);
      const runs = joined(events);
      for (const event of runs) addToAnswer(together, event);
      for (const event of events) addToAnswer(apart, event);
      assert.deepEqual(together, apart);
      assert.equal(countDeltas(runs), events.length);
      assert.deepEqual(singles(runs), events);
    }),
    { numRuns: 300 },
  );
});

/** A stream of Messages in which the provider leaves this after each number. */
function messagesStream(count: number, space: string): Buffer {
  const event = (data: object, tail = '') =>
    `event: ${(data as { type: string }).type}\ndata: ${JSON.stringify(data)}${tail}\n\n`;
  const delta = (text: string) =>
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, space);
  const begun = { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'm' };
  const texts = Array.from({ length: count }, (_, at) => delta(at === 5 ? '' : `${at} ü`));
  return Buffer.from(
    event({ type: 'message_start', message: { ...begun, usage: { input_tokens: 1 } } }) +
      event({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'text', text: '' },
      }) +
      texts.join(''),
  );
}

test('a stream of the same format is forwarded as it came where it looks like ours', () => {
  for (const [space, isSame] of [
    ['', true],
    ['  ', false],
  ] as const) {
    const events = new MessagesReader('messages').push(messagesStream(12, space));
    const runs = events.filter(isRun);
    assert.deepEqual(
      runs.map(({ run }) => run.pieces.length),
      [3, 6],
      'the first two are learned from, and one without text is no part of a run',
    );
    const write = (batch: readonly ModelEvent[]) =>
      messagesDialect.encoder(identity, replyOptions()).events(batch);
    const written = write(events);
    assert.equal(written, write(singles(events)));
    for (const { run } of runs) {
      assert.ok(run.framed !== null);
      assert.equal(written.includes(run.framed.raw), isSame);
    }
  }
  for (const format of ['chat', 'responses', 'legacy'] as const) {
    const events = new MessagesReader(format).push(messagesStream(12, ''));
    assert.ok(
      events.filter(isRun).every(({ run }) => run.framed === null),
      format,
    );
  }
});
