// Tavily (https://docs.tavily.com): pages and news with scores and contents, one call for all.
import type { SearchEndpoint, SearchFamily } from '../family.ts';
import { encodeTavily } from './encode.ts';
import { readFailure } from './failure.ts';
import { passes, takes } from './passes.ts';
import { readTavily } from './read.ts';

const search: SearchEndpoint = { encode: encodeTavily, read: readTavily };

export const tavilyFamily: SearchFamily = {
  name: 'tavily',
  endpoints: { ai_search: search, web_search: search, engine_news: search },
  isScoring: true,
  passes,
  takes,
  refusesInJson: true,
  readFailure,
};
