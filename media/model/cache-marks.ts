// Whether a request of Messages asks for a cache that keeps its input for an hour: writing to it
// has a price of its own, which the hold has to cover.
import type { GenerationRequest } from './request.ts';

/** A mark may stand beside any block, tool or call, or beside the messages themselves. */
export function asksForHour({ source }: Pick<GenerationRequest, 'source'>): boolean {
  if (source.format !== 'messages') return false;
  const { cache_control: mark, system, messages, tools } = source.body;
  return isHour(mark) || [system, messages, tools].some((part) => isMarked(part, depthMax));
}

/** A message has blocks, a result has blocks, and a document in it has blocks. */
const depthMax = 4;

function isMarked(part: unknown, depth: number): boolean {
  if (depth === 0 || typeof part !== 'object' || part === null) return false;
  if (Array.isArray(part)) return part.some((entry) => isMarked(entry, depth));
  const { cache_control: mark, content, source } = part as Record<string, unknown>;
  return isHour(mark) || isMarked(content, depth - 1) || isMarked(source, depth - 1);
}

function isHour(mark: unknown): boolean {
  return typeof mark === 'object' && mark !== null && Object(mark).ttl === '1h';
}
