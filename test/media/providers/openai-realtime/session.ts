// Codecs of the tests, set up.
import type { LiveCodec } from '../../../../media/providers/live-contract.ts';
import { openaiRealtime } from '../../../../media/providers/openai-realtime/family.ts';
import { asText, type Message, plainSetup, readAll } from '../live-streams.ts';
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
