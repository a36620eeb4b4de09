// What all generation routes have in common: how they are declared, and how a body of some format
// becomes a reply of the same.
import { startGeneration } from '../../actors/generation/start.ts';
import type { Dialect } from '../../media/model/dialects/contract.ts';
import type { GenerationRequest } from '../../media/model/request.ts';
import type { Exchange, Reply } from '../../runtime/http/route.ts';
import type { ProblemCode } from '../../runtime/problem.ts';
import { retryAfterHeader, shouldRetryHeader } from '../problems.ts';
import type { KeyCaller, Services } from '../services.ts';
import { replyTo } from './reply.ts';
import { isManaged, wantedBy } from './wanted.ts';

export const generationHeaders = {
  'idempotency-key': {
    description:
      'Names this request: a retry with it never charges twice. 1 to 255 visible ASCII characters.',
  },
  'x-stainless-retry-count': { description: 'How often the client library has tried before.' },
};

/** What the reference says of requests that their clients leave; it opens with a blank. */
export const leftNote =
  ' At most half of all requests that run on without their client, with those in the background, ' +
  'are of one account: beyond that its new requests are 429 `concurrency_limited`.';

/** The same of generations, which a client may leave for nothing before they have begun. */
export const leftNotes =
  leftNote +
  ' A client that leaves, or cancels, before the first word pays nothing. A key whose requests ' +
  'were left so with over 2,000,000 input tokens (by default) within a minute, and over ten ' +
  'times of what it paid for meanwhile, is 429 `rate_limited` with Retry-After.';

export const generationReplyHeaders = {
  'x-svc-request-id': 'Our id of the generation.',
  'x-svc-routing-receipt-id': 'Managed routes only: the id of the routing receipt.',
  'x-svc-dropped-members':
    'Members of the request that the provider was not told, and that nothing else stands for: ' +
    'names with commas between them, one within another by its path (`text.verbosity`). What ' +
    'asks for nothing is not among them: 0, `auto`, `default`, `medium`. Absent where there are ' +
    'none, and on replays.',
};

/** Where a generation had begun. */
export const generationProblemHeaders = {
  ...generationReplyHeaders,
  ...shouldRetryHeader,
  ...retryAfterHeader,
};

export const generationProblems: ProblemCode[] = [
  'invalid_request',
  'context_length_exceeded',
  'model_not_found',
  'insufficient_credits',
  'spend_limit_exceeded',
  'policy_blocked',
  'idempotency_key_reused',
  'input_too_long',
  'conflict',
  'upstream_error',
  'overloaded',
  'no_route_available',
  'dependency_unavailable',
  'upstream_busy',
  'upstream_timeout',
];

export interface GenerateInput {
  request: GenerationRequest;
  body: Record<string, unknown>;
  caller: KeyCaller;
  services: Pick<Services, 'generations' | 'catalog' | 'seals' | 'log'>;
  exchange: Exchange;
  /** The canonical path: aliases are one route. */
  route: string;
  stream: boolean;
  /** Chat's `stream_options.include_usage`. */
  includeUsage?: boolean;
}

/**
 * Plans, opens and answers a generation in the client's format.
 * @throws Problem any of `generationProblems`
 */
export async function generate<Body>(dialect: Dialect<Body>, input: GenerateInput): Promise<Reply> {
  const { request, body, caller, services, exchange, route, stream } = input;
  const wanted = await wantedBy({ request, body, caller, services, exchange, route });
  const options = {
    includeUsage: input.includeUsage === true,
    request,
    seals: services.seals(caller.accountId),
    startingAfter: null,
  };
  const form = { stream, options, managed: isManaged(services.catalog.current(), request) };
  return await replyTo(dialect, form, (makeSink) =>
    startGeneration(services.generations, wanted, makeSink, (gone) => exchange.onAbort(gone)),
  );
}
