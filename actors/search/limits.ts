// The bounds of searches: how often and how long providers are asked, and what is kept of answers.
// The contract of unified query has them in its sections 4 and 6.
import assert from 'node:assert/strict';
import type { SurfaceName } from '../../media/search/surfaces.ts';

const SECOND = 1_000;
const MEBIBYTE = 1_048_576;
const placeCount = 16;
const keptBytesMax = 64 * MEBIBYTE;

export const searchLimits = {
  attemptsMax: 3,
  /** Each attempt, and all of them; travel is slow wherever it is asked for. */
  attemptMs: 5 * SECOND,
  totalMs: 8 * SECOND,
  travelAttemptMs: 12 * SECOND,
  travelTotalMs: 20 * SECOND,
  /** With the generation that answers from what was found, and its repair. */
  answerTotalMs: 45 * SECOND,
  /** With less time than this left nobody is asked any more. */
  attemptMsMin: 50,
  /** Before a provider that found nothing is asked again. */
  secondLookMs: 300,
  /** Who waits at a place waits longer than any search: the search itself says that it is late. */
  placeGraceMs: 3 * SECOND,
  /** A search that nobody pays for waits so long for somebody who asks for the same. */
  orphanMs: SECOND,
  /** Places of a process: enough for all shards, and each with its share of what is kept. */
  placeCount,
  keptBytesMaxEach: keptBytesMax / placeCount,
  /** Clients may take what is so old; older answers are dropped in rounds of a minute. */
  keptSecondsMax: 86_400,
  sweepMs: 60 * SECOND,
  /** All the requests of a process may wait at one place. */
  mailboxLengthMax: 20_000,
  batchLengthMax: 128,
  /** Hits of a generation and of a voice session; their text stands in the prompt. */
  generationHits: 8,
  voiceHits: 6,
} as const;

assert.ok(
  searchLimits.keptBytesMaxEach >= 4 * MEBIBYTE,
  'a place keeps the longest answer and others beside it',
);
assert.ok(searchLimits.answerTotalMs > searchLimits.travelTotalMs, 'an answer comes after items');

const travel: ReadonlySet<string> = new Set<SurfaceName>([
  'engine_flights',
  'engine_hotels',
  'engine_routes',
]);

/** How long one attempt and all of them may take for the items of a surface. */
export function attemptBounds(surface: string): { attemptMs: number; totalMs: number } {
  const { attemptMs, totalMs, travelAttemptMs, travelTotalMs } = searchLimits;
  if (!travel.has(surface)) return { attemptMs, totalMs };
  return { attemptMs: travelAttemptMs, totalMs: travelTotalMs };
}
