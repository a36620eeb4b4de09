// The OpenAI-compatible Chat Completions family: POST /v1/chat/completions and GET /v1/models.
import type { SimExchange, SimFamily } from '../contract.ts';
import { sendReply, serveGeneration } from '../generation.ts';
import { imagineModels } from '../imagine/request.ts';
import { bearerOf } from '../key.ts';
import { asksMessagesModels } from '../messages/models.ts';
import { realtimeModels } from '../realtime/family.ts';
import { responsesModels } from '../responses/request.ts';
import { speechModels } from '../speech/request.ts';
import { transcriptionModels } from '../transcription/request.ts';
import { videosModels } from '../videos/request.ts';
import { errorOfStatus, refusal, requestIdOf, wrongKey } from './failure.ts';
import { chatModels, readChatRequest } from './request.ts';
import { chatScript } from './stream.ts';
import { type ChatIdentity, wholeCompletion } from './whole.ts';

/** Of every family below this prefix: one server has one list. (Messages has one of its own.) */
const servedModels = [
  ...chatModels,
  ...responsesModels,
  ...realtimeModels,
  ...speechModels,
  ...transcriptionModels,
  ...imagineModels,
  ...videosModels,
];
const modelsCreatedAt = 1_768_435_200;

export const chatFamily: SimFamily = {
  name: 'chat',
  keyOf: bearerOf,
  routes: [
    { method: 'post', path: '/v1/chat/completions', handle: complete },
    {
      method: 'get',
      path: '/v1/models',
      isFor: (req) => !asksMessagesModels(req),
      handle: listModels,
    },
  ],
};

function complete(exchange: SimExchange): void {
  const request = exchange.keyAccepted ? readChatRequest(exchange.body) : { error: wrongKey };
  if ('error' in request) {
    sendReply(exchange, refusal(exchange, request.error, 0));
    return;
  }
  const { retryAfterSeconds } = request.directive;
  const identity = identityOf(exchange);
  serveGeneration(exchange, request, {
    refuse: (status) => refusal(exchange, errorOfStatus(status), retryAfterSeconds),
    script: () => chatScript(request, identity),
    whole: () => ({
      status: 200,
      headers: { 'content-type': 'application/json', 'x-request-id': identity.requestId },
      body: wholeCompletion(request, identity),
    }),
  });
}

function listModels(exchange: SimExchange): void {
  if (!exchange.keyAccepted) {
    sendReply(exchange, refusal(exchange, wrongKey, 0));
    return;
  }
  const data = servedModels.map((id) => ({
    id,
    object: 'model',
    created: modelsCreatedAt,
    owned_by: 'simulator',
  }));
  const headers = { 'content-type': 'application/json', 'x-request-id': requestIdOf(exchange) };
  exchange.reply(200, headers, JSON.stringify({ object: 'list', data }));
}

function identityOf(exchange: SimExchange): ChatIdentity {
  return {
    id: `chatcmpl-${exchange.id(29)}`,
    createdAt: Math.floor(Date.now() / 1000),
    requestId: requestIdOf(exchange),
    callId: (index) => `call_${exchange.id(22)}${index.toString(36).padStart(2, '0')}`,
  };
}
