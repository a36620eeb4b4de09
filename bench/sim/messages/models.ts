// The list of models of the Messages provider: GET /v1/models and GET /v1/models/{id}. The path is
// another provider's too; the version header, which every client of this one sends, tells which.
import type { HttpRequest } from 'uWebSockets.js';
import type { SimExchange, SimReply } from '../contract.ts';
import { sendReply } from '../generation.ts';
import { errorReply, unknownModel, wrongKey } from './failure.ts';
import { messagesModels } from './request.ts';

/** Whether a request for a list of models is meant for this provider. */
export function asksMessagesModels(req: HttpRequest): boolean {
  return req.getHeader('anthropic-version') !== '';
}

/** All on one page. */
export function listModels(exchange: SimExchange): void {
  const data = messagesModels.map(modelInfo);
  const page = { data, has_more: false, first_id: data[0]?.id, last_id: data.at(-1)?.id };
  answer(exchange, page);
}

/** The one that the path names. */
export function retrieveModel(exchange: SimExchange): void {
  const id = exchange.kept.model ?? '';
  answer(exchange, messagesModels.includes(id) ? modelInfo(id) : null, id);
}

function modelInfo(id: string) {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: '2026-01-15T00:00:00Z',
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
    capabilities: null,
    max_input_tokens: 128_000,
    max_tokens: 4_096,
  };
}

/** Null: there is no such model. */
function answer(exchange: SimExchange, body: object | null, model = ''): void {
  const requestId = `req_011${exchange.id(21)}`;
  const headers = { 'content-type': 'application/json', 'request-id': requestId };
  let reply: SimReply = { status: 200, headers, body: JSON.stringify(body) };
  if (!exchange.keyAccepted) reply = errorReply(wrongKey, requestId, 0);
  else if (body === null) reply = errorReply(unknownModel(model), requestId, 0);
  sendReply(exchange, reply);
}
