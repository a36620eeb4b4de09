// What is to be spoken may have halves of surrogate pairs: JSON lets them through.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microsPerCharacter, openAudioBed, say } from './bed.ts';

test('halves of surrogate pairs reach no provider: its parser might refuse them', async () => {
  const audio = await openAudioBed();
  try {
    const account = await audio.bed.account();
    audio.one.first = [{ kind: 'audio' }];
    const body = { input: 'a\ud800b 👋\udc00', instructions: '\udc00softly' };
    const reply = await say(audio, account, body);
    await reply.arrayBuffer();
    const asked = JSON.parse(audio.one.asked.at(-1)?.body.toString() ?? '');
    assert.deepEqual([asked.input, asked.instructions], ['a\ufffdb 👋\ufffd', '\ufffdsoftly']);
    const { availableMicros } = await account.quiet();
    assert.equal(1_000_000_000n - availableMicros, 6n * microsPerCharacter);
  } finally {
    await audio.close();
  }
});
