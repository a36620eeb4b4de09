// The OpenAI Responses family: POST /v1/responses and POST /v1/responses/input_tokens.
import { type ChatError, refusal, requestIdOf, wrongKey } from '../chat/failure.ts';
import type { SimExchange, SimFamily, SimReply } from '../contract.ts';
import type { Refusal } from '../directive.ts';
import { sendReply, serveGeneration } from '../generation.ts';
import { bearerOf } from '../key.ts';
import { refusalOfStatus } from './failure.ts';
import { type ResponsesRequest, readResponsesRequest } from './request.ts';
import { responsesScript } from './stream.ts';
import { type ResponsesIdentity, responseJson, wholeResponse } from './whole.ts';

export const responsesFamily: SimFamily = {
  name: 'responses',
  keyOf: bearerOf,
  routes: [
    { method: 'post', path: '/v1/responses', handle: create },
    { method: 'post', path: '/v1/responses/input_tokens', handle: count },
  ],
};

function create(exchange: SimExchange): void {
  const request = read(exchange);
  if ('error' in request) {
    sendReply(exchange, refusal(exchange, request.error, 0));
    return;
  }
  const identity = identityOf(exchange);
  const reply = (body: string): SimReply => ({
    status: 200,
    headers: { 'content-type': 'application/json', 'x-request-id': identity.requestId },
    body,
  });
  serveGeneration(exchange, request, {
    refuse: (status) => refuse(exchange, request, status),
    script: () => responsesScript(request, identity),
    whole: () => reply(wholeResponse(request, identity)),
    failed: () => reply(responseJson(request, identity, 'failed', [])),
  });
}

/** Not counted as a started generation. */
function count(exchange: SimExchange): void {
  const request = read(exchange);
  if ('error' in request) {
    sendReply(exchange, refusal(exchange, request.error, 0));
    return;
  }
  const status = exchange.outageStatus ?? request.directive.status;
  if (status !== 200) {
    sendReply(exchange, refuse(exchange, request, status));
    return;
  }
  const counted = { object: 'response.input_tokens', input_tokens: request.inputTokens };
  const headers = { 'content-type': 'application/json', 'x-request-id': requestIdOf(exchange) };
  exchange.reply(200, headers, JSON.stringify(counted));
}

function read(exchange: SimExchange): ResponsesRequest | { error: ChatError } {
  return exchange.keyAccepted ? readResponsesRequest(exchange.body) : { error: wrongKey };
}

function refuse(exchange: SimExchange, request: ResponsesRequest, status: Refusal): SimReply {
  return refusal(exchange, refusalOfStatus(status), request.directive.retryAfterSeconds);
}

function identityOf(exchange: SimExchange): ResponsesIdentity {
  const tail = exchange.id(40).toLowerCase();
  return {
    id: `resp_0${tail}`,
    createdAt: Math.floor(Date.now() / 1000),
    requestId: requestIdOf(exchange),
    itemId: (kind, index) => `${kind}_0${tail}${index.toString(16).padStart(2, '0')}`,
    callId: (index) => `call_${exchange.id(22)}${index.toString(36).padStart(2, '0')}`,
  };
}
