// The SerpApi family: GET /serpapi/search and /serpapi/search.json, with the engine and the key in
// the query of the URL. Counters and outages go by engine: `serpapi-google_flights`.
import type { SimExchange, SimFamily } from '../contract.ts';
import { sendReply } from '../generation.ts';
import { isMembers } from '../members.ts';
import { directiveFor, serveSearch } from '../search/serve.ts';
import { envelopeOf, wholeSerpapi } from './envelope.ts';
import { errorReply, refusalOf, wrongKey } from './failure.ts';
import { type Parameters, readSerpapiRequest } from './request.ts';

const name = 'serpapi';
/** Its own client knows no prefix. */
const clientPath = '/search';

export const serpapiFamily: SimFamily = {
  name,
  keyOf: (req) => req.getQuery('api_key') ?? '',
  routes: ['/serpapi/search', '/serpapi/search.json', clientPath].map((path) => ({
    method: 'get',
    path,
    reads: 'query',
    isFor: (req) => path !== clientPath || req.getQuery('engine') !== undefined,
    handle: serve,
  })),
};

function serve(exchange: SimExchange): void {
  if (!exchange.keyAccepted) {
    sendReply(exchange, wrongKey());
    return;
  }
  const request = readSerpapiRequest(parametersOf(exchange.body));
  if ('error' in request) {
    sendReply(exchange, errorReply(400, request.error));
    return;
  }
  const { engine } = request;
  const directive = directiveFor(exchange, name, engine, request.texts);
  const id = exchange.id(24);
  serveSearch(exchange, {
    family: name,
    endpoint: engine,
    directive,
    refuse: (status, retryAfterSeconds) =>
      refusalOf(status, retryAfterSeconds, (error) => ({
        ...envelopeOf(request, id, 'Error'),
        error,
      })),
    whole: () => wholeSerpapi(request, directive, id),
  });
}

function parametersOf(body: unknown): Parameters {
  return isMembers(body) ? (body as Parameters) : {};
}
