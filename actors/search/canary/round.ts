// One canary: its query is asked of the surface's providers in their order, until one has results.
// Nobody pays for it, nothing of it is kept, and its text stands nowhere else than in the record.
import type { UpstreamTarget } from '../../../media/providers/generation/contract.ts';
import type { SearchAsk, SearchItem, SearchOutcome } from '../../../media/search/contract.ts';

import type { Canary, CatalogSurface } from '../../catalog/surface.ts';
import { readAsk } from './ask.ts';
import type { CanaryOutcome } from './standing.ts';

/** Asks a provider once. Never rejects. */
export type AskTarget = (
  target: UpstreamTarget,
  ask: SearchAsk,
  signal: AbortSignal,
) => Promise<SearchOutcome>;

/** Null: the query cannot be asked, which says nothing of the surface; or the process ends. */
export async function askCanary(
  surface: CatalogSurface,
  canary: Canary,
  askTarget: AskTarget,
  signal: AbortSignal,
): Promise<CanaryOutcome | null> {
  const read = readAsk(surface, canary.query, canary.params);
  if (read === null || !read.ok) return null;
  for (const { upstream } of surface.targets) {
    const outcome = await askTarget(upstream, read.ask, signal);
    if (signal.aborted) return null;
    if (!('items' in outcome) || outcome.items.length === 0) continue;
    const isThere = outcome.items.some((item) => isOf(item, canary.expectHost));
    return isThere ? 'expected' : 'missed';
  }
  return 'nothing';
}

/** The page, or what a place has as its own, is of the host or of one below it. */
function isOf(item: SearchItem & { website?: unknown }, host: string): boolean {
  return [item.url, item.website].some((address) => {
    if (typeof address !== 'string' || !URL.canParse(address)) return false;
    const { hostname } = new URL(address);
    return hostname === host || hostname.endsWith(`.${host}`);
  });
}
