// Whether a request asks for a cache that keeps its input, and for how long: writing to it has
// prices of its own, which the hold has to cover.
import type { GenerationRequest } from './request.ts';

export type CacheLife = 'none' | '5m' | '1h';

/** The longest. A mark may stand beside any block, tool or call, or beside the messages. */
export function cacheLifeOf({ source }: Pick<GenerationRequest, 'source'>): CacheLife {
  if (source.format === 'responses') return 'none';
  const { cache_control, system, messages, tools, functions } = source.body;
  const marks: unknown[] = [];
  const parts = [{ cache_control }, system, messages, tools, functions];
  for (const part of parts) collect(part, marks, depthMax);
  if (marks.length === 0) return 'none';
  return marks.some((mark) => Object(mark).ttl === '1h') ? '1h' : '5m';
}

/** A message has blocks, a result has blocks, a document in it a source, and that has blocks. */
const depthMax = 5;
/** What may have a mark of its own inside; `function`: of a tool of the Chat format. */
const holders = ['content', 'source', 'function'] as const;

function collect(part: unknown, marks: unknown[], depth: number): void {
  if (depth === 0 || typeof part !== 'object' || part === null) return;
  if (Array.isArray(part)) {
    for (const entry of part) collect(entry, marks, depth);
    return;
  }
  const members = part as Record<string, unknown>;
  const { cache_control: mark } = members;
  if (typeof mark === 'object' && mark !== null) marks.push(mark);
  for (const name of holders) collect(members[name], marks, depth - 1);
}
