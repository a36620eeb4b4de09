// A web search for a generation or a voice session. Its provider has no other in reserve: while it
// rests, since nobody has paid it, nobody waits for its refusal.
import type { UpstreamTarget } from '../../media/providers/generation/contract.ts';
import type {
  SearchClient,
  SearchHit,
  SearchQuery,
} from '../../media/providers/search/contract.ts';
import { plainFailure } from '../../media/transport/refusal.ts';
import type { RouteHealth } from './health.ts';

/** Null: nothing came of it. Never rejects. */
export async function searchWeb(
  { search, health }: { search: SearchClient; health: RouteHealth },
  target: UpstreamTarget,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<SearchHit[] | null> {
  const { routeId } = target;
  if (!health.allows(routeId, Date.now())) return null;
  const found = await search.search(target, query, signal);
  if (found !== 'unpaid') return found;
  health.failed(routeId, plainFailure('unpaid', 'the search provider is unpaid'), Date.now());
  return null;
}
