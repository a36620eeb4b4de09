// The transcription family: POST /v1/audio/transcriptions, one word for each tone burst.
import { countWords } from '../answer.ts';
import {
  errorOfStatus,
  invalidRequest,
  refusal,
  requestIdOf,
  streamErrorEvent,
  wrongKey,
} from '../chat/failure.ts';
import type { SimExchange, SimFamily } from '../contract.ts';
import { beginsRefused, sendReply } from '../generation.ts';
import { bearerOf } from '../key.ts';
import type { Script } from '../player.ts';
import { unknownMembers } from '../unknown.ts';
import { type Burst, findBursts } from './bursts.ts';
import { decode } from './decode.ts';
import { readTranscriptionRequest, type TranscriptionRequest } from './request.ts';

export const transcriptionFamily: SimFamily = {
  name: 'transcription',
  keyOf: bearerOf,
  keep: (req) => ({ type: req.getHeader('content-type') }),
  routes: [
    { method: 'post', path: '/v1/audio/transcriptions', reads: 'bytes', handle: transcribe },
  ],
};

const unreadable = invalidRequest('Audio file might be corrupted or unsupported', 'file');

function transcribe(exchange: SimExchange): void {
  const request = exchange.keyAccepted
    ? readTranscriptionRequest(exchange.body, exchange.kept.type ?? '')
    : { error: wrongKey };
  if ('error' in request) {
    sendReply(exchange, refusal(exchange, request.error, 0));
    return;
  }
  const { directive } = request;
  const refuse = (status: number) =>
    refusal(exchange, errorOfStatus(status), directive.retryAfterSeconds);
  if (beginsRefused(exchange, request, { refuse })) return;
  if (directive.fault === 'stall' || directive.fault === 'cut') {
    exchange.leave(directive.fault);
    return;
  }
  void decode(request.file).then((recording) => {
    if (recording === null) {
      sendReply(exchange, refusal(exchange, unreadable, 0));
      return;
    }
    const { samples, rateHz } = recording;
    const seconds = Math.round((samples.length * 1000) / rateHz) / 1000;
    answer(exchange, request, findBursts(samples, rateHz), seconds);
  });
}

function answer(
  exchange: SimExchange,
  request: TranscriptionRequest,
  bursts: readonly Burst[],
  seconds: number,
): void {
  const { directive, format, stream } = request;
  const words = bursts.map(({ pitchHz }) => ` tone${pitchHz}`);
  const text = directive.text ?? words.join('');
  if (stream) {
    exchange.play(streamScript(request, text, seconds), directive);
    return;
  }
  if (directive.fault === 'error' || directive.fault === 'failed') {
    sendReply(exchange, refusal(exchange, errorOfStatus(500), 1), directive.firstMs);
    return;
  }
  const usage = usageOf(request, seconds);
  const more = directive.unknown ? unknownMembers : {};
  const verbose = {
    task: 'transcribe',
    language: request.language || 'english',
    duration: seconds,
    words: bursts.map(({ startSeconds: start, endSeconds: end }, index) => ({
      word: (words[index] ?? '').trim(),
      start,
      end,
    })),
  };
  const whole = { ...(format === 'verbose_json' ? verbose : {}), text, ...usage, ...more };
  const json = JSON.stringify(whole);
  const body = directive.fault === 'garbage' ? json.slice(0, -4) : json;
  const type = format === 'text' ? 'text/plain; charset=utf-8' : 'application/json';
  const headers = { 'content-type': type, 'x-request-id': requestIdOf(exchange) };
  const written = format === 'text' ? `${text}\n` : body;
  sendReply(exchange, { status: 200, headers, body: written }, directive.firstMs);
}

function usageOf({ directive }: TranscriptionRequest, seconds: number): object {
  if (directive.fault === 'no_usage') return {};
  const isZero = directive.fault === 'zero_usage';
  return { usage: { type: 'duration', seconds: isZero ? 0 : seconds } };
}

/** A streamed transcript counts tokens: that event has no other usage. */
function streamScript(request: TranscriptionRequest, text: string, seconds: number): Script {
  const pieces = text.split(/(?= )/).filter((piece) => piece !== '');
  const audio = Math.ceil(seconds * 10);
  const output = countWords(text);
  const usage = {
    type: 'tokens',
    input_tokens: audio,
    input_token_details: { audio_tokens: audio, text_tokens: 0 },
    output_tokens: output,
    total_tokens: audio + output,
  };
  const told = request.directive.fault === 'no_usage' ? {} : { usage };
  return {
    headers: [['content-type', 'text/event-stream; charset=utf-8']],
    count: pieces.length + 1,
    pacedCount: pieces.length,
    event: (index) => {
      const delta = pieces[index];
      return delta === undefined
        ? sse({ type: 'transcript.text.done', text, ...told })
        : sse({ type: 'transcript.text.delta', delta });
    },
    errorEvent: () => streamErrorEvent,
    garbageEvent: 'data: {"type":"transcript\n\n',
  };
}

function sse(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
