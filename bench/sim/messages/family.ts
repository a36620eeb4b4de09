// The Anthropic Messages family: POST /v1/messages and POST /v1/messages/count_tokens, and its own
// list of models.
import type { SimExchange, SimFamily, SimReply } from '../contract.ts';
import type { Refusal } from '../directive.ts';
import { sendReply, serveGeneration } from '../generation.ts';
import { bearerOf } from '../key.ts';
import { errorOfStatus, errorReply, type MessagesError, wrongKey } from './failure.ts';
import { asksMessagesModels, listModels, retrieveModel } from './models.ts';
import { type MessagesRequest, readMessagesRequest } from './request.ts';
import { messagesScript } from './stream.ts';
import { type MessagesIdentity, wholeMessage } from './whole.ts';

export const messagesFamily: SimFamily = {
  name: 'messages',
  keyOf: (req) => req.getHeader('x-api-key') || bearerOf(req),
  keep: (req) => ({
    'anthropic-version': req.getHeader('anthropic-version'),
    'anthropic-beta': req.getHeader('anthropic-beta'),
    model: req.getParameter(0) ?? '',
  }),
  routes: [
    { method: 'post', path: '/v1/messages', handle: create },
    { method: 'post', path: '/v1/messages/count_tokens', handle: count },
    { method: 'get', path: '/v1/models', isFor: asksMessagesModels, handle: listModels },
    { method: 'get', path: '/v1/models/:model', isFor: asksMessagesModels, handle: retrieveModel },
  ],
};

function create(exchange: SimExchange): void {
  const request = read(exchange, false);
  if ('error' in request) {
    sendReply(exchange, refusal(exchange, request.error, 0));
    return;
  }
  const identity = identityOf(exchange);
  serveGeneration(exchange, request, {
    refuse: (status) => refuse(exchange, request, status),
    script: () => messagesScript(request, identity),
    whole: () => ({
      status: 200,
      headers: { 'content-type': 'application/json', 'request-id': identity.requestId },
      body: JSON.stringify(wholeMessage(request, identity)),
    }),
  });
}

/** Not counted as a started generation. */
function count(exchange: SimExchange): void {
  const request = read(exchange, true);
  if ('error' in request) {
    sendReply(exchange, refusal(exchange, request.error, 0));
    return;
  }
  const status = exchange.outageStatus ?? request.directive.status;
  if (status !== 200) {
    sendReply(exchange, refuse(exchange, request, status));
    return;
  }
  const headers = { 'content-type': 'application/json', 'request-id': requestId(exchange) };
  exchange.reply(200, headers, JSON.stringify({ input_tokens: request.inputTokens }));
}

function read(
  exchange: SimExchange,
  counting: boolean,
): MessagesRequest | { error: MessagesError } {
  if (!exchange.keyAccepted) return { error: wrongKey };
  const version = exchange.kept['anthropic-version'] ?? '';
  return readMessagesRequest(exchange.body, version, counting);
}

function refuse(exchange: SimExchange, request: MessagesRequest, status: Refusal): SimReply {
  return refusal(exchange, errorOfStatus(status), request.directive.retryAfterSeconds);
}

function refusal(exchange: SimExchange, error: MessagesError, retryAfterSeconds: number): SimReply {
  return errorReply(error, requestId(exchange), retryAfterSeconds);
}

function identityOf(exchange: SimExchange): MessagesIdentity {
  const numbered = (prefix: string) => (index: number) =>
    `${prefix}_01${exchange.id(20)}${index.toString(36).padStart(2, '0')}`;
  return {
    id: `msg_01${exchange.id(22)}`,
    requestId: requestId(exchange),
    callId: numbered('toolu'),
    searchId: numbered('srvtoolu'),
  };
}

function requestId(exchange: SimExchange): string {
  return `req_011${exchange.id(21)}`;
}
