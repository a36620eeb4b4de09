// What stands around the results of every engine. An empty search has succeeded, and says in an
// error that nothing was found.
import type { Members } from '../members.ts';
import type { SearchDirective } from '../search/directive.ts';
import { ageDaysOf, findAll } from '../search/found.ts';
import { topicOf } from '../search/query.ts';
import type { EngineName } from './engines.ts';
import type { Lists } from './list.ts';
import { catalogLists } from './lists-catalog.ts';
import { flightLists } from './lists-flights.ts';
import { pageLists } from './lists-pages.ts';
import { placeLists } from './lists-places.ts';
import type { SerpapiRequest } from './request.ts';

const lists: Readonly<Record<EngineName, Lists>> = {
  ...pageLists,
  ...placeLists,
  ...catalogLists,
  ...flightLists,
};

const host = 'https://serpapi.com';

export function envelopeOf(
  { engine, parameters }: SerpapiRequest,
  id: string,
  status: 'Success' | 'Error',
): Members {
  return {
    search_metadata: {
      id,
      status,
      json_endpoint: `${host}/searches/${id}.json`,
      created_at: '2026-01-15 12:00:00 UTC',
      processed_at: '2026-01-15 12:00:00 UTC',
      [`${engine}_url`]: `https://search.example.com/${engine}`,
      raw_html_file: `${host}/searches/${id}.html`,
      total_time_taken: 0.42,
    },
    search_parameters: { ...parameters, engine },
  };
}

export function wholeSerpapi(
  request: SerpapiRequest,
  directive: SearchDirective,
  id: string,
): Members {
  const { engine, texts, skipped, count, parameters } = request;
  const envelope = envelopeOf(request, id, 'Success');
  const topic = topicOf(texts.join(' '));
  const ageDaysMax = parameters.tbs?.startsWith('qdr:') === true ? ageDaysOf(parameters.tbs) : null;
  const found = findAll({ topic, skipped, count, ageDaysMax, directive });
  const { state, render } = lists[engine];
  if (found.length === 0) {
    return {
      ...envelope,
      search_information: { [`${state}_results_state`]: 'Fully empty' },
      error: "Google hasn't returned any results for this query.",
    };
  }
  return {
    ...envelope,
    search_information: {
      [`${state}_results_state`]: 'Results for exact spelling',
      total_results: 12_300,
    },
    ...render(found, { topic: topic.text, parameters, isPartial: directive.isPartial }),
    ...(directive.isPartial ? {} : around(topic.text)),
  };
}

/** Addresses of the provider, which nobody but it can use. */
function around(topic: string): Members {
  return {
    serpapi_pagination: {
      current: 1,
      next_link: `${host}/search.json?q=next`,
      next: `${host}/next`,
    },
    related_searches: ['meaning', 'today'].map((word, index) => ({
      block_position: 1,
      query: `${topic} ${word}`,
      link: `https://search.example.com/search?q=${index}`,
      serpapi_link: `${host}/search.json?q=${index}`,
    })),
  };
}
