// What a family of search providers is: one encoder and one pure reader a surface, and a reader of
// its failures. Each family is a folder beside this file.
import type { ParameterValue, Reading, SearchAsk } from '../../search/contract.ts';
import type { ServedSurface } from '../../search/surfaces.ts';
import type { UpstreamTarget } from '../generation/contract.ts';

/** One HTTP call. The query is in its body, unless the provider reads nothing else than its URL. */
export interface EncodedSearch {
  method: 'GET' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
}

/** What failed, in our classes. `empty`: it says in an error that there is nothing. */
export type SearchFailure =
  | 'empty'
  | 'refused'
  | 'busy'
  | 'exhausted'
  | 'credential'
  | 'failed'
  | 'timeout';

/** A good reply as it was read, or what it is in truth. */
export type SearchReading =
  | {
      state: 'read';
      readings: readonly Reading[];
      related: readonly unknown[];
      isPartial: boolean;
      /** The provider's members by the family's allowlist for this surface. */
      data: Readonly<Record<string, unknown>>;
      /** Lists of `data` have lost their tail; left out: none has. */
      isCut?: boolean;
    }
  | { state: SearchFailure };

export interface SearchEndpoint {
  /** `passed`: what of `extra` is on the family's list. */
  encode(
    ask: SearchAsk,
    target: UpstreamTarget,
    passed: Readonly<Record<string, ParameterValue>>,
  ): EncodedSearch;
  /** The body of a 200, as parsed. Never throws. */
  read(body: unknown, ask: SearchAsk): SearchReading;
}

export interface SearchFamily {
  readonly name: string;
  readonly endpoints: Readonly<Partial<Record<ServedSurface, SearchEndpoint>>>;
  /** Its results have scores and contents, which `ai_search` prefers. */
  readonly isScoring: boolean;
  /** Unknown parameters that pass, by surface or for all: a name and its reason. */
  readonly passes: Readonly<Record<string, string>>;
  /** Whether the surface takes this value of a name in `passes`; left out: it takes any. */
  takes?(surface: ServedSurface, name: string, value: ParameterValue): boolean;
  /** Its refusals are JSON: a page that refuses is of a wall before it. */
  readonly refusesInJson: boolean;
  /** `body`: undefined where it is no JSON. */
  readFailure(status: number, body: unknown): SearchFailure;
}
