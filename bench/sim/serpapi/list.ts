// What an engine makes of the results that were found: the members of its reply.
import type { Members } from '../members.ts';
import type { Found } from '../search/found.ts';
import type { Parameters } from './request.ts';

export interface Rendered {
  topic: string;
  parameters: Parameters;
  /** Lists beside the main one are missing. */
  isPartial: boolean;
}

export interface Lists {
  /** `organic` in `organic_results_state`. */
  state: string;
  render(found: readonly Found[], rendered: Rendered): Members;
}

/** The link of a result that has one. */
export function linkOf({ link, isBad }: Found): Members {
  return isBad ? {} : { link };
}

/** The title of a result, where nothing else is needed of its kind. */
export function titleOf({ title, isBad }: Found): Members {
  return isBad ? {} : { title };
}
