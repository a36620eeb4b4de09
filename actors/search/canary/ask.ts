// A query that nobody pays for, read as a customer's is: of a canary, or of an administrator.
import type { SearchAsk } from '../../../media/search/contract.ts';
import { readQuery } from '../../../media/search/parameters.ts';
import { isSurfaceName } from '../../../media/search/surfaces.ts';
import type { CatalogSurface } from '../../catalog/surface.ts';

export type ReadAsk = { ok: true; ask: SearchAsk } | { ok: false; path: string; message: string };

/** Null: the surface is only displayed. A cited answer is asked for as what it is made of. */
export function readAsk(
  { name, searchSurface }: Pick<CatalogSurface, 'name' | 'searchSurface'>,
  query: string,
  params: object,
): ReadAsk | null {
  if (!isSurfaceName(name)) return null;
  const read = readQuery(name, { query, params, rest: {} }, Date.now());
  if (!read.ok || searchSurface === null || searchSurface === 'web_answer') return read;
  return { ok: true, ask: { ...read.ask, surface: searchSurface } };
}
