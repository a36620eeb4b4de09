// Reads a search body, and refuses what the provider would.
import type { SimReply } from '../contract.ts';
import { isMembers, type Members, stringsOf } from '../members.ts';
import { ageDaysOf } from '../search/found.ts';
import { type Topic, topicOf } from '../search/query.ts';
import { errorReply, missingReply } from './failure.ts';

export interface TavilyRequest {
  query: string;
  topic: Topic;
  isNews: boolean;
  resultsMax: number;
  ageDaysMax: number | null;
  hasAnswer: boolean;
  hasRawContent: boolean;
  hasImages: boolean;
  hasFavicon: boolean;
  hasUsage: boolean;
  isAutomatic: boolean;
  /** What the call costs there. */
  credits: number;
}

const queryCharactersMax = 400;
const resultsDefault = 5;
const resultsLimit = 20;
const allowed: Readonly<Record<string, readonly unknown[]>> = {
  search_depth: ['basic', 'advanced', 'fast', 'ultra-fast'],
  topic: ['general', 'news', 'finance'],
  time_range: ['day', 'week', 'month', 'year', 'd', 'w', 'm', 'y'],
};

export function readTavilyRequest(body: unknown): TavilyRequest | { refusal: SimReply } {
  if (!isMembers(body)) return { refusal: missingReply(['body']) };
  const { query } = body;
  if (typeof query !== 'string') return { refusal: missingReply(['body', 'query']) };
  const error = faultOf(body, query);
  if (error !== null) return { refusal: errorReply(400, error) };
  const { include, exclude, text } = topicOf(query);
  const isSet = (name: string) => body[name] !== undefined && body[name] !== false;
  return {
    query,
    topic: {
      text,
      include: [...include, ...stringsOf(body.include_domains)],
      exclude: [...exclude, ...stringsOf(body.exclude_domains)],
    },
    isNews: body.topic === 'news',
    resultsMax: typeof body.max_results === 'number' ? body.max_results : resultsDefault,
    ageDaysMax: ageDaysOf(body.time_range) ?? (typeof body.days === 'number' ? body.days : null),
    hasAnswer: isSet('include_answer'),
    hasRawContent: isSet('include_raw_content'),
    hasImages: isSet('include_images'),
    hasFavicon: isSet('include_favicon'),
    hasUsage: isSet('include_usage'),
    isAutomatic: body.auto_parameters === true,
    credits: body.search_depth === 'advanced' || body.auto_parameters === true ? 2 : 1,
  };
}

function faultOf(body: Members, query: string): string | null {
  if (query.trim() === '') return 'Query is missing.';
  if ([...query].length > queryCharactersMax) {
    return `Query is too long. Max query length is ${queryCharactersMax} characters.`;
  }
  for (const [name, values] of Object.entries(allowed)) {
    if (body[name] != null && !values.includes(body[name])) return `Invalid ${name}.`;
  }
  const { max_results: results, country, topic } = body;
  const isCount = typeof results === 'number' && Number.isInteger(results);
  if (results != null && !(isCount && results >= 0 && results <= resultsLimit)) {
    return `Invalid max_results. It is a number from 0 to ${resultsLimit}.`;
  }
  if (country != null && topic != null && topic !== 'general') {
    return 'Country is only available with the general topic.';
  }
  for (const name of ['include_domains', 'exclude_domains']) {
    if (body[name] != null && !Array.isArray(body[name])) return `Invalid ${name}.`;
  }
  return null;
}
