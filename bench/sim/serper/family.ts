// The Serper search family: POST /search, /images, /news, /videos, /places, /shopping, /scholar and
// /autocomplete. A body that is an array is a batch.
import type { SimExchange, SimFamily } from '../contract.ts';
import { sendReply } from '../generation.ts';
import { unknownMembers } from '../unknown.ts';
import { errorOfStatus, errorReply, wrongKey } from './failure.ts';
import { readSerperRequest, type SerperRequest } from './request.ts';
import { type SearchKind, wholeSearch } from './whole.ts';

const kinds: readonly SearchKind[] = [
  'search',
  'images',
  'news',
  'videos',
  'places',
  'shopping',
  'scholar',
  'autocomplete',
];
const json = { 'content-type': 'application/json; charset=utf-8' };

export const serperFamily: SimFamily = {
  name: 'serper',
  keyOf: (req) => req.getHeader('x-api-key'),
  routes: kinds.map((kind) => ({
    method: 'post',
    path: `/${kind}`,
    handle: (exchange) => serve(exchange, kind),
  })),
};

function serve(exchange: SimExchange, kind: SearchKind): void {
  if (!exchange.keyAccepted) {
    sendReply(exchange, errorReply(wrongKey, 0));
    return;
  }
  const { body } = exchange;
  const requests: SerperRequest[] = [];
  for (const entry of Array.isArray(body) ? body : [body]) {
    const request = readSerperRequest(entry);
    if ('error' in request) {
      sendReply(exchange, errorReply(request.error, 0));
      return;
    }
    requests.push(request);
  }
  exchange.begin(`serper-${kind}`);
  const replies = requests.map((request) => ({
    ...wholeSearch(request, kind),
    ...(request.directive.unknown ? unknownMembers : {}),
  }));
  answer(exchange, requests[0], JSON.stringify(Array.isArray(body) ? replies : (replies[0] ?? [])));
}

/** The first query of a batch decides how it goes. */
function answer(exchange: SimExchange, request: SerperRequest | undefined, text: string): void {
  if (request === undefined) {
    exchange.reply(200, json, text);
    return;
  }
  const { fault, status: wanted, firstMs, retryAfterSeconds } = request.directive;
  if (fault === 'stall' || fault === 'cut') {
    exchange.leave(fault);
    return;
  }
  const status = exchange.outageStatus ?? (fault === 'error' ? 500 : wanted);
  if (status !== 200) {
    sendReply(exchange, errorReply(errorOfStatus(status), retryAfterSeconds), firstMs);
    return;
  }
  exchange.reply(200, json, fault === 'garbage' ? text.slice(0, -20) : text, firstMs);
}
