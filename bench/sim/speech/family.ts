// The speech family: POST /v1/audio/speech, streamed word by word.
import { countWords } from '../answer.ts';
import {
  errorOfStatus,
  refusal,
  requestIdOf,
  streamErrorEvent,
  wrongKey,
} from '../chat/failure.ts';
import type { SimExchange, SimFamily } from '../contract.ts';
import { beginsRefused, sendReply } from '../generation.ts';
import { bearerOf } from '../key.ts';
import type { Script } from '../player.ts';
import { outputRateHz } from '../sound/tone.ts';
import { wavHeader } from '../sound/wav.ts';
import { mp3Slots } from './mp3.ts';
import { readSpeechRequest, type SpeechRequest } from './request.ts';
import { frameSamples, pitchIndexOf, slotFramesOf, slotPcm } from './words.ts';

export const speechFamily: SimFamily = {
  name: 'speech',
  keyOf: bearerOf,
  routes: [{ method: 'post', path: '/v1/audio/speech', handle: speak }],
};

const mediaTypes = { mp3: 'audio/mpeg', wav: 'audio/wav', pcm: 'audio/pcm' };

function speak(exchange: SimExchange): void {
  const request = exchange.keyAccepted ? readSpeechRequest(exchange.body) : { error: wrongKey };
  if ('error' in request) {
    sendReply(exchange, refusal(exchange, request.error, 0));
    return;
  }
  const { directive, format } = request;
  const refuse = (status: number) =>
    refusal(exchange, errorOfStatus(status), directive.retryAfterSeconds);
  if (beginsRefused(exchange, request, { refuse })) return;
  const frames = slotFramesOf(request.speed);
  if (format !== 'mp3') {
    play(exchange, request, frames, (pitch) => slotPcm(pitch, frames));
    return;
  }
  void mp3Slots(frames).then((slots) => {
    if (slots === null) sendReply(exchange, refusal(exchange, errorOfStatus(500), 1));
    else play(exchange, request, frames, (pitch) => slots.slot(pitch));
  });
}

function play(
  exchange: SimExchange,
  request: SpeechRequest,
  frames: number,
  slotOf: (pitchIndex: number | null) => Buffer,
): void {
  const { words, format, directive } = request;
  const count = Math.max(1, words.length);
  const chunkOf = (index: number): Buffer => {
    const word = words[index];
    const slot = slotOf(word === undefined ? null : pitchIndexOf(word, index));
    if (index > 0 || format !== 'wav') return slot;
    const dataBytes = directive.unknown ? null : count * frames * frameSamples * 2;
    return Buffer.concat([wavHeader(outputRateHz, dataBytes), slot]);
  };
  const script = request.events
    ? eventScript(request, frames, count, chunkOf)
    : byteScript(request, count, chunkOf, requestIdOf(exchange));
  exchange.play(script, directive);
}

/** Ended early, raw audio cannot say that it failed: it is just shorter. */
function byteScript(
  { format }: SpeechRequest,
  count: number,
  event: (index: number) => Buffer,
  requestId: string,
): Script {
  const headers = [
    ['content-type', mediaTypes[format]],
    ['x-request-id', requestId],
  ] as const;
  return { headers, count, pacedCount: count, event, errorEvent: () => '', garbageEvent: '?' };
}

function eventScript(
  { words, directive }: SpeechRequest,
  frames: number,
  count: number,
  chunkOf: (index: number) => Buffer,
): Script {
  const audioTokens = Math.ceil((count * frames * frameSamples * 10) / outputRateHz);
  const inputTokens = countWords(words.join(' '));
  const isZero = directive.fault === 'zero_usage';
  const usage = {
    input_tokens: isZero ? 0 : inputTokens,
    output_tokens: isZero ? 0 : audioTokens,
    total_tokens: isZero ? 0 : inputTokens + audioTokens,
  };
  const done = directive.fault === 'no_usage' ? {} : { usage };
  return {
    headers: [['content-type', 'text/event-stream; charset=utf-8']],
    count: count + 1,
    pacedCount: count,
    event: (index) => {
      if (index === count) return sse({ type: 'speech.audio.done', ...done });
      return sse({ type: 'speech.audio.delta', audio: chunkOf(index).toString('base64') });
    },
    errorEvent: () => streamErrorEvent,
    garbageEvent: 'data: {"type":"speech.aud\n\n',
  };
}

function sse(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
