// Codecs of the tests, set up.
import type { LiveCodec, LiveSetup } from '../../../../../media/providers/live/contract.ts';
import { geminiLive } from '../../../../../media/providers/live/gemini-live/family.ts';
import { asText, type Message, plainSetup, readAll } from '../streams.ts';
import { setupComplete } from './fixtures.ts';

export const target = {
  routeId: 'r1',
  family: 'gemini-live',
  baseUrl: 'https://generativelanguage.example.com/v1beta',
  apiKey: 'key-1',
  upstreamModel: 'gemini-live-2.5',
};

export function newCodec(setup: LiveSetup = plainSetup, upstreamModel = target.upstreamModel) {
  return geminiLive.createCodec(setup, { ...target, upstreamModel });
}

export function readyCodec(): LiveCodec {
  const codec = newCodec();
  codec.open();
  read(codec, [setupComplete]);
  return codec;
}

export function read(codec: LiveCodec, messages: readonly Message[]) {
  return readAll(codec, messages.map(asText));
}
