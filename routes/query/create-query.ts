// POST /api/v1/query: one question to one of fifteen surfaces, answered in one documented shape.
import { queryLimits } from '../../actors/query/limits.ts';
import type { Reply } from '../../runtime/http/route.ts';
import { defineRoute } from '../define.ts';
import { retryAfterHeader, shouldRetryHeader } from '../problems.ts';
import { askQuery, queryRoute } from './asking.ts';
import { queryReplySchema, querySchema } from './schema.ts';

const replyHeaders = {
  'x-svc-request-id': 'Our id of the query, for GET /v1/generations/{request_id}.',
};

export const createQuery = defineRoute({
  method: 'POST',
  path: queryRoute,
  operationId: 'createQuery',
  summary: 'Search the web, news, places, flights and more',
  description:
    'Fifteen surfaces, one shape of answer: `normalized.kind` says which items it has. If a ' +
    'provider is down, busy or finds nothing, the next one is asked. Only an answer with an item ' +
    'is charged, at the flat `credits_per_query` of `GET /api/catalog`: failures, empty answers, ' +
    'answers that were kept for the account, and replays cost nothing. A client that leaves ' +
    'before its answer cancels it. `web_answer` writes an answer that cites its items; where ' +
    'none holds up, `answer` is null, `partial` is true, and the price is that of the search. ' +
    'With an idempotency key the answer is kept sealed for 24 hours and told again with ' +
    '`replayed` true; equal queries with it at once are one search. More than 100 answers of ' +
    'a surface in an hour that found nothing or were left, and most of all, are 429 there.\n\n' +
    'Further bodies: `{"surface": "engine_flights", "query": "ZRH JFK"}`, ' +
    '`{"surface": "engine_hotels", "query": "Lisbon", "params": {"adults": 2}}`, ' +
    '`{"surface": "engine_routes", "query": "Zurich to Bern", "mode": "transit"}`, ' +
    '`{"surface": "web_answer", "query": "How high is Mont Blanc?"}`.',
  tag: 'Query',
  documents: ['account', 'model'],
  access: { kind: 'key-or-user', scope: 'query:execute' },
  cors: 'public',
  headers: {
    'idempotency-key': {
      description:
        'Names this query for 24 hours: a retry with it never charges twice. 1 to 255 visible ' +
        'ASCII characters; `request_id` of the body is the same.',
    },
    'x-stainless-retry-count': { description: 'How often the client library has tried before.' },
  },
  body: {
    kind: 'json',
    schema: querySchema,
    halves: 'replaced',
    prototypeKeys: 'spaced',
    bytesMax: queryLimits.bodyBytesMax,
    example: { surface: 'web_search', query: 'paper boats', params: { limit: 5 } },
  },
  replies: {
    200: { description: 'What was found.', schema: queryReplySchema, headers: replyHeaders },
  },
  problems: [
    'invalid_request',
    'insufficient_credits',
    'spend_limit_exceeded',
    'forbidden',
    'policy_blocked',
    'idempotency_key_reused',
    'conflict',
    'rate_limited',
    'upstream_error',
    'overloaded',
    'no_route_available',
    'dependency_unavailable',
    'upstream_busy',
    'upstream_timeout',
  ],
  problemHeaders: { ...replyHeaders, ...shouldRetryHeader, ...retryAfterHeader },
  async handle({ body, caller, services, exchange }): Promise<Reply> {
    const { requestId, text } = await askQuery({ body, caller, services, exchange });
    const headers = { 'cache-control': 'no-store', 'x-svc-request-id': requestId };
    return { status: 200, mediaType: 'application/json', text, headers };
  },
});
