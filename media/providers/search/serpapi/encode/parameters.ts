// What the parameters of several engines have in common.
import type { SearchAsk, SearchParameters } from '../../../../search/contract.ts';
import { cutQuery } from '../../cut-query.ts';
import { withDomains } from '../../domains.ts';
import type { EnginePage } from '../engine.ts';

/** Null: left out. */
export type EngineParameters = Readonly<Record<string, string | number | null>>;
export type EngineEncoder = (ask: SearchAsk, page: EnginePage) => EngineParameters;

/** As it stands in the URL: Google reads no more, and servers refuse long addresses. */
const queryUnitsMax = 2_048;
const unitsOfEscapedByte = 3;

/** What is asked, no longer than a URL may be. */
export function queryOf(query: string): string {
  return cutQuery(query, queryUnitsMax, (character) =>
    /^[\w .*-]$/.test(character) ? 1 : unitsOfEscapedByte * Buffer.byteLength(character),
  );
}

/** The query of pages, with their hosts in Google's own words. */
export function queryWithHosts({ query, parameters }: SearchAsk): string {
  return withDomains(queryOf(query), parameters);
}

export function regionOf({ gl, hl }: SearchParameters): EngineParameters {
  return { gl, hl };
}

/** Null on the first page: an engine that takes it may want more beside it. */
export function startOf({ index, size }: EnginePage): number | null {
  return index === 0 ? null : index * size;
}

const ranges = { day: 'qdr:d', week: 'qdr:w', month: 'qdr:m', year: 'qdr:y' } as const;

/** Left out, so that one that was passed stands where nothing is asked. */
export function rangeOf({ timeRange }: SearchParameters): EngineParameters {
  return timeRange === null ? {} : { tbs: ranges[timeRange] };
}

/** Google's own default is what moderate means. */
export function safeOf({ safe }: SearchParameters): EngineParameters {
  return { safe: { off: 'off', moderate: null, strict: 'active' }[safe] };
}
