// The Serper search family: POST /search, /images, /news, /videos, /maps, /places, /shopping,
// /scholar and /autocomplete. A body that is an array is a batch.
import type { SimExchange, SimFamily } from '../contract.ts';
import { sendReply } from '../generation.ts';
import { directiveFor, serveSearch } from '../search/serve.ts';
import { errorOfStatus, errorReply, wrongKey } from './failure.ts';
import { readSerperRequest, type SerperRequest } from './request.ts';
import { type SearchKind, searchKinds, wholeSearch } from './whole.ts';

const name = 'serper';

export const serperFamily: SimFamily = {
  name,
  keyOf: (req) => req.getHeader('x-api-key'),
  routes: searchKinds.map((kind) => ({
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
  // Each query of a batch says what it finds, the first one how all go.
  const asked = requests.map((request) => {
    return { request, directive: directiveFor(exchange, name, kind, [request.q]) };
  });
  serveSearch(exchange, {
    family: name,
    endpoint: kind,
    directive: asked[0]?.directive ?? directiveFor(exchange, name, kind, []),
    refuse: (status, retryAfterSeconds) => errorReply(errorOfStatus(status), retryAfterSeconds),
    whole: () => {
      const replies = asked.map((one) => wholeSearch(one.request, one.directive, kind));
      return Array.isArray(body) ? replies : replies[0];
    },
  });
}
