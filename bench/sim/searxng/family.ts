// The SearXNG family: /searxng/search and /searxng/autocompleter, each with a form or the query of
// the URL. It knows no keys. A JSON body is not read, and lacks its query.
import type { SimExchange, SimFamily } from '../contract.ts';
import { sendReply } from '../generation.ts';
import { isMembers, type Members } from '../members.ts';
import { directiveFor, serveSearch } from '../search/serve.ts';
import { parameterError, refusalOf } from './failure.ts';
import { readSearxngRequest } from './request.ts';
import { completionsOf, wholeSearxng } from './whole.ts';

const name = 'searxng';
const forms = [
  { method: 'post', reads: 'form' },
  { method: 'get', reads: 'query' },
] as const;

export const searxngFamily: SimFamily = {
  name,
  keyOf: () => '',
  keep: (req) => ({ 'x-requested-with': req.getHeader('x-requested-with') }),
  routes: forms.flatMap((form) => [
    { ...form, path: '/searxng/search', handle: serveResults },
    { ...form, path: '/searxng/autocompleter', handle: serveCompletions },
  ]),
};

function formOf({ body }: SimExchange): Members {
  return isMembers(body) ? body : {};
}

function serveResults(exchange: SimExchange): void {
  const form = formOf(exchange);
  const request = readSearxngRequest(form);
  // Without the format it is a page for people.
  if (form.format !== 'json') {
    sendReply(exchange, refusalOf(form.format === undefined ? 404 : 403, 0));
    return;
  }
  if ('error' in request) {
    sendReply(exchange, parameterError(request.error));
    return;
  }
  if (request.isRedirected) {
    const location = `https://search.example.com/?q=${encodeURIComponent(request.query)}`;
    exchange.reply(302, { location, 'content-type': 'text/html' }, '');
    return;
  }
  const directive = directiveFor(exchange, name, 'search', [request.sent]);
  serveSearch(exchange, {
    family: name,
    endpoint: 'search',
    directive,
    refuse: refusalOf,
    whole: () => wholeSearxng(request, directive),
  });
}

function serveCompletions(exchange: SimExchange): void {
  const { q } = formOf(exchange);
  const query = typeof q === 'string' ? q : '';
  const directive = directiveFor(exchange, name, 'autocompleter', [query]);
  serveSearch(exchange, {
    family: name,
    endpoint: 'autocompleter',
    directive,
    refuse: refusalOf,
    whole: () => {
      const completions = query.trim() === '' ? [] : completionsOf(query, directive);
      if (exchange.kept['x-requested-with'] === 'XMLHttpRequest') return completions;
      return [query, completions, [], [], { 'google:suggestrelevance': [] }];
    },
  });
}
