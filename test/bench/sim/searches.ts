// The four families of search providers, asked alike by tests of the simulator.
import type { RunningSim } from '../../../bench/sim/server.ts';

export interface SearchedPage {
  title: unknown;
  url: unknown;
  snippet: unknown;
  date: unknown;
}

interface SearchFamilyCase {
  name: string;
  /** What counters and outages call its web search. */
  model: string;
  ask(sim: RunningSim, query: string, signal?: AbortSignal): Promise<Response>;
  pagesOf(body: Reply): SearchedPage[];
}

export type Reply = Record<string, unknown>;
type Rows = Record<string, unknown>[];

function send(sim: RunningSim, path: string, options: RequestInit): Promise<Response> {
  return fetch(`http://127.0.0.1:${sim.port}${path}`, { redirect: 'manual', ...options });
}

const json = { 'content-type': 'application/json' };
const rowsOf = (body: Reply, name: string) => (body[name] ?? []) as Rows;

export const searchFamilies: readonly SearchFamilyCase[] = [
  {
    name: 'serper',
    model: 'serper-search',
    ask: (sim, q, signal = AbortSignal.timeout(60_000)) =>
      send(sim, '/search', {
        method: 'POST',
        headers: { ...json, 'x-api-key': 'right' },
        body: JSON.stringify({ q }),
        signal,
      }),
    pagesOf: (body) =>
      rowsOf(body, 'organic').map(({ title, link: url, snippet, date }) => {
        return { title, url, snippet, date };
      }),
  },
  {
    name: 'searxng',
    model: 'searxng-search',
    ask: (sim, q, signal = AbortSignal.timeout(60_000)) =>
      send(sim, '/searxng/search', {
        method: 'POST',
        body: new URLSearchParams({ q, format: 'json' }),
        signal,
      }),
    pagesOf: (body) =>
      rowsOf(body, 'results').map(({ title, url, content: snippet, publishedDate: date }) => {
        return { title, url: url ?? undefined, snippet, date };
      }),
  },
  {
    name: 'tavily',
    model: 'tavily-search',
    ask: (sim, query, signal = AbortSignal.timeout(60_000)) =>
      send(sim, '/tavily/search', {
        method: 'POST',
        headers: { ...json, authorization: 'Bearer right' },
        body: JSON.stringify({ query, topic: 'news', max_results: 10 }),
        signal,
      }),
    pagesOf: (body) =>
      rowsOf(body, 'results').map(({ title, url, content: snippet, published_date: date }) => {
        return { title, url, snippet, date };
      }),
  },
  {
    name: 'serpapi',
    model: 'serpapi-google',
    ask: (sim, q, signal = AbortSignal.timeout(60_000)) =>
      send(
        sim,
        `/serpapi/search.json?${new URLSearchParams({ engine: 'google', q, api_key: 'right' })}`,
        { signal },
      ),
    pagesOf: (body) =>
      rowsOf(body, 'organic_results').map(({ title, link: url, snippet, date }) => {
        return { title, url, snippet, date };
      }),
  },
];

export async function replyOf(response: Response): Promise<Reply> {
  return (await response.json()) as Reply;
}
