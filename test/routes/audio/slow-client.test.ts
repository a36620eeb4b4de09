// A client that takes its time: one that makes the provider wait until it gives up has bought what
// it was sent, else waiting would be a way to listen for nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AudioBed, microsPerCharacter, openAudioBed, say, stateOf } from './bed.ts';

let audio: AudioBed;
before(async () => {
  audio = await openAudioBed();
});
after(() => audio.close());

test('who makes the provider wait until it cuts pays', async () => {
  const account = await audio.bed.account();
  // More than sockets on the way can hold. Who takes nothing for 8 s is cut by our own server.
  audio.one.behaviour = { kind: 'audio', pieces: 8_000, endMs: 6_200, cut: true };
  audio.two.behaviour = audio.one.behaviour;
  const reply = await say(audio, account, {});
  const requestId = reply.headers.get('x-svc-request-id') ?? '';
  await new Promise((resolve) => setTimeout(resolve, 6_400));
  await assert.rejects(reply.arrayBuffer());
  const { availableMicros } = await account.quiet();
  assert.equal(1_000_000_000n - availableMicros, 5n * microsPerCharacter);
  assert.equal((await stateOf(audio, account, requestId)).status, 'cancelled');
});
