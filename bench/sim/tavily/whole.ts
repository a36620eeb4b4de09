// Renders scored results; the more of them were asked for, the lower the last one scores.

import type { Members } from '../members.ts';
import { dateMsOf } from '../results.ts';
import type { SearchDirective } from '../search/directive.ts';
import { pictureOf } from '../search/facts.ts';
import { type Found, findAll } from '../search/found.ts';
import type { TavilyRequest } from './request.ts';

export function wholeTavily(
  request: TavilyRequest,
  directive: SearchDirective,
  requestId: string,
): Members {
  const { query, topic, resultsMax: count, ageDaysMax, credits } = request;
  const found = findAll({ topic, skipped: 0, count, ageDaysMax, directive });
  const images = request.hasImages ? found.map((result) => pictureOf(result).imageUrl) : [];
  return {
    query,
    follow_up_questions: null,
    answer: request.hasAnswer ? (found[0]?.snippet ?? '') : null,
    ...(directive.isPartial ? {} : { images }),
    results: found.map((result) => resultOf(result, request, directive)),
    ...(request.isAutomatic
      ? { auto_parameters: { topic: 'general', search_depth: 'advanced' } }
      : {}),
    response_time: 0.42,
    ...(request.hasUsage ? { usage: { credits } } : {}),
    request_id: requestId,
  };
}

function resultOf(
  result: Found,
  { isNews, hasRawContent, hasFavicon }: TavilyRequest,
  { hasRelativeDates }: SearchDirective,
): Members {
  const { title, link, domain, snippet, place, isBad, date } = result;
  const published = hasRelativeDates ? date : new Date(dateMsOf(result)).toUTCString();
  return {
    ...(isBad ? {} : { url: link }),
    title,
    content: `${snippet} More of page ${place} is quoted here.`,
    score: Number((0.99 * 0.97 ** (place - 1)).toFixed(7)),
    raw_content: hasRawContent ? `# ${title}\n\n${snippet}` : null,
    ...(isNews ? { published_date: published } : {}),
    ...(hasFavicon ? { favicon: `https://${domain}/favicon.ico` } : {}),
  };
}
