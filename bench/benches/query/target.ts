// The requests of the query benches. A query goes to the gateway. The call that it makes of its
// provider goes straight to the simulator, or through the bare relay.
import type { Contender } from '../../contender.ts';
import type { Target } from '../../load/job.ts';

/** `age` 0: nothing kept is taken, so that each request asks a provider. */
export function queryTarget(contender: Contender, orders: string, age?: number): Target {
  const body = {
    surface: 'web_search',
    query: queryOf(orders),
    ...(age === undefined ? {} : { max_age_seconds: age }),
  };
  return {
    host: '127.0.0.1',
    port: contender.port,
    path: '/api/v1/query',
    headers: contender.headers,
    body: JSON.stringify(body),
  };
}

/** The call that a provider is asked, with the same directive: the same bytes come back. */
export function providerTarget({ port }: Pick<Contender, 'port'>, orders: string): Target {
  return {
    host: '127.0.0.1',
    port,
    path: '/search',
    headers: { 'x-api-key': 'sim' },
    body: JSON.stringify({ q: queryOf(orders), num: 10 }),
  };
}

const queryOf = (orders: string) => `[[search ${orders}]] relays`;
