// `normalized`, the one shape of every surface: made of what was found, and checked by its schema
// before anybody is told of it.
import * as v from 'valibot';
import { normalizedSchema } from '../../media/search/schema.ts';
import type { Found } from '../search/contract.ts';
import type { QueryPlan } from './spec.ts';

/** JSON; null: it is none that may be answered. */
export function normalizedJson(
  { search, ignored, assumed }: QueryPlan,
  { result, cache }: Found,
): string | null {
  const { kind } = search.surface;
  if (kind === null) return null;
  const { state, items, related, isTruncated, engines, answer } = result;
  const normalized = {
    kind,
    items,
    ...(answer === undefined ? {} : { answer }),
    related,
    empty: state === 'empty',
    partial: state === 'partial' || answer === null,
    truncated: isTruncated,
    engines,
    cache: {
      hit: cache.hit,
      age_seconds: cache.ageSeconds,
      max_age_seconds: search.maxAgeSeconds,
    },
    ignored: [...new Set([...ignored, ...result.ignored])],
    assumed,
  };
  const isGood = v.safeParse(normalizedSchema(kind), normalized, { abortEarly: true }).success;
  return isGood ? JSON.stringify(normalized) : null;
}
