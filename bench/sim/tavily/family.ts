// The Tavily search family: POST /tavily/search with a bearer token.
import type { SimExchange, SimFamily } from '../contract.ts';
import { sendReply } from '../generation.ts';
import { bearerOf } from '../key.ts';
import { isMembers } from '../members.ts';
import { directiveFor, serveSearch } from '../search/serve.ts';
import { refusalOf, wrongKey } from './failure.ts';
import { readTavilyRequest } from './request.ts';
import { wholeTavily } from './whole.ts';

const name = 'tavily';
const endpoint = 'search';

export const tavilyFamily: SimFamily = {
  name,
  keyOf: bearerOf,
  routes: [{ method: 'post', path: '/tavily/search', handle: serve }],
};

function serve(exchange: SimExchange): void {
  if (!exchange.keyAccepted) {
    sendReply(exchange, wrongKey());
    return;
  }
  const request = readTavilyRequest(exchange.body);
  if ('refusal' in request) {
    sendReply(exchange, request.refusal);
    return;
  }
  const { body } = exchange;
  const sent = isMembers(body) && typeof body.query === 'string' ? body.query : '';
  const directive = directiveFor(exchange, name, endpoint, [sent]);
  const requestId = exchange.id(36);
  serveSearch(exchange, {
    family: name,
    endpoint,
    directive,
    refuse: refusalOf,
    whole: () => wholeTavily(request, directive, requestId),
  });
}
