// The Gemini family: POST /v1beta/models/{model}: and generateContent, streamGenerateContent or
// countTokens.
import type { HttpRequest } from 'uWebSockets.js';
import type { SimExchange, SimFamily, SimReply } from '../contract.ts';
import type { Refusal } from '../directive.ts';
import { sendReply, serveGeneration } from '../generation.ts';
import {
  errorOfStatus,
  errorReply,
  type GeminiError,
  invalidArgument,
  unknownModel,
  wrongKey,
} from './failure.ts';
import { type GeminiRequest, readGeminiRequest } from './request.ts';
import { geminiScript } from './stream.ts';
import { type GeminiIdentity, wholeResponse } from './whole.ts';

const methods = ['generateContent', 'streamGenerateContent', 'countTokens'];
const json = { 'content-type': 'application/json; charset=UTF-8' };

export const geminiFamily: SimFamily = {
  name: 'gemini',
  keyOf: (req) => req.getHeader('x-goog-api-key') || (req.getQuery('key') ?? ''),
  keep: (req) => ({ call: callOf(req), alt: req.getQuery('alt') ?? '' }),
  routes: [{ method: 'post', path: '/v1beta/models/:call', handle: serve }],
};

/** `{model}:{method}`; clients may write the colon as `%3A`. */
function callOf(req: HttpRequest): string {
  const written = req.getParameter(0) ?? '';
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

function serve(exchange: SimExchange): void {
  const [model = '', method = ''] = (exchange.kept.call ?? '').split(':');
  const request = read(exchange, model, method);
  if ('error' in request) {
    sendReply(exchange, errorReply(request.error, 0));
    return;
  }
  if (method === 'countTokens') {
    count(exchange, request);
    return;
  }
  const identity: GeminiIdentity = {
    responseId: exchange.id(22),
    callId: (index) => `${exchange.id(8).toLowerCase()}${index.toString(36).padStart(2, '0')}`,
  };
  // Without `alt=sse` a stream is one JSON array, which nobody streams.
  const streamed = request.stream && exchange.kept.alt === 'sse';
  serveGeneration(exchange, streamed ? request : { ...request, stream: false }, {
    refuse: (status) => refuse(request, status),
    script: () => geminiScript(request, identity),
    whole: () => {
      const body = JSON.stringify(wholeResponse(request, identity));
      return { status: 200, headers: json, body: request.stream ? `[${body}]` : body };
    },
  });
}

/** Not counted as a started generation. */
function count(exchange: SimExchange, request: GeminiRequest): void {
  const status = exchange.outageStatus ?? request.directive.status;
  if (status !== 200) {
    sendReply(exchange, refuse(request, status));
    return;
  }
  const { inputTokens } = request;
  const promptTokensDetails = [{ modality: 'TEXT', tokenCount: inputTokens }];
  exchange.reply(200, json, JSON.stringify({ totalTokens: inputTokens, promptTokensDetails }));
}

function read(
  exchange: SimExchange,
  model: string,
  method: string,
): GeminiRequest | { error: GeminiError } {
  if (!exchange.keyAccepted) return { error: wrongKey };
  if (!methods.includes(method)) return { error: unknownModel(model, method) };
  if (exchange.body === undefined) {
    return { error: invalidArgument('Invalid JSON payload received. Unexpected end of string.') };
  }
  return readGeminiRequest(exchange.body, model, method);
}

function refuse(request: GeminiRequest, status: Refusal): SimReply {
  const { retryAfterSeconds } = request.directive;
  return errorReply(errorOfStatus(status, retryAfterSeconds), retryAfterSeconds);
}
