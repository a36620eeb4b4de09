// Codecs of the tests, set up.
import assert from 'node:assert/strict';
import type { LiveCodec } from '../../../../../media/providers/live/contract.ts';
import { openaiRealtime } from '../../../../../media/providers/live/openai-realtime/family.ts';
import { asText, type Message, parsed, plainSetup, readAll } from '../streams.ts';
import { sessionCreated, sessionUpdated } from './fixtures.ts';

export const target = {
  routeId: 'r1',
  family: 'openai-realtime',
  baseUrl: 'https://api.example.com/v1/',
  apiKey: 'sk-1',
  upstreamModel: 'gpt-realtime 2',
};

export function readyCodec(): LiveCodec {
  const codec = openaiRealtime.createCodec(plainSetup, target);
  codec.open();
  readAll(codec, [asText(sessionCreated()), asText(sessionUpdated())]);
  return codec;
}

export function read(codec: LiveCodec, messages: readonly Message[]) {
  return readAll(codec, messages.map(asText));
}

/** Of which calls these messages tell that there is no result; nothing else may be among them. */
export function givenUpCalls(messages: readonly string[]): unknown[] {
  return parsed(messages).map(({ item }) => {
    const { type, call_id: callId, output } = item as Message;
    assert.deepEqual([type, /"error"/.test(String(output))], ['function_call_output', true]);
    return callId;
  });
}
