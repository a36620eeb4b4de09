// Utterances that are longer than anybody speaks: what is kept of them has a bound, and nothing
// of them is lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { utteranceCharactersMax } from '../../../../../media/providers/live/contract.ts';
import { type Message, pcm } from '../streams.ts';
import { audio, heard, said, spoken, spokenEvents, turnComplete } from './fixtures.ts';
import { read, readyCodec } from './session.ts';

const parts = Array.from({ length: 200 }, (_, index) => `${index} `.padEnd(1_000, 'x'));

/** What a client that follows the protocol shows; `undefined`: something is not final. */
function shown(events: readonly unknown[], role: string): string[] | undefined {
  const utterances: string[] = [];
  let partial = '';
  for (const event of events) {
    const { type, role: whose, text, final } = Object(event);
    if (type !== 'transcript' || whose !== role) continue;
    if (final === true) {
      assert.ok(text.startsWith(partial), 'it replaces what was told of it');
      utterances.push(text);
    }
    partial = final === true ? '' : partial + text;
    assert.ok(partial.length <= utteranceCharactersMax, 'no more is kept');
  }
  return partial === '' ? utterances : undefined;
}

const turnOf = (role: string, texts: readonly string[]): Message[] =>
  role === 'user'
    ? [...texts.map(heard), audio(pcm(1)), turnComplete()]
    : [heard('Q'), audio(pcm(1)), ...texts.map(said), turnComplete()];

for (const role of ['user', 'assistant']) {
  test(`an utterance of the ${role} that is too long to be kept is told as several`, () => {
    const codec = readyCodec();
    const { events } = read(codec, turnOf(role, parts));
    const utterances = shown(events, role);
    assert.equal(utterances?.join(''), parts.join(''));
    assert.ok((utterances?.length ?? 0) > 1);
    for (const text of utterances ?? []) assert.ok(text.length <= utteranceCharactersMax);
    assert.deepEqual(read(codec, spoken).events.length, spokenEvents.length, 'and the next one');
  });

  test(`a part of the ${role} that is itself too long is cut, in whole characters`, () => {
    const { events } = read(readyCodec(), turnOf(role, ['x', '🎙'.repeat(100_000), 'y']));
    const utterances = shown(events, role);
    assert.deepEqual(
      utterances?.map(({ length }) => length),
      [1, utteranceCharactersMax, 1],
    );
    assert.ok(!/\p{Surrogate}/u.test(utterances?.join('') ?? ''));
  });
}
